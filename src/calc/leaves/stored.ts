import { takesSignal } from '../../series/aggregate.ts'
import type { AggregateColumns, AggregateName } from '../../series/aggregate-names.ts'
import { NO_POINTS } from '../../series/columns.ts'
import type { GapPage, GapSearch } from '../../series/gaps.ts'
import { type EdgePoint, interpolate } from '../../series/interpolate.ts'
import type { TagStates } from '../../series/optional-metadata.ts'
import { PlotSampler } from '../../series/plot.ts'
import type { BoundingValues, FindPoint, PlotPoints, RangeResult, SignalShape } from '../../series/reads.ts'
import { END_INSTANT, type Instant, instantFromUs, isAccepted, MIN_INSTANT } from '../../time/instant.ts'
import { aggregatesFromChunks } from '../consumers/aggregates.ts'
import { firstOf, goesBack } from '../consumers/find-point.ts'
import { wholeRange } from '../consumers/stream.ts'
import { BaseOperator } from '../graph/base.ts'
import { type Chunk, type ChunkRange, type ChunkStream, streamOf } from '../graph/chunk.ts'
import type { Need, NeedSink } from '../graph/need.ts'
import type { CurrentPoint, Operator, OperatorContext } from '../graph/operator.ts'
import { type RawRange, type SinglePoint, type StoredTag, shapeOf } from '../graph/point-source.ts'
import {
  type AggregateSources,
  aggregatesFromSources,
  boundsFrom,
  boundTimes,
  sourcesOf,
  type WindowBounds,
} from './aggregate-sources.ts'
import { chunkOf, type StreamSource, storedChunks } from './stored-chunks.ts'
import { availableOf, estimateNeed, plotsAtSource } from './stored-cost.ts'
import { withEndOfHold, withGapsAtEnds } from './stored-plot.ts'

const NO_PUSH_DOWNS: StoredTag['pushDowns'] = {
  aggregates: [],
  interpolation: false,
  integrals: false,
  plots: false,
  gaps: false,
  signalGaps: false,
  comparisons: false,
}

/**
 * Leaf: a tag of a historian. The only operator that knows push-downs; it works out the same from bounding values and
 * streamed points where the historian offers none.
 */
export class StoredLeaf extends BaseOperator implements StreamSource {
  readonly states?: TagStates
  readonly isGapless: boolean
  readonly #tag: StoredTag
  readonly #shape: SignalShape
  /** By their thresholds: many labels may compare a tag with the same ones. */
  #compared: Map<string, Operator> | null = null

  constructor(stored: StoredTag, context: OperatorContext) {
    const tag = withGap(stored, context.maxGapUs ?? stored.maxGapUs)
    super([], context, {
      stepped: tag.stepped,
      varies: 'data',
      linear: true,
      extrapolationLimits: [context.now],
    })
    this.#tag = tag
    this.isGapless = tag.maxGapUs === undefined
    if (tag.states !== undefined) this.states = tag.states
    this.#shape = shapeOf(tag, context.now)
  }

  /**
   * A getter, since V8 keeps what a function in a field refers to until it goes through the whole heap: all points of
   * the call, and reads of many points have it do so for every seventh answer.
   */
  get gaps(): ((search: GapSearch) => Promise<GapPage>) | undefined {
    const tag = this.#tag
    return tag.pushDowns.gaps ? (search) => this.context.evaluation.source.gaps(tag, search) : undefined
  }

