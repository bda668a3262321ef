import type { TagNode, TagTree } from '../../grammar/tree.ts'
import type { AggregateColumns, AggregateName } from '../../series/aggregate-names.ts'
import type { FindPoint, Integrals, RangeResult } from '../../series/reads.ts'
import type { Instant } from '../../time/instant.ts'
import type { TimeZone } from '../../time/zone.ts'
import { aggregatesOf } from '../consumers/aggregates.ts'
import { integralsOf } from '../consumers/integrals.ts'
import { rawPoints } from '../consumers/raw-points.ts'
import type { ChunkRange, ChunkStream } from './chunk.ts'
import { estimateNow } from './estimate.ts'
import { Evaluation } from './evaluation.ts'
import { Graph } from './graph.ts'
import type { Need, PlannedRead } from './need.ts'
import type { CurrentPoint, Operator } from './operator.ts'
import type { PointSource, RawRange, SinglePoint, StoredTag } from './point-source.ts'

/** What tests make an operator in. */
export interface TestContext {
  readonly source: PointSource
  readonly now: Instant
  readonly zone: TimeZone
  readonly range: { readonly from: Instant; readonly to: Instant }
  readonly spacingUs?: number
  readonly signal?: AbortSignal
  readonly pagePoints?: number
  /** Values that may be evaluated. */
  readonly maxEvaluated?: number
}

/** An operator with the consumers that request types use, as one object. */
export class TestSeries {
  readonly operator: Operator
  readonly evaluation: Evaluation

  readonly now: Instant

  constructor(operator: Operator, evaluation: Evaluation, now: Instant) {
    this.operator = operator
    this.evaluation = evaluation
    this.now = now
  }

  get stepped(): boolean {
    return this.operator.stepped
  }

  get varies(): Operator['varies'] {
    return this.operator.varies
  }

  chunks(range: ChunkRange): ChunkStream {
    return this.operator.chunks(range)
  }

  valuesAt(times: Float64Array): Promise<Float64Array> {
    return this.operator.valuesAt(times)
  }

  currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null> {
    return this.operator.currentPoint(find, at)
  }

  rawTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    return this.operator.rawTime(find, at)
  }

  rawPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    return this.operator.rawPoint(find, at)
  }

  rawPoints(range: RawRange): Promise<RangeResult> {
    return rawPoints(this.operator, range, this.evaluation)
  }

  integrals(starts: Float64Array, ends: Float64Array): Promise<Integrals> {
    return integralsOf(this.operator, starts, ends, this.evaluation)
  }

  aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    return aggregatesOf(this.operator, edges, names, this)
  }

  /** The reads that needs are estimated at. */
  estimate(needs: readonly Need[]): readonly PlannedRead[] {
    return estimateNow(this.operator, needs).reads
  }
}

/** The operator of a tree, with everything that a call would give it. */
export function seriesOf(
  tree: TagTree,
  { source, pagePoints, signal, maxEvaluated, ...context }: TestContext,
  resolve: (tag: TagNode) => StoredTag,
): TestSeries {
  const evaluation = new Evaluation({
    source,
    ...(pagePoints === undefined ? {} : { pagePoints }),
    ...(signal === undefined ? {} : { signal }),
    ...(maxEvaluated === undefined ? {} : { maxEvaluated }),
  })
  return new TestSeries(new Graph(resolve).build(tree, { ...context, evaluation }), evaluation, context.now)
}
