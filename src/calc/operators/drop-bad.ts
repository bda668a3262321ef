import type { AggregateColumns, AggregateName } from '../../series/aggregate-names.ts'
import { lowerBound, mergeTimes } from '../../series/columns.ts'
import { goodPoints } from '../../series/interpolate.ts'
import type { FindPoint, Integrals } from '../../series/reads.ts'
import type { Instant } from '../../time/instant.ts'
import { aggregatesFromChunks, aggregatesOf } from '../consumers/aggregates.ts'
import { findNeeds, findRawPoint, goodPageCount } from '../consumers/find-point.ts'
import { goodChunkNeeds, goodChunks } from '../consumers/good-chunks.ts'
import { integralsOf } from '../consumers/integrals.ts'
import { BaseOperator, type InputNeed } from '../graph/base.ts'
import type { Chunk, ChunkRange, ChunkStream } from '../graph/chunk.ts'
import { FAR, type Reach } from '../graph/near.ts'
import type { Need, NeedSink } from '../graph/need.ts'
import type { CurrentPoint, Operator, OperatorContext } from '../graph/operator.ts'
import type { SinglePoint } from '../graph/point-source.ts'

/** BAD points that a page of good ones may hold without another page being read, at most: as many as good ones. */
const MOST_ALLOWED = 64

/** Its input without BAD raw points; the signal, which passes them by, stays what it is. */
export class DropBadOperator extends BaseOperator {
  readonly stepInterpolated?: (pushDowns: boolean) => Operator
  override readonly goodPoint?: (find: FindPoint, at: Instant) => Promise<SinglePoint | null>
  readonly integrals?: (starts: Float64Array, ends: Float64Array) => Promise<Integrals>
  readonly aggregates?: (edges: Float64Array, names: readonly AggregateName[]) => Promise<AggregateColumns>
  readonly #input: Operator

  constructor(input: Operator, context: OperatorContext) {
    const { stepped, varies, extrapolationLimits } = input
    // Where a calculation has a BAD raw point one of its inputs may bend, and that vertex has no raw point any more.
    const linear = input.linear && input.stepInterpolated !== undefined
    // At a BAD point behind the last good one, too.
    const bends = linear || input.isNeverBad ? 'with inputs' : 'always'
    super([input], context, { stepped, varies, linear, extrapolationLimits, bends })
    this.#input = input
    if (input.stepInterpolated !== undefined) {
      this.stepInterpolated = (pushDowns) => new DropBadOperator(input.stepInterpolated!(pushDowns), context)
    }
    if (input.goodPoint !== undefined) this.goodPoint = (find, at) => input.goodPoint!(find, at)
    if (!linear) return
    this.aggregates = (edges, names) => this.#aggregates(edges, names)
    if (input.integrals !== undefined)
      this.integrals = (starts, ends) => integralsOf(input, starts, ends, context.evaluation)
  }

  override get isNeverBad(): boolean {
    return true
  }

  protected override get takesRawOnly(): boolean {
    return true
  }

  override reach(find: FindPoint, at: Instant | null): Reach {
    return this.#isAllGood ? this.#input.reach(find, at) : FAR
  }

  /** No good raw point follows; a BAD one may. */
  protected override async findOuterBreak(at: Instant): Promise<Instant | null> {
    const bad = this.#isAllGood ? null : await this.#input.rawTime('after-or-at', at)
    return bad ?? this.#input.outerBreak(at)
  }