  stepInterpolated(pushDowns: boolean): Operator {
    const tag = { ...this.#tag, stepped: true }
    return new StoredLeaf(pushDowns ? tag : { ...tag, pushDowns: NO_PUSH_DOWNS }, this.context)
  }

  compared(thresholds: readonly number[]): Operator | null {
    const { pushDowns, maxGapUs } = this.#tag
    if (!pushDowns.comparisons) return null
    const compared = maxGapUs === undefined ? { thresholds } : { thresholds, maxGapUs }
    this.#compared ??= new Map()
    return this.#compared.getOrInsertComputed(
      thresholds.join(),
      () => new StoredLeaf({ ...this.#tag, compared, pushDowns: NO_PUSH_DOWNS }, this.context),
    )
  }

  override needs(need: Need, sink: NeedSink): void {
    if (need.kind === 'chunks' && need.compared !== undefined) {
      const { compared, ...all } = need
      ;(this.compared(compared) ?? this).needs(all, sink)
      return
    }
    estimateNeed(this, this.#tag, this.#shape, need, sink)
  }

  protected inputNeeds(): void {}

  protected override get takesRawOnly(): boolean {
    return true
  }

  /** Equal reads are made once by the source. */
  protected override get remembersValues(): boolean {
    return false
  }

  protected async evaluate(times: Float64Array): Promise<Float64Array> {
    const { source } = this.context.evaluation
    if (this.#tag.pushDowns.interpolation) return source.interpolated(this.#tag, times, this.#shape.holdUntil)
    return interpolate(await source.boundingValues(this.#tag, times), times, this.#shape)
  }

  protected open(range: ChunkRange): ChunkStream {
    return streamOf(storedChunks(this, this.#shape, range))
  }

  override currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null> {
    return this.rawPoint(find, at)
  }

  /** Equal look-ups are made once by the source. */
  override rawPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    return this.context.evaluation.source.point(this.#tag, find, at)
  }

  protected findPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    return this.rawPoint(find, at)
  }

  override async goodPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const edge = await this.edge(find, at)
    return edge === null ? null : { time: instantFromUs(edge.time), value: edge.value, bad: false }
  }

  async edge(find: FindPoint, at: Instant): Promise<EdgePoint | null> {
    // Instants are whole, so "before" is "at or before the last microsecond before".
    const place = firstOf(find, at)
    if (!isAccepted(place)) return null
    const found = await this.#boundingValues(Float64Array.of(place))
    const [time, value] = goesBack(find)
      ? [found.beforeTimes[0]!, found.beforeValues[0]!]
      : [found.afterTimes[0]!, found.afterValues[0]!]
    return Number.isNaN(time) ? null : { time, value }
  }

  page(range: RawRange): Promise<RangeResult> {
    if (range.from >= range.to) return Promise.resolve({ points: NO_POINTS, more: false })
    const { source } = this.context.evaluation
    return source.page?.(this.#tag, range) ?? source.range(this.#tag, range)
  }

  /** Between good points and, until `now`, after the last one. */
  protected override async findValue(find: FindPoint, at: Instant): Promise<boolean> {
    const isBack = goesBack(find)
    const place = instantFromUs(Math.min(at, END_INSTANT - 1))
    if (!isBack && (await this.goodPoint('after-or-at', place)) !== null) return true
    return (isBack || at <= this.#shape.holdUntil) && (await this.goodPoint('before-or-at', place)) !== null
  }

  async signal(from: Instant, to: Instant): Promise<Chunk> {
    const [prev, next] = await Promise.all([this.edge('before', from), this.edge('after-or-at', to)])
    return chunkOf(this.#shape, from, to, NO_POINTS, prev, next)
  }

  rawPoints(range: RawRange): Promise<RangeResult> {
    return this.context.evaluation.source.range(this.#tag, range)
  }

  intactPoints(range: RawRange): Promise<RangeResult> {
    const { source } = this.context.evaluation
    return source.intact?.(this.#tag, range) ?? source.range(this.#tag, range)
  }

  get integrals(): Operator['integrals'] {
    const tag = this.#tag
    if (!tag.pushDowns.integrals) return undefined
    return (starts, ends) =>
      this.context.evaluation.source.integrals(tag, starts, ends, this.#shape.holdUntil)
  }

  async aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    const sources = sourcesOf(names, availableOf(this.#tag))
    // Once the points must be fetched anyway, everything is worked out from them: it costs nothing more.
    return sources.streamed.length === 0
      ? this.#pushedDown(edges, names, sources)
      : aggregatesFromChunks(this, edges, names, this.context)
  }

  async plot(edges: Float64Array): Promise<PlotPoints> {
    const shape = this.#shape
    const { maxGapUs } = shape
    const ends = Float64Array.of(edges[0]!, edges.at(-1)!)
    if (maxGapUs === undefined) {
      const [plot, values] = await Promise.all([this.#chosen(edges), this.valuesAt(ends)])
      return withEndOfHold(plot, ends, values, shape)
    }
    const [plot, beside] = await Promise.all([this.#chosen(edges), this.#boundingValues(besideTimes(ends))])
    return withGapsAtEnds(plot, ends, beside, { ...shape, maxGapUs })
  }

  /** Points of a chart with the breaks between them. */
  async #chosen(edges: Float64Array): Promise<PlotPoints> {
    const { evaluation } = this.context
    if (plotsAtSource(this.#tag)) return evaluation.source.plot(this.#tag, edges)
    const { stepped, holdUntil } = this.#shape
    const plot = new PlotSampler(edges, { gaps: this.#shape })
    const range = wholeRange(edges[0]!, edges.at(-1)!, this, evaluation)
    for await (const { raw } of storedChunks(this, { stepped, holdUntil }, { ...range, rawOnly: true })) {
      plot.add(raw)
      await evaluation.pause()
    }
    return plot.finish()
  }

  /** Aggregates that the historian computes, or that follow from what it computes. */
  #pushedDown(
    edges: Float64Array,
    names: readonly AggregateName[],
    sources: AggregateSources,
  ): Promise<AggregateColumns> {
    const { source } = this.context.evaluation
    const { holdUntil } = this.#shape
    return aggregatesFromSources(names, sources, edges, holdUntil, {
      aggregates: (names) => source.aggregates(this.#tag, edges, names, holdUntil),
      integrals: (starts, ends) => source.integrals(this.#tag, starts, ends, holdUntil),
      bounds: () => this.#bounds(edges),
    })
  }

  async #bounds(edges: Float64Array): Promise<WindowBounds> {
    await this.context.evaluation.pause()
    const times = boundTimes(edges)
    return boundsFrom(edges, times, await this.valuesAt(times), this.stepped)
  }

  #boundingValues(times: Float64Array): Promise<BoundingValues> {
    return this.context.evaluation.source.boundingValues(this.#tag, times)
  }
}

/** The tag with a limit of how long points are good for, and only push-downs that heed it. */
function withGap(tag: StoredTag, maxGapUs: number | undefined): StoredTag {
  if (maxGapUs === undefined) return tag
  const { pushDowns } = tag
  if (pushDowns.signalGaps) return { ...tag, maxGapUs }
  const aggregates = pushDowns.aggregates.filter((name) => !takesSignal([name]))
  // Gaps are between raw points, which are good for as long as any.
  return { ...tag, maxGapUs, pushDowns: { ...NO_PUSH_DOWNS, aggregates, gaps: pushDowns.gaps } }
}

/** Where to look for the good points before a range and at or after its end. */
function besideTimes([from, to]: Float64Array): Float64Array {
  // Beyond the accepted range there are no points, and a driver need not be able to look there.
  return Float64Array.of(Math.max(MIN_INSTANT, from! - 1), Math.min(to!, END_INSTANT - 1))
}
