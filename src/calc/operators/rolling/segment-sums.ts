import { valueBetween } from '../../../series/interpolate.ts'
import type { Integrals } from '../../../series/reads.ts'
import type { Segments } from '../../consumers/join-segments.ts'
import { windowSums } from './folds.ts'
import { indexesOf } from './indexes.ts'
import type { WindowBounds } from './window.ts'

/** Integrals of a signal in memory over overlapping spans, in time linear in segments and spans. */
export class SegmentSums {
  readonly #segments: Segments
  readonly #areas: Float64Array
  /** Microseconds with a value up to each vertex; whole numbers, so exact. */
  readonly #covered: Float64Array

  constructor(segments: Segments) {
    const { times, at, before } = segments
    this.#segments = segments
    this.#areas = new Float64Array(Math.max(0, times.length - 1))
    this.#covered = new Float64Array(times.length)
    for (let k = 0; k < this.#areas.length; k++) {
      const length = times[k + 1]! - times[k]!
      const area = length * (at[k]! / 2 + before[k + 1]! / 2)
      this.#areas[k] = area
      this.#covered[k + 1] = this.#covered[k]! + (Number.isNaN(area) ? 0 : length)
    }
  }

  /** Whether the signal has a value all the way between two instants. */
  covers({ from, to }: { readonly from: number; readonly to: number }): boolean {
    const { times } = this.#segments
    if (times.length < 2 || times[0]! > from || times.at(-1)! < to) return false
    return this.#covered.at(-1)! === times.at(-1)! - times[0]!
  }

  /**
   * @returns integrals of windows, 0 where an end is not after its start, in the signal's unit times microseconds,
   * infinite where they leave the range of doubles
   */
  between({ starts, ends, pivots: pivotTimes }: WindowBounds): Integrals {
    const { times } = this.#segments
    const integrals = new Float64Array(starts.length)
    const coveredUs = new Float64Array(starts.length)
    if (times.length < 2) return { integrals, coveredUs }
    // Whole segments lie between the first vertex from the start on and the last one up to the end.
    const first = indexesOf(times, starts, 'at-or-after')
    const end = indexesOf(times, ends, 'after')
    const pivots = indexesOf(times, pivotTimes, 'at-or-after')
    const started = new Int32Array(first.length)
    for (let i = 0; i < started.length; i++) {
      end[i] = Math.max(0, end[i]! - 1)
      started[i] = Math.min(first[i]!, end[i]!)
      pivots[i] = Math.min(Math.max(pivots[i]!, started[i]!), end[i]!)
    }
    const whole = windowSums(this.#areas, { first: started, end, pivots })
    for (let i = 0; i < integrals.length; i++) {
      const a = Math.max(starts[i]!, times[0]!)
      const b = Math.min(ends[i]!, times.at(-1)!)
      if (!(a < b)) continue
      const started = first[i]!
      const ended = end[i]!
      if (started > ended) {
        const area = this.#part(ended, a, b)
        integrals[i] = Number.isNaN(area) ? 0 : area
        coveredUs[i] = Number.isNaN(area) ? 0 : b - a
        continue
      }
      let integral = 0
      let covered = 0
      // The parts of the segments that the start and the end lie in.
      const head = this.#part(started - 1, a, times[started]!)
      if (!Number.isNaN(head)) {
        integral += head
        covered += times[started]! - a
      }
      integral += whole[i]!
      covered += this.#covered[ended]! - this.#covered[started]!
      const tail = this.#part(ended, times[ended]!, b)
      if (!Number.isNaN(tail)) {
        integral += tail
        covered += b - times[ended]!
      }
      integrals[i] = integral
      coveredUs[i] = covered
    }
    return { integrals, coveredUs }
  }

  /** Integral of one segment from a to b, NaN without a value or between equal times. */
  #part(segment: number, a: number, b: number): number {
    if (a >= b) return Number.NaN
    const { times, at, before } = this.#segments
    const value1 = at[segment]!
    const value2 = before[segment + 1]!
    if (Number.isNaN(value1) || Number.isNaN(value2)) return Number.NaN
    const valueA = valueBetween(a, times[segment]!, value1, times[segment + 1]!, value2)
    const valueB = valueBetween(b, times[segment]!, value1, times[segment + 1]!, value2)
    return (b - a) * (valueA / 2 + valueB / 2)
  }
}