  override needs(need: Need, sink: NeedSink): void {
    if (need.kind === 'current') {
      sink.need(this.#input, need)
      findNeeds(this.#input, need, sink)
    } else if (need.kind === 'integrals' && this.linear) sink.need(this.#input, need)
    else if (need.kind === 'aggregates' && this.linear && !need.names.some(dependsOnBad))
      sink.need(this.#input, { ...need, names: namesOfAll(need.names) })
    else super.needs(need, sink)
  }

  protected inputNeeds(need: InputNeed, sink: NeedSink): void {
    if (need.kind === 'point') findNeeds(this.#input, need, sink)
    else if (need.kind === 'raw')
      sink.need(this.#input, {
        ...need,
        count: this.#isAllGood ? need.count : goodPageCount(this.#pageOf(need.count)),
      })
    else {
      sink.need(this.#input, need)
      if (need.kind === 'chunks') goodChunkNeeds(this.#input, need, sink)
      if (need.kind !== 'chunks' || need.beyond === 0) return
      findNeeds(this.#input, { find: 'before-or-at', at: need.from }, sink)
      findNeeds(this.#input, { find: 'after-or-at', at: need.to }, sink)
    }
  }

  compared(thresholds: readonly number[]): Operator | null {
    const compared = this.#input.compared?.(thresholds) ?? null
    return compared === null ? null : new DropBadOperator(compared, this.context)
  }

  protected evaluate(times: Float64Array): Promise<Float64Array> {
    return this.#input.valuesAt(times)
  }

  protected open(range: ChunkRange): ChunkStream {
    const page = range.extent === 'first' ? this.#pageOf(range.page) : range.page
    const stream = goodChunks(this.#input, { ...range, page })
    return {
      next: async () => {
        const chunk = await stream.next()
        return chunk === null ? null : this.#withoutBad(chunk)
      },
    }
  }

  /**
   * Beyond the outermost good points a calculation bends at BAD ones, too. Between these and other raw points its own
   * outer breaks are none.
   */
  async #withoutBad(chunk: Chunk): Promise<Chunk> {
    const input = this.#input
    const { from, to, raw } = chunk
    const good = goodPoints(raw)
    if (this.linear || this.#isAllGood) return { ...chunk, raw: good }
    const { outerBreaks = NO_TIMES } = chunk
    const early = within(outerBreaks, from, raw.times[0] ?? to)
    const late = within(outerBreaks, (raw.times.at(-1) ?? from - 1) + 1, to)
    const bad = good === raw ? NO_TIMES : outside(raw.times, good.times)
    const parts = [within(bad, from, to)]
    if (early.length > 0 && (await input.rawTime('before', from)) === null) parts.push(early)
    if (late.length > 0 && (await input.rawTime('after-or-at', to)) === null) parts.push(late)
    return { ...chunk, raw: good, outerBreaks: parts.reduce(mergeTimes) }
  }

  get #isAllGood(): boolean {
    return this.#input.isNeverBad
  }

  /** Points of the input that are read for a page of good ones. */
  #pageOf(count: number): number {
    return this.#isAllGood ? count : count + Math.min(count, MOST_ALLOWED)
  }

  override async currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null> {
    const current = await this.#input.currentPoint(find, at)
    return current?.bad === true ? this.rawPoint(find, at) : current
  }

  protected findPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    return findRawPoint(this.#input, find, at, this.context.evaluation)
  }

  protected override findValue(find: FindPoint, at: Instant): Promise<boolean> {
    return this.#input.mayHaveValue(find, at)
  }

  async #aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    if (names.some(dependsOnBad)) return aggregatesFromChunks(this, edges, names, this.context)
    const all = await aggregatesOf(this.#input, edges, namesOfAll(names), this.context)
    const none = new Float64Array(edges.length - 1)
    return Object.fromEntries(
      names.map((name) => [name, name === 'numBad' ? none : all[name === 'count' ? 'numGood' : name]!]),
    )
  }
}

const NO_TIMES = new Float64Array(0)

/** Times of [from, to). */
function within(times: Float64Array, from: number, to: number): Float64Array {
  return times.subarray(lowerBound(times, from), lowerBound(times, to))
}

/** Times before the first of some others and behind their last. */
function outside(times: Float64Array, others: Float64Array): Float64Array {
  const [first, last] = [others[0] ?? Number.POSITIVE_INFINITY, others.at(-1) ?? Number.NEGATIVE_INFINITY]
  return times.filter((time) => time < first || time > last)
}

const OF_STATUSES: readonly AggregateName[] = [
  'percentGood',
  'percentBad',
  'durationGood',
  'durationBad',
  'worstStatus',
]

/** Whether an aggregate is another one where BAD points stand between the good ones, other than by their number. */
function dependsOnBad(name: AggregateName): boolean {
  return OF_STATUSES.includes(name)
}

/** The aggregates over all points that give those over the good ones; all but the counts leave BAD ones out anyway. */
function namesOfAll(names: readonly AggregateName[]): readonly AggregateName[] {
  const needed = names.map((name) => (name === 'count' || name === 'numBad' ? 'numGood' : name))
  return [...new Set(needed)]
}
