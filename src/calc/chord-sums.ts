import { valueBetween } from '../series/interpolate.ts'
import type { Chords } from './chords.ts'
import { sumsInAnyOrder } from './sliding-folds.ts'
import { indexesOf } from './sliding-indexes.ts'

/** Integrals of a signal between many pairs of instants, and how long it has a value there. */
export interface ChordIntegrals {
  /** In the signal's unit times microseconds. Infinite where it leaves the range of doubles. */
  readonly integrals: Float64Array
  readonly coveredUs: Float64Array
}

/** Integrals over overlapping stretches of a signal in memory, in time linear in chords and stretches. */
export class ChordSums {
  readonly #chords: Chords
  readonly #areas: Float64Array
  /** Microseconds with a value up to each knot; whole numbers, so exact. */
  readonly #covered: Float64Array

  constructor(chords: Chords) {
    const { times, at, before } = chords
    this.#chords = chords
    this.#areas = new Float64Array(Math.max(0, times.length - 1))
    this.#covered = new Float64Array(times.length)
    for (let k = 0; k < this.#areas.length; k++) {
      const length = times[k + 1]! - times[k]!
      const area = length * (at[k]! / 2 + before[k + 1]! / 2)
      this.#areas[k] = area
      this.#covered[k + 1] = this.#covered[k]! + (Number.isNaN(area) ? 0 : length)
    }
  }

  /** @param starts, ends in any order; where an end is not after its start the integral is 0 */
  between(starts: Float64Array, ends: Float64Array): ChordIntegrals {
    const { times } = this.#chords
    const integrals = new Float64Array(starts.length)
    const coveredUs = new Float64Array(starts.length)
    if (times.length < 2) return { integrals, coveredUs }
    // Whole chords lie between the first knot from the start on and the last one up to the end.
    const first = indexesOf(times, starts, 'at-or-after')
    const end = indexesOf(times, ends, 'after').map((index) => Math.max(0, index - 1))
    const started = first.map((index, i) => Math.min(index, end[i]!))
    const whole = sumsInAnyOrder(this.#areas, { first: started, end })
    for (let i = 0; i < integrals.length; i++) {
      const a = Math.max(starts[i]!, times[0]!)
      const b = Math.min(ends[i]!, times.at(-1)!)
      if (!(a < b)) continue
      const add = (chord: number, from: number, to: number): void => {
        const area = from < to ? this.#part(chord, from, to) : Number.NaN
        if (Number.isNaN(area)) return
        integrals[i]! += area
        coveredUs[i]! += to - from
      }
      if (first[i]! > end[i]!) add(end[i]!, a, b)
      else {
        add(first[i]! - 1, a, times[first[i]!]!)
        integrals[i]! += whole[i]!
        coveredUs[i]! += this.#covered[end[i]!]! - this.#covered[first[i]!]!
        add(end[i]!, times[end[i]!]!, b)
      }
    }
    return { integrals, coveredUs }
  }

  /** Integral of one chord from a to b, NaN without a value. */
  #part(chord: number, a: number, b: number): number {
    const { times, at, before } = this.#chords
    const value1 = at[chord]!
    const value2 = before[chord + 1]!
    if (Number.isNaN(value1) || Number.isNaN(value2)) return Number.NaN
    const valueA = valueBetween(a, times[chord]!, value1, times[chord + 1]!, value2)
    const valueB = valueBetween(b, times[chord]!, value1, times[chord + 1]!, value2)
    return (b - a) * (valueA / 2 + valueB / 2)
  }
}
