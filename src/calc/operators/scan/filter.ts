import type { PointColumns } from '../../../series/columns.ts'
import { type EdgePoint, goodPoints } from '../../../series/interpolate.ts'
import type { FindPoint } from '../../../series/reads.ts'
import { clampInstant, type Instant, instantFromUs, MIN_INSTANT } from '../../../time/instant.ts'
import {
  AT_PLACE,
  findNeeds,
  findRawPoint,
  goesBack,
  goodPageCount,
  reachFrom,
} from '../../consumers/find-point.ts'
import { wholeRange } from '../../consumers/stream.ts'
import type { InputNeed, OwnTraits } from '../../graph/base.ts'
import type { Chunk, ChunkRange } from '../../graph/chunk.ts'
import { FAR, inWindow, type Near, nearTo, notBefore, type Reach, readingFrom } from '../../graph/near.ts'
import { type FindPlace, type NeedSink, nearNeed, nearSink, type PointNeed } from '../../graph/need.ts'
import type { Operator, OperatorContext } from '../../graph/operator.ts'
import { pointOf, type SinglePoint } from '../../graph/point-source.ts'
import { reachOf } from '../../graph/reach.ts'
import { withValues } from '../own-times.ts'
import { FilterRun, type FilterState, LEAD_CELLS } from './filter-run.ts'
import { type Derived, ScanOperator } from './scan.ts'

/** The filter starts so many periods before the range. */
const START_PERIODS = 5

/** BAD points that are passed by where a good one is looked for, as far as they are estimated. */
const BAD_ALLOWED = 4

/** Where a filter starts for a range. @param periodUs its cut-off period */
export function startOfFilter(from: Instant, periodUs: number): Instant {
  return clampInstant(Math.ceil(from - START_PERIODS * periodUs))
}

/**
 * First-order low-pass over the good raw points of its input, linear between them. Its raw points are those points,
 * from the start of the filter on; before it there is no value.
 * @source CALCULATIONS.md, section 6
 */
export class LowPassOperator extends ScanOperator {
  /** Its raw points are the good ones of its input. */
  override get isNeverBad(): boolean {
    return true
  }

  protected readonly start: Instant
  readonly #run: FilterRun

  /** @param periodUs cut-off period in microseconds, above 0 */
  constructor(
    input: Operator,
    periodUs: number,
    context: OperatorContext,
    traits: Pick<OwnTraits, 'linear' | 'bends'> = { linear: true },
  ) {
    super(input, context, { stepped: false, ...traits })
    this.#run = new FilterRun(periodUs)
    this.start = startOfFilter(reachOf(context).from, periodUs)
  }

  protected override get beginning(): Instant {
    return this.start
  }

  /** Nothing is read before the start of the filter. */
  protected override readFrom(_at: Instant): Instant {
    return this.start
  }

  override reach(find: FindPoint, at: Instant | null): Reach {
    return this.input.isNeverBad && (at === null || at >= this.start) ? this.input.reach(find, at) : FAR
  }

  protected override inputNeeds(need: InputNeed, sink: NeedSink): void {
    if (need.near === undefined || need.kind === 'point') super.inputNeeds(need, sink)
    else {
      // The place is marked by the sink, and is not to be marked again.
      const { near, ...unplaced } = need
      const below = nearSink(sink, notBefore(near, this.start))
      super.inputNeeds(unplaced, this.placed(readingFrom(near, need.from), below))
    }
  }

  /** A place is read from the beginning of a cell on, and from that of the cell before where it may lie in another. */
  protected override placed(near: Near, sink: NeedSink): NeedSink {
    const start = this.#run.cellBefore(near.from, 0)
    const cellUs = start - this.#run.cellBefore(near.from, 1)
    return nearSink(sink, inWindow(near, start, Number.POSITIVE_INFINITY, cellUs))
  }

