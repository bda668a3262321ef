import type { EdgePoint } from '../../../series/interpolate.ts'

/** What lies so many periods back has a weight of exp(-12 pi), less than a double's last digit. */
const FORGOTTEN_PERIODS = 6
/** Cells of time in which a run is forgotten. */
const FORGOTTEN_CELLS = 2
/** The output in a cell comes from a run that began so many cells before, with the first point there. */
const RUN_CELLS = FORGOTTEN_CELLS + 1
/**
 * Cells before an instant that give the output there, and at the point before it if that lies at most one cell back.
 */
export const LEAD_CELLS: number = RUN_CELLS + 1

/** The last vertex of a filter, and all that the next ones are made of. */
export interface FilterState extends EdgePoint {
  /** The input there. */
  readonly input: number
  /** The output of the runs for the next cells; `value` is that of its own. */
  readonly ahead: readonly [number, number, number]
  /** Time of the first point that was read. */
  readonly first: number
}

/** A filter of a cut-off period, whose output depends on points alone and not on where it is read from. */
export class FilterRun {
  readonly #periodUs: number
  /** A whole number, so that cells are exact. */
  readonly #cellUs: number

  constructor(periodUs: number) {
    this.#periodUs = periodUs
    this.#cellUs = Math.ceil((FORGOTTEN_PERIODS / FORGOTTEN_CELLS) * periodUs)
  }

  /** Beginning of the cell so many before that of an instant. */
  cellBefore(at: number, cells: number): number {
    return (this.#cellOf(at) - cells) * this.#cellUs
  }

  /** Whether a state was read from far enough before its own point on. */
  isWhole({ first, time }: FilterState): boolean {
    return this.#cellOf(first) <= this.#cellOf(time) - RUN_CELLS
  }

  /** Beginning of what the output at an instant is made of. */
  beginningFor(at: number): number {
    return this.cellBefore(at, RUN_CELLS)
  }

  /** Whether the lead of an instant has all that the output at the last point before it is made of. */
  isInLead({ time }: EdgePoint, at: number): boolean {
    return this.#cellOf(time) >= this.#cellOf(at) - 1
  }

  /** The state at a point from which on others are read: what came before it is forgotten. */
  begin(time: number, input: number): FilterState {
    return { ...this.#beginning(time, input), first: Number.NEGATIVE_INFINITY }
  }

  /**
   * Output at ascending times. A point in a cell gets that of a run which began some cells before: with the first point
   * there, or with the last one before where there is none. So a filter that is read from anywhere gives the same to
   * the last bit. The runs share the exponential function, beside which they cost little.
   * @returns the state after the last of them; `last` where there is none
   */
  run(
    times: Float64Array,
    inputs: Float64Array,
    values: Float64Array,
    last: FilterState | null,
  ): FilterState | null {
    if (times.length === 0) return last
    const periodUs = this.#periodUs
    const cellUs = this.#cellUs
    const begun = last ?? this.#beginning(times[0]!, inputs[0]!)
    // Read from a column they are doubles for the compiler, and no objects are made in the loop.
    const state = Float64Array.of(begun.time, begun.input, begun.value, ...begun.ahead)
    let lastTime = state[0]!
    let lastInput = state[1]!
    let y = state[2]!
    let y1 = state[3]!
    let y2 = state[4]!
    let y3 = state[5]!
    let cellEnd = (this.#cellOf(lastTime) + 1) * cellUs
    if (last === null) values[0] = y
    for (let i = last === null ? 1 : 0; i < times.length; i++) {
      const time = times[i]!
      const x = inputs[i]!
      // Without expm1 a length much shorter than the period would lose its digits in 1 - exp(...).
      const share = -Math.expm1((-2 * Math.PI * (time - lastTime)) / periodUs)
      if (time < cellEnd) y3 += share * (x - y3)
      else {
        const cell = Math.floor(time / cellUs)
        for (let n = Math.min(cell + 1 - cellEnd / cellUs, LEAD_CELLS); n > 0; n--) {
          y = y1
          y1 = y2
          y2 = y3
          y3 = lastInput
        }
        y3 = x
        cellEnd = (cell + 1) * cellUs
      }
      y += share * (x - y)
      y1 += share * (x - y1)
      y2 += share * (x - y2)
      lastTime = time
      lastInput = x
      values[i] = y
    }
    return { time: lastTime, value: y, input: lastInput, ahead: [y1, y2, y3], first: begun.first }
  }

  /** The state at the first point of all that are read. */
  #beginning(time: number, input: number): FilterState {
    return { time, value: input, input, ahead: [input, input, input], first: time }
  }

  #cellOf(at: number): number {
    return Math.floor(at / this.#cellUs)
  }
}
