import { upperBound, upperBoundFrom } from '../../../series/columns.ts'
import type { Limit } from '../../graph/chunk.ts'

/**
 * The answers to a comparison at all instants at which they can change, and so at all times in between, where they stay
 * what they are right after the last of these instants. Comparisons of comparisons look their inputs up here; each
 * would otherwise ask all those inside it, down to the leaves.
 */
export class AnswerTable {
  /** Ascending; no later than the first time that is asked for begins the first. */
  readonly #times: Float64Array
  readonly #answersAt: (times: Float64Array, limit: Limit) => Float64Array
  readonly #columns = new Map<Limit, Float64Array>()

  /** @param answersAt works out the answers, or their limits from one side, at the instants of the table */
  constructor(times: Float64Array, answersAt: (times: Float64Array, limit: Limit) => Float64Array) {
    this.#times = times
    this.#answersAt = answersAt
  }

  /** @param times ascending, from the first instant of the table on */
  valuesAt(times: Float64Array, limit: Limit): Float64Array {
    // A value can be that of a single instant, after which the signal has none.
    const between = this.#column('after')
    const onVertices = this.#column(limit)
    const values = new Float64Array(times.length)
    const vertices = this.#times
    const walk = vertices.length < times.length * 16
    let passed = times.length === 0 ? 0 : upperBound(vertices, times[0]!)
    for (let i = 0; i < times.length; i++) {
      const time = times[i]!
      if (walk) while (passed < vertices.length && vertices[passed]! <= time) passed++
      else passed = upperBoundFrom(vertices, time, passed)
      const column = vertices[passed - 1] === time ? onVertices : between
      values[i] = column[passed - 1]!
    }
    return values
  }

  #column(limit: Limit): Float64Array {
    return this.#columns.getOrInsertComputed(limit, () => this.#answersAt(this.#times, limit))
  }
}
