import type { Integrals } from '../../series/reads.ts'
import type { Instant } from '../../time/instant.ts'
import { integralsOf } from '../consumers/integrals.ts'
import type { Evaluation } from '../graph/evaluation.ts'
import type { NeedSink } from '../graph/need.ts'
import type { Operator } from '../graph/operator.ts'

/** An operator whose integrals are wanted: those of the historian where it can integrate, or from raw points alone. */
export class IntegralInput {
  /** Integrals from a formula; absent where they are worked out in another way. */
  readonly closed: Operator['closedIntegrals']
  readonly #operator: Operator
  readonly #fromRaw: boolean
  readonly #evaluation: Evaluation

  /** @param fromRaw integrals are not pushed down to the historian, even where it has them */
  constructor(operator: Operator, fromRaw: boolean, evaluation: Evaluation) {
    this.#operator = operator
    this.#fromRaw = fromRaw
    this.#evaluation = evaluation
    this.closed = fromRaw ? undefined : operator.closedIntegrals
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
    return integralsOf(this.#operator, starts, ends, this.#evaluation)
  }

  /** From points, all segments up to the raw points beside the spans. */
  needs(from: Instant, to: Instant, count: number, key: number, sink: NeedSink): void {
    if (from >= to) return
    if (this.isFromPoints) sink.need(this.#operator, { kind: 'chunks', from, to, beyond: 1 })
    else sink.need(this.#operator, { kind: 'integrals', from, to, count, key })
  }
}
