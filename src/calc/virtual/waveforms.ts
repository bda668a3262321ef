import { type CycleGrid, STEPS } from './cycle-grid.ts'

/** A periodic function of amplitude 1. */
export interface Waveform {
  readonly stepped: boolean
  /** Whether it is linear between raw points. */
  readonly linear: boolean
  /** @param phase, periodUs whole microseconds, 0 <= phase < periodUs <= 2^51 */
  readonly value: (phase: number, periodUs: number, grid: CycleGrid) => number
  /** Its limit from the left at the end of a period; `null` when it goes on there without a jump. */
  readonly end: number | null
}

/** Sine of a part of a turn, exact where it is 0, 1 or -1. Everything but the sine itself is whole numbers. */
function sineOfTurn(phase: number, periodUs: number): number {
  const quarters = 4 * phase
  if (quarters < periodUs) return Math.sin((Math.PI / 2) * (quarters / periodUs))
  if (quarters < 2 * periodUs) return Math.cos((Math.PI / 2) * ((quarters - periodUs) / periodUs))
  if (quarters < 3 * periodUs) return -Math.sin((Math.PI / 2) * ((quarters - 2 * periodUs) / periodUs))
  return -Math.cos((Math.PI / 2) * ((quarters - 3 * periodUs) / periodUs))
}

function cosineOfTurn(phase: number, periodUs: number): number {
  const quarters = 4 * phase
  if (quarters < periodUs) return Math.cos((Math.PI / 2) * (quarters / periodUs))
  if (quarters < 2 * periodUs) return -Math.sin((Math.PI / 2) * ((quarters - periodUs) / periodUs))
  if (quarters < 3 * periodUs) return -Math.cos((Math.PI / 2) * ((quarters - 2 * periodUs) / periodUs))
  return Math.sin((Math.PI / 2) * ((quarters - 3 * periodUs) / periodUs))
}

/** The periodic functions of siggen by name. */
export const WAVEFORMS: ReadonlyMap<string, Waveform> = new Map<string, Waveform>([
  ['sin', { stepped: false, linear: false, value: sineOfTurn, end: null }],
  ['cos', { stepped: false, linear: false, value: cosineOfTurn, end: null }],
  [
    'saw',
    {
      stepped: false,
      linear: true,
      value: (phase, periodUs) => (2 * phase - periodUs) / periodUs,
      end: 1,
    },
  ],
  [
    'sq',
    {
      stepped: true,
      linear: true,
      value: (phase, _periodUs, { offsets }) => (phase < offsets[STEPS / 2]! ? 1 : -1),
      end: -1,
    },
  ],
  [
    'sc',
    {
      stepped: false,
      linear: false,
      // -cos(pi f) = sin(pi (f - 1/2)), which is exact at its ends and in its middle.
      value: (phase, periodUs) => Math.sin((Math.PI / 2) * ((2 * phase - periodUs) / periodUs)),
      end: 1,
    },
  ],
])
