import type { Integrals } from '../../series/reads.ts'
import type { Instant } from '../../time/instant.ts'
import { integralsFromChunks, integralsOf } from '../consumers/integrals.ts'
import type { Evaluation } from '../graph/evaluation.ts'
import type { NeedSink } from '../graph/need.ts'
import type { Operator } from '../graph/operator.ts'

/** Raw points that a segment iterator may read beyond either end of its range. */
export function segmentsBeyond({ linear }: Operator): number {
  return linear ? 0 : 1
}

/** An operator whose integrals are wanted: those of the historian where it can integrate, or from raw points alone. */
export class IntegralInput {
  readonly #operator: Operator
  readonly #fromRaw: boolean
  readonly #evaluation: Evaluation

  /** @param fromRaw integrals are not pushed down to the historian, even where it has them */
  constructor(operator: Operator, fromRaw: boolean, evaluation: Evaluation) {
    this.#operator = operator
    this.#fromRaw = fromRaw
    this.#evaluation = evaluation
  }

  /**
   * Whether integrals are worked out from points: they are then added up one after the other, with the same last digits
   * whatever else is asked for.
   */
  get isFromPoints(): boolean {
    return this.#fromRaw || this.#operator.integrals === undefined
  }

  /** @param starts, ends of spans that do not overlap, ascending */
  async over(starts: Float64Array, ends: Float64Array): Promise<Integrals> {
    if (starts.length === 0) return { integrals: starts, coveredUs: ends }
    const integrate = this.#fromRaw ? integralsFromChunks : integralsOf
    return integrate(this.#operator, starts, ends, this.#evaluation)
  }

  needs(from: Instant, to: Instant, count: number, key: number, sink: NeedSink): void {
    const operator = this.#operator
    if (from >= to) return
    if (!this.#fromRaw) sink.need(operator, { kind: 'integrals', from, to, count, key })
    else sink.need(operator, { kind: 'chunks', from, to, beyond: segmentsBeyond(operator) })
  }
}
