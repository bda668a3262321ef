import { TidemarkError } from '../../errors/tidemark-error.ts'
import { GeneratedLeaf } from '../leaves/generated.ts'
import { CycleGrid } from './cycle-grid.ts'
import { PeriodicSignal } from './periodic-signal.ts'
import { RandomSignal } from './random-signal.ts'
import { parseSignalName } from './signal-name.ts'
import type { VirtualHistorian } from './virtual-historian.ts'
import { WAVEFORMS } from './waveforms.ts'

const FORM = '<amplitude>[+|-<y offset>]@<period in s>[+|-<x offset in ms>]'

/** Signals that repeat, and noise. Names are taken in any case. Throws SIGNAL_NAME for one that is none. */
export const siggen: VirtualHistorian = {
  summary:
    'A signal generator: a function of the time alone, exact at every microsecond from 1700 to 2200; phase 0 is at the epoch plus the x offset.',
  tags: [
    {
      name: `sin${FORM}`,
      summary: 'A sine from 0 upwards.',
      example: 'sin10-30@600-3600000',
    },
    { name: `cos${FORM}`, summary: 'A cosine: from the top downwards.', example: 'cos10@3600' },
    {
      name: `saw${FORM}`,
      summary: 'Rises from -A to A in each period, and falls at once.',
      example: 'saw50+50@86400',
    },
    { name: `sq${FORM}`, summary: 'A for half a period, then -A; held.', example: 'sq1@60' },
    {
      name: `sc${FORM}`,
      summary: 'From -A to A as half a cosine, and falls at once.',
      example: 'sc10@600',
    },
    {
      name: `rand<amplitude>[~<seed>]${FORM.slice('<amplitude>'.length)}`,
      summary:
        'Repeatable noise, uniform from -A to A, a new value each hundredth of the period; held. Another seed (0 to 4294967295) gives other noise.',
      example: 'rand5~42+20@100',
    },
  ],
  rawTimes: 'At the beginning of each hundredth of the period, at its first whole microsecond.',
  stepped: 'sq and rand; the others are linear between their raw points where integrals are taken.',
  leaf: (name, context) => {
    const settings = parseSignalName(name)
    if ('reason' in settings) {
      throw new TidemarkError('SIGNAL_NAME', { tag: name, reason: settings.reason })
    }
    const { kind, amplitude, level, seed, periodUs, originUs } = settings
    const grid = new CycleGrid(periodUs, originUs)
    const wave = WAVEFORMS.get(kind)
    const signal =
      wave === undefined
        ? new RandomSignal(amplitude, level, seed, grid)
        : new PeriodicSignal(wave, amplitude, level, grid)
    return new GeneratedLeaf(signal, `siggen/${name}`, context)
  },
}