  protected override async findTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    const isEarly = at < this.start
    if (isEarly && goesBack(find)) return null
    const [first, from] = isEarly ? (['after-or-at', this.start] as const) : [find, at]
    const time = await this.#goodTime(first, from)
    return time === null || time < this.start ? null : time
  }

  /** The time of a good raw point of the input, without its value where all of them are good. */
  async #goodTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    if (this.input.isNeverBad) return this.input.rawTime(find, at)
    return (await findRawPoint(this.input, find, at, this.context.evaluation))?.time ?? null
  }

  /** What `findTime` needs from the start on. */
  #goodTimeNeeds(place: FindPlace, sink: NeedSink): void {
    const { find, at, count = 1 } = place
    if (this.input.isNeverBad) sink.need(this.input, { kind: 'point', find, at, count, timeOnly: true })
    else findNeeds(this.input, place, sink)
  }

  protected async findPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const time = await this.findTime(find, at)
    if (time === null) return null
    if (time < this.start) return { time, value: Number.NaN, bad: true }
    const range = wholeRange(time, time + 1, this, this.context.evaluation)
    const { raw } = (await this.chunks({ ...range, rawOnly: true }).next())!
    return pointOf(raw, 0)
  }

  protected pointNeeds(need: PointNeed, sink: NeedSink): void {
    const { find, at } = need
    if (at >= this.start) this.#goodTimeNeeds(need, sink)
    else if (!goesBack(find)) this.#goodTimeNeeds({ find: 'after-or-at', at: this.start }, sink)
    if (need.timeOnly) return
    const place = { ...need, at: at < this.start ? this.start : at }
    const passing = this.#passedBy === 0 ? AT_PLACE : FAR
    const passed = nearTo(place.at, goesBack(find), this.#passedBy, passing)
    const { from, near } = nearNeed(place, reachFrom(this, place))
    const found = { from, to: clampInstant(place.at + 1), near }
    this.inputNeeds({ kind: 'chunks', ...found, beyond: 0, rawOnly: true }, nearSink(sink, passed))
  }

  /** BAD points that are passed by on the way to a good one. */
  get #passedBy(): number {
    return this.input.isNeverBad ? 0 : BAD_ALLOWED
  }

  /** Any good one: none is looked for before the start of the filter. */
  protected vertexPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    return findRawPoint(this.input, find, at, this.context.evaluation)
  }

  protected vertexNeeds(place: FindPlace, sink: NeedSink): void {
    findNeeds(this.input, place, sink)
  }

  protected derive(input: PointColumns, last: EdgePoint | null): Derived {
    const { times: all, values: inputs } = goodPoints(input)
    let first = 0
    while (first < all.length && all[first]! < this.start) first++
    const times = all.subarray(first)
    const values = new Float64Array(times.length)
    // Nothing but its own states comes back.
    const state = this.#run.run(times, inputs.subarray(first), values, last as FilterState | null)
    const raw = { times, values, statuses: new Uint8Array(times.length) }
    return { raw, vertices: { times, values }, last: state }
  }

  protected override pageCount(count: number): number {
    return this.input.isNeverBad ? count : goodPageCount(count)
  }

  protected override leadIn(from: Instant): Instant {
    return from <= this.start ? from : this.#notBeforeStart(this.#run.cellBefore(from, LEAD_CELLS))
  }

  protected async vertexBefore(at: Instant, carried: EdgePoint | null): Promise<EdgePoint | null> {
    if (at <= this.start) return null
    if (this.leadIn(at) === this.start) return carried
    const state = carried as FilterState | null
    if (state !== null && this.#run.isInLead(state, at) && this.#run.isWhole(state)) return state
    // A gap in the input: what counts is what lies before it.
    const last = state ?? (await this.#lastGood(at))
    return last === null || last.time < this.start ? null : this.#stateAt(last.time)
  }

  /** The last good raw point of the input before an instant, from the start on: none before it is worked out. */
  async #lastGood(at: Instant): Promise<SinglePoint | null> {
    const time = await this.input.rawTime('before', at)
    if (time === null || time < this.start) return null
    const point = await findRawPoint(this.input, 'before', at, this.context.evaluation)
    return point === null || point.time < this.start ? null : point
  }

  /** The state at a good raw point of the input. */
  async #stateAt(time: number): Promise<FilterState | null> {
    const from = this.#notBeforeStart(this.#run.beginningFor(time))
    const to = instantFromUs(time + 1)
    const state = (await this.carriedOver(from, to)) as FilterState | null
    if (state === null || from === this.start || this.#run.isWhole(state)) return state
    const before = await this.#lastGood(from)
    if (before === null) return state
    return this.carriedOver(from, to, this.#run.begin(before.time, before.value)) as Promise<FilterState>
  }

  protected vertexBeforeNeeds(at: Instant, sink: NeedSink): void {
    const lead = this.leadIn(at)
    if (at <= this.start || lead === this.start) return
    findNeeds(this.input, { find: 'before', at }, sink)
    // Behind a gap, the periods before it.
    const near = { ...nearTo(at, true, 1 + this.#passedBy, { mostUs: at - this.start }), floor: this.start }
    const from = this.#notBeforeStart(this.#run.beginningFor(at))
    nearSink(sink, near).need(this.input, { kind: 'chunks', from, to: at, beyond: 0 })
  }

  #notBeforeStart(at: number): Instant {
    return instantFromUs(Math.max(this.start, at))
  }
}

/**
 * The input less its low-pass, with the raw points of the input. Reads the input once for both, so that filters inside
 * each other do not read theirs again and again.
 */
export class HighPassOperator extends LowPassOperator {
  /** Its raw points are BAD before the start. */
  protected override get beginning(): Instant {
    return MIN_INSTANT
  }

  protected override readFrom(at: Instant): Instant {
    return instantFromUs(Math.min(this.start, at))
  }

  override get isNeverBad(): boolean {
    return false
  }

  override reach(find: FindPoint, at: Instant | null): Reach {
    return this.input.reach(find, at)
  }

  protected override inputNeeds(need: InputNeed, sink: NeedSink): void {
    super.inputNeeds(need, sink)
    // The points before the start, if the place is moved there. The sink marks it.
    if (need.near !== undefined && need.kind === 'chunks') sink.need(this.input, { ...need, near: undefined })
  }

  protected override pageCount(count: number): number {
    return count
  }

  /** The input's values are taken where its own are asked for. */
  protected override inputRange(range: ChunkRange): ChunkRange {
    return range
  }

  constructor(input: Operator, periodUs: number, context: OperatorContext) {
    super(input, periodUs, context, { linear: input.linear, bends: 'with inputs' })
  }

  protected override findTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    return this.input.rawTime(find, at)
  }

  /** A good one of the input: none is looked for before the start of the filter, where all of its points are BAD. */
  override async goodPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const isEarly = at < this.start
    if (isEarly && goesBack(find)) return null
    const [first, from] = isEarly ? (['after-or-at', this.start] as const) : [find, at]
    const point = await findRawPoint(this.input, first, from, this.context.evaluation)
    return point === null || point.time < this.start ? null : this.rawPoint('before-or-at', point.time)
  }

  protected override pointNeeds(need: PointNeed, sink: NeedSink): void {
    sink.need(this.input, need)
    if (need.timeOnly) return
    this.inputNeeds(nearNeed(need, reachFrom(this, need)), sink)
  }

  protected override chunkOf(input: Chunk, low: Chunk): Chunk {
    const valuesAt: Chunk['valuesAt'] = (times, limit) => {
      // A column of its own, which becomes the result.
      const values = low.valuesAt(times, limit)
      const inputs = input.valuesAt(times, limit)
      for (let i = 0; i < values.length; i++) values[i] = finite(inputs[i]! - values[i]!)
      return values
    }
    const { times, values: inputs, statuses } = input.raw
    const less = low.valuesAt(times, 'at')
    const values = inputs.map((value, i) => finite(value - less[i]!))
    const raw = withValues({ times, statuses: statuses.slice() }, values)
    return { ...input, raw, valuesAt }
  }
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : Number.NaN
}
