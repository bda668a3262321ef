import type { AggregateColumns, AggregateName } from '../../../series/aggregate-names.ts'
import { reverseColumns, STATUS_OK } from '../../../series/columns.ts'
import type { FindPoint, Integrals, RangeResult } from '../../../series/reads.ts'
import { clampInstant, END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../../../time/instant.ts'
import { aggregatesOf } from '../../consumers/aggregates.ts'
import { goesBack, pageReach, reachFrom } from '../../consumers/find-point.ts'
import { rawPoints, rawPointsFromChunks } from '../../consumers/raw-points.ts'
import { valuesFromChunks } from '../../consumers/stream.ts'
import type { InputNeed } from '../../graph/base.ts'
import { type ChunkRange, type ChunkStream, streamOf } from '../../graph/chunk.ts'
import { FAR, nearTo, type Reach, timesOf } from '../../graph/near.ts'
import {
  type ChunksNeed,
  instantNeed,
  keyOf,
  type Need,
  type NeedSink,
  nearSink,
  type ValuesNeed,
} from '../../graph/need.ts'
import type { MovesOn, Operator, OperatorContext } from '../../graph/operator.ts'
import type { RawRange, SinglePoint } from '../../graph/point-source.ts'
import { ConstantLeaf } from '../../leaves/constant.ts'
import { IntegralInput } from '../integral-input.ts'
import { isFound, OwnTimesOperator, withValues } from '../own-times.ts'
import { valuesOfInput } from './buffered-input.ts'
import { type Cells, pointCells, signalCells } from './cells.ts'
import { windowIntegrals, windowSums } from './folds.ts'
import { finite, type RollingOp } from './ops.ts'
import { nextOuterBreak } from './outer-breaks.ts'
import { lastRead, MORE_POINTS, RollingStream } from './stream.ts'
import { type RollingWindow, type WindowBounds, withoutCut } from './window.ts'

export interface RollingOptions {
  readonly op: RollingOp
  readonly window: RollingWindow
  /** A total: it has raw points at the ends of the request's range too. */
  readonly isTotal: boolean
  /** Integrals are worked out from raw points even where a historian could integrate. */
  readonly fromRaw: boolean
}

/** More raw points than this come cheaper from a stream, even where the historians could work out each window. */
const MAX_RAW_BY_VALUES = 10_000
/**
 * Where what is the same at every time is worked out: the first windows of all are cut at the first accepted instant.
 */
const LAST_INSTANT = instantFromUs(END_INSTANT - 1)

/**
 * An operation over a window that rolls with t. Raw points stand at those of the input.
 * @source CALCULATIONS.md, sections 7 and 8
 */
export class RollingOperator extends OwnTimesOperator {
  readonly movesOn: MovesOn | undefined
  readonly #options: RollingOptions
  readonly #integrals: IntegralInput
  #isBoundedKnown: boolean | null = null

  constructor(input: Operator, options: RollingOptions, context: OperatorContext) {
    const { op, window, isTotal } = options
    const isOfTime = isTotal || (op.ofLength === true && !window.isOfOneLength)
    const isConstant = !isOfTime && input.varies === 'nothing'
    const varies = input.varies === 'nothing' && isOfTime ? 'time' : input.varies
    const bends = op.integrals === undefined ? 'with inputs' : 'always'
    super(input, context, { stepped: isConstant, linear: isConstant, varies, bends })
    this.movesOn = isConstant ? undefined : options.window.movesOn(context.now)
    this.#options = options
    this.#integrals = new IntegralInput(input, options.fromRaw, context.evaluation)
  }

  override needs(need: Need, sink: NeedSink): void {
    if (need.kind !== 'raw' || need.isPage === undefined || !this.#isRawByValues(need.count)) {
      super.needs(need, sink)
      return
    }
    const { from, to, order, count } = need
    sink.need(this.input, need)
    this.#valueNeeds({ kind: 'values', from, to, count, key: keyOf('raw', from, to, order, count) }, sink)
  }

  get isComplete(): boolean {
    return this.#options.op.ofNothing === true
  }

  get isSeldomBad(): boolean {
    return this.isComplete && this.input.isNeverBad
  }

  override reach(find: FindPoint, at: Instant | null): Reach {
    const reach = this.input.reach(find, at)
    if (reach.isSure || !this.#options.isTotal || this.rangeEnds.length === 0) return reach
    // A total has raw points at the ends of the range.
    const own = at === null ? [] : this.ownTimes(find, at).map((time) => Math.abs(time - at))
    return own.length === 0 ? FAR : { ...reach, mostUs: Math.min(...own), isSure: true }
  }

  /** With limits from the left, and values between raw points. */
  protected override get pointValues(): number {
    return 6
  }

  protected override readFrom(at: Instant): Instant {
    const { window } = this.#options
    return window.earliestStart(window.earliestStart(at))
  }

  protected inputNeeds(need: InputNeed, sink: NeedSink): void {
    const { input } = this
    const { window, op } = this.#options
    const beyondRange = op.integrals === undefined ? 0 : 1
    switch (need.kind) {
      case 'values':
        this.#valueNeeds(need, sink)
        break
      case 'point': {
        sink.need(input, need)
        if (need.timeOnly) break
        const { find, at, count = 1 } = need
        const near = { ...instantNeed(at), count, key: keyOf(at, find, 'rolling') }
        const found = nearSink(sink, nearTo(at, goesBack(find), count, timesOf(reachFrom(this, need), count)))
        if (this.#isNearByValues()) this.#valueNeeds(near, found)
        else this.#chunkNeeds(at, clampInstant(at + 1), beyondRange, found)
        break
      }
      case 'raw': {
        const { from, to, order, count } = need
        if (window.reachesBeyond(to)) {
          // Points after the page are read with it, and their number is not known.
          this.#chunkNeeds(from, to, beyondRange, sink)
          break
        }
        sink.need(input, { ...need, to: lastRead(window, to), count: count + MORE_POINTS + beyondRange })
        if (order === 'asc') this.#leadNeeds(from, beyondRange, sink)
        else {
          // Where a page that is read backwards starts is known only once it was read.
          const near = nearTo(to, true, count + MORE_POINTS, pageReach(input, need))
          this.#leadNeeds(to, beyondRange, nearSink(sink, near))
        }
        break
      }
      case 'chunks':
        this.#chunkNeeds(need.from, need.to, need.beyond + beyondRange, sink, need.ranges)
        if (need.beyond === 0) break
        this.#besideNeeds(need, beyondRange, sink)
        if (this.bendsBehind)
          sink.need(input, {
            kind: 'point',
            find: 'after-or-at',
            at: window.startFor(need.to),
            timeOnly: true,
          })
    }
  }

  /** The window of the raw point before a range, wherever that one is. */
  #besideNeeds({ from, beyond, near }: ChunksNeed, beyondRange: number, sink: NeedSink): void {
    const reach = this.reach('before-or-at', beyond > 1 || near !== undefined ? null : from)
    this.#leadNeeds(from, beyondRange, nearSink(sink, nearTo(from, true, beyond, timesOf(reach, beyond))))
  }

  /** The range with what its first windows reach before it is one read, or two with bounding points of their own. */
  #chunkNeeds(from: Instant, to: Instant, beyond: number, sink: NeedSink, ranges = 1): void {
    const { window } = this.#options
    const start = instantFromUs(Math.min(from, window.earliestStart(from)))
    const all = { from: start, to: lastRead(window, to) }
    sink.need(this.input, { kind: 'chunks', ...all, beyond, ranges: ranges + 1 })
  }

  /** What the windows from an instant on reach before it, or from a raw point before that instant on. */
  #leadNeeds(at: Instant, beyond: number, sink: NeedSink): void {
    const { window } = this.#options
    const start = window.earliestStart(at)
    const from = beyond === 0 || start >= at ? start : window.earliestStart(start)
    if (from < at) sink.need(this.input, { kind: 'chunks', from, to: at, beyond })
  }

  #valueNeeds({ from, to, count, key }: ValuesNeed, sink: NeedSink): void {
    const { input } = this
    const { window, op } = this.#options
    const { text } = window
    if (this.#isStreamed) {
      const beyond = op.integrals === undefined ? 0 : 1
      this.#chunkNeeds(from, clampInstant(to + 1), beyond, sink)
      return
    }
    const first = window.earliestStart(from)
    const last = instantFromUs(Math.max(window.latestEnd(to), first))
    const after = clampInstant(last + 1)
    // One bound of a window can fall between those of another, which makes twice as many cells as windows.
    if (op.integrals !== undefined)
      this.#integrals.needs(first, last, 2 * count, keyOf(key, 'spans', text), sink)
    const names = this.#cellNames
    // Points at the very start of a window are not in it, but where it is cut at the first accepted instant: what is
    // made of totals then begins inside of one of these.
    const inside = first === MIN_INSTANT ? first : instantFromUs(Math.min(first + 1, after))
    const cells = { from: inside, to: after, count: 2 * count, key: keyOf(key, 'cells', text) }
    if (names.length > 0) sink.need(input, { kind: 'aggregates', ...cells, names })
    if (op.bounds === undefined) return
    const endKey = window.isTrailing ? key : keyOf(key, 'ends', text)
    const endsFrom = window.isTrailing ? from : first
    sink.need(input, { kind: 'values', from: endsFrom, to: last, count, key: endKey })
    if (op.bounds === 'both')
      sink.need(input, { kind: 'values', from: first, to: last, count, key: keyOf(key, 'starts', text) })
  }

  protected override findOuterBreak(at: Instant): Promise<Instant | null> {
    return nextOuterBreak(this.#options.window, this.input, at, this.inputsBend)
  }

  protected override get takesOpenEnd(): boolean {
    return true
  }

  protected async evaluate(times: Float64Array): Promise<Float64Array> {
    if (this.#isStreamed) return this.#streamedValues(times)
    if (this.varies !== 'nothing') return this.#evaluateWindows(times)
    const [value] = await this.#evaluateWindows(Float64Array.of(LAST_INSTANT))
    return new Float64Array(times.length).fill(value!)
  }

  /** From the windows' own stream, without values at raw points between the times. */
  #streamedValues(times: Float64Array): Promise<Float64Array> {
    const { width } = this
    const chunks = (range: ChunkRange) => streamOf(this.#stream(range, false).chunks())
    return valuesFromChunks({ width, chunks }, times, this.context.evaluation)
  }

  async #evaluateWindows(times: Float64Array): Promise<Float64Array> {
    const { op, window } = this.#options
    const { evaluation } = this.context
    const { input } = this
    const bounds = await window.boundsOf(times, evaluation)
    const points = pointCells(bounds)
    const names = this.#cellNames
    const starts = op.bounds === 'both' ? valuesOfInput(input, bounds.starts) : NONE
    if (evaluation.held.isCrowded) await starts
    const [integrals, aggregates, first, last] = await Promise.all([
      op.integrals === undefined ? NOTHING : this.#integralsOf(bounds),
      names.length === 0 ? {} : this.#aggregatesOf(points, names),
      starts,
      op.bounds === 'both' ? valuesOfInput(input, bounds.ends) : NONE,
    ])
    await evaluation.pause()
    const isUncovered = op.bounds === 'end of uncovered' && integrals.coveredUs.some((length) => length === 0)
    return finite(
      op.fold({
        ...integrals,
        cells: aggregates,
        windows: points.windows,
        first: op.ofStart === true ? withoutCut(first, bounds) : first,
        last: isUncovered ? await valuesOfInput(input, bounds.ends) : last,
      }),
    )
  }

  async #integralsOf(bounds: WindowBounds): Promise<Integrals> {
    const { closed } = this.#integrals
    if (closed !== undefined) return closed(bounds.starts, bounds.ends)
    const { edges, windows } = signalCells(bounds)
    const { integrals, coveredUs } = await this.#integrals.over(edges.subarray(0, -1), edges.subarray(1))
    await this.context.evaluation.pause()
    return { integrals: windowIntegrals(integrals, windows), coveredUs: windowSums(coveredUs, windows) }
  }

  async #aggregatesOf({ edges }: Cells, names: readonly AggregateName[]): Promise<AggregateColumns> {
    if (edges.length < 2) return Object.fromEntries(names.map((name) => [name, NONE]))
    return aggregatesOf(this.input, edges, names, this.context)
  }

  /**
   * Whether values come from the windows' own stream: integrals that are worked out from points, and extremes of a
   * signal that may lie further out between raw points than at these.
   */
  get #isStreamed(): boolean {
    const { input } = this
    if (this.#options.op.integrals !== undefined)
      return this.varies !== 'nothing' && this.#integrals.isFromPoints
    const isInPoints = input.stepInterpolated !== undefined || input.varies === 'nothing'
    return this.#options.op.extreme !== undefined && !isInPoints
  }

  /** Aggregates of raw points that make up the windows. */
  get #cellNames(): readonly AggregateName[] {
    const { cells = [], extreme } = this.#options.op
    return extreme === undefined ? cells : [...cells, extreme]
  }

  /** From a stream the point comes with its status: each input would otherwise work its own value out once more. */
  protected override async findPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    if (this.#isNearByValues()) return super.findPoint(find, at)
    const time = await this.rawTime(find, at)
    return time === null ? null : this.#streamedPoint(time)
  }

  /** The point at a raw time. */
  async #streamedPoint(time: Instant): Promise<SinglePoint> {
    const to = clampInstant(time + 1)
    const page = this.context.evaluation.pagePoints(this.input.width)
    const stream = this.chunks({ from: time, to, order: 'asc', page, extent: 'all' })
    const raw = (await stream.next())?.raw
    return { time, value: raw?.values[0] ?? Number.NaN, bad: raw?.statuses[0] !== STATUS_OK }
  }

  async rawPoints(range: RawRange): Promise<RangeResult> {
    const { evaluation } = this.context
    if (!this.#isRawByValues(range.limit)) return rawPointsFromChunks(this, range, evaluation)
    const { points, more } = await rawPoints(this.input, range, evaluation)
    const { times, statuses } = range.order === 'asc' ? points : reverseColumns(points)
    const found = withValues({ times, statuses: statuses.slice() }, await this.valuesAt(times))
    return { points: range.order === 'asc' ? found : reverseColumns(found), more }
  }

  protected open(range: ChunkRange): ChunkStream {
    if (this.varies === 'nothing') return ConstantLeaf.valueAt(this, LAST_INSTANT, this.context).chunks(range)
    return streamOf(this.#stream(range, true).chunks())
  }

  #stream(range: ChunkRange, hasRawPoints: boolean): RollingStream {
    const { input, context, rangeEnds } = this
    const { op, window, isTotal } = this.#options
    const source = {
      input,
      closedIntegrals: op.integrals === undefined ? undefined : this.#integrals.closed,
      op,
      window,
      evaluation: context.evaluation,
      hasRawPoints,
      ownTimes: isTotal ? rangeEnds : [],
    }
    return new RollingStream(source, range)
  }

  protected ownTimes(find: FindPoint, at: Instant): readonly number[] {
    return this.#options.isTotal ? this.rangeEnds.filter((end) => isFound(end, find, at)) : []
  }

  protected override async findValue(find: FindPoint, at: Instant): Promise<boolean> {
    const { op, window } = this.#options
    if (op.ofNothing === true) return true
    const reach = goesBack(find) ? window.latestEnd(at) : window.earliestStart(at)
    return this.input.mayHaveValue(find, instantFromUs(reach))
  }

  #isNearByValues(): boolean {
    return this.#options.isTotal || this.#isBounded()
  }

  #isRawByValues(limit: number): boolean {
    return !this.#options.isTotal && limit <= MAX_RAW_BY_VALUES && this.#isBounded()
  }

  /**
   * Whether a value costs a number of points that is known without knowing its time: windows over a leaf that need not
   * be streamed, and differences of such values.
   */
  #isBounded(): boolean {
    const { op } = this.#options
    const { input } = this
    if (op.bounds === 'both' && op.extreme === undefined) {
      if (input instanceof RollingOperator) return input.#isBounded()
      if (input.varies !== 'data') return true
    }
    if (input.inputs.length > 0) return false
    this.#isBoundedKnown ??= this.#readsNoRange()
    return this.#isBoundedKnown
  }

  #readsNoRange(): boolean {
    let isBounded = true
    const sink: NeedSink = {
      need: (_, need) => this.input.needs(need, sink),
      read: ({ stored }) => {
        isBounded &&= stored === null
      },
      generate: () => {},
    }
    this.#valueNeeds(instantNeed(this.context.now), sink)
    return isBounded
  }
}

const NONE = new Float64Array(0)
const NOTHING: Integrals = { integrals: NONE, coveredUs: NONE }
