import { type AggregateColumns, type AggregateName, aggregateOf } from '../../../series/aggregate-names.ts'
import type { FindPoint, Integrals } from '../../../series/reads.ts'
import type { Instant } from '../../../time/instant.ts'
import { aggregatesFromChunks } from '../../consumers/aggregates.ts'
import { integralsFromChunks } from '../../consumers/integrals.ts'
import { BaseOperator, type InputNeed } from '../../graph/base.ts'
import type { ChunkRange, ChunkStream } from '../../graph/chunk.ts'
import type { Need, NeedSink } from '../../graph/need.ts'
import type { CurrentPoint, Operator, OperatorContext } from '../../graph/operator.ts'
import type { SinglePoint } from '../../graph/point-source.ts'
import { ConstantLeaf } from '../../leaves/constant.ts'

/**
 * What a comparison with a number chooses, which a historian decides for most points where it can.
 * @param over       what it is for an operator that is compared with the number
 * @param thresholds of the operator, between which all numbers have the same answer; `null` where they are not known
 */
export function decided(
  over: (compared: Operator) => Operator,
  operator: Operator,
  thresholds: readonly number[] | null,
  context: OperatorContext,
): Operator {
  const compared = thresholds === null ? null : (operator.compared?.(thresholds) ?? null)
  return compared === null ? over(operator) : new DecidedComparison(over(operator), over(compared), context)
}

/** The number that an operator is; `null` where it is none, or no number that can be compared with. */
export function numberOf(operator: Operator): number | null {
  const number = operator instanceof ConstantLeaf ? operator.number : null
  return number !== null && Number.isFinite(number) ? number : null
}

/**
 * A comparison with a constant, whose integrals and aggregates over its signal are worked out from another one of the
 * same answers at all times: that of fewer points, since a historian leaves out those that a summary decides. All else,
 * raw points above all, is that of the whole comparison.
 */
class DecidedComparison extends BaseOperator {
  readonly isGapless: boolean
  readonly #whole: Operator
  readonly #decided: Operator

  constructor(whole: Operator, decided: Operator, context: OperatorContext) {
    // As wide as one of them, as either is read: twice the width at each level of comparisons inside each other would
    // leave two points to a page.
    super([whole, decided], context, whole)
    this.#whole = whole
    this.isGapless = whole.isGapless === true
    this.#decided = decided
  }

  override needs(need: Need, sink: NeedSink): void {
    const isDecided =
      need.kind === 'integrals' || (need.kind === 'aggregates' && need.names.every(isOfSignal))
    sink.need(isDecided ? this.#decided : this.#whole, need)
  }

  protected inputNeeds(need: InputNeed, sink: NeedSink): void {
    sink.need(this.#whole, need)
  }

  /** Its answers, and so what they are compared with, are the same at all times. */
  compared(): Operator {
    return this.#decided
  }

  protected override get badWith(): Operator {
    return this.#whole
  }

  override goodBound(find: FindPoint, at: Instant): Promise<Instant | null> {
    return this.#whole.goodBound(find, at)
  }

  protected override findValue(find: FindPoint, at: Instant): Promise<boolean> {
    return this.#whole.mayHaveValue(find, at)
  }

  integrals(starts: Float64Array, ends: Float64Array): Promise<Integrals> {
    return integralsFromChunks(this.#decided, starts, ends, this.context.evaluation)
  }

  aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    const operator = names.every(isOfSignal) ? this.#decided : this.#whole
    return aggregatesFromChunks(operator, edges, names, this.context)
  }

  override currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null> {
    return this.#whole.currentPoint(find, at)
  }

  protected evaluate(times: Float64Array): Promise<Float64Array> {
    return this.#whole.valuesAt(times)
  }

  protected open(range: ChunkRange): ChunkStream {
    return this.#whole.chunks(range)
  }

  protected override findTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    return this.#whole.rawTime(find, at)
  }

  protected findPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    return this.#whole.rawPoint(find, at)
  }
}

/** Whether an aggregate follows from the signal, whatever raw points there are. */
function isOfSignal(name: AggregateName): boolean {
  return aggregateOf(name).state === 'signal'
}
