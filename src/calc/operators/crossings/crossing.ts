import { NO_POINTS } from '../../../series/columns.ts'
import type { FindPoint } from '../../../series/reads.ts'
import { clampInstant, END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../../../time/instant.ts'
import {
  AT_PLACE,
  beginningOf,
  endNeeds,
  endOf,
  firstOf,
  goesBack,
  reachFrom,
} from '../../consumers/find-point.ts'
import { wholeRange } from '../../consumers/stream.ts'
import { BaseOperator, type InputNeed } from '../../graph/base.ts'
import { type Chunk, type ChunkRange, type ChunkStream, chunksWithin, streamOf } from '../../graph/chunk.ts'
import { operatorsBelow } from '../../graph/estimate.ts'
import { FAR, type Reach } from '../../graph/near.ts'
import { type FindPlace, instantNeed, type Need, type NeedSink, nearNeed } from '../../graph/need.ts'
import type { CurrentPoint, MovesOn, Operator, OperatorContext } from '../../graph/operator.ts'
import { pointOf, type SinglePoint } from '../../graph/point-source.ts'
import { MapOperator } from '../map/map.ts'
import { type AlignedChunks, type AlignedStream, breaksOf, unionStream } from '../union.ts'
import { comparedChunk, pairAt } from './compared-chunk.ts'
import { type Comparison, comparisonRule } from './comparison.ts'
import type { Pair } from './find-changes.ts'
import { wholeSegments } from './whole-segments.ts'

/** A range of one instant is read for a point next to it, and its own bounding points are those of others. */
const INSTANT_US = 1

/** Raw points of a page of what bends that come before its range, or are held back. */
const EDGE_POINTS = 2

/** What leaves nulls out goes on a microsecond after the end of an input, and has its crossing there. */
const AFTER_END_US = 2

/** Raw points of the inputs that are compared before others go on. */
const CHUNK_POINTS = 2_048

/**
 * The answer to a comparison of two inputs that do not both have step interpolation: 1 or 0, with step interpolation
 * between its raw points. These stand at the raw points of both, and at the first microsecond at which a crossing in
 * between has changed the answer. A change that lies nearer to the microsecond before has another raw point there, the
 * last with the answer that was, and counts from there; so times of a comparison that holds are exact to half a
 * microsecond, and wholly so for crossings at whole ones.
 * @source CALCULATIONS.md, section 2
 */
export class CrossingOperator extends BaseOperator {
  readonly #comparison: Comparison
  readonly #a: Operator
  readonly #b: Operator
  /** The same without crossings. */
  readonly isGapless: boolean
  readonly #pointwise: MapOperator
  #movesKnown: Moves | null | undefined

  constructor(comparison: Comparison, a: Operator, b: Operator, context: OperatorContext) {
    const pointwise = new MapOperator(comparisonRule(comparison), [a, b], context)
    const { inputs, varies, extrapolationLimits } = pointwise
    // What bends between its raw points may cross twice there, which is not looked for.
    super(inputs, context, { stepped: true, varies, linear: a.linear && b.linear, extrapolationLimits })
    this.#comparison = comparison
    this.#a = a
    this.#b = b
    this.#pointwise = pointwise
    this.isGapless = pointwise.isGapless
  }

  override reach(find: FindPoint, at: Instant | null): Reach {
    const reach = this.#pointwise.reach(find, at)
    return reach.isSure || this.#moves === null ? reach : FAR
  }

  override needs(need: Need, sink: NeedSink): void {
    if (need.kind === 'current') this.#pointwise.needs(need, sink)
    else super.needs(need, sink)
  }

  protected inputNeeds(need: InputNeed, sink: NeedSink): void {
    if (need.kind === 'values' || this.linear) this.#pointwise.needs(need, sink)
    else this.#wholeNeeds(need, sink)
    if (need.kind === 'values') return
    const count = need.kind === 'point' ? (need.count ?? 1) : need.kind === 'chunks' ? (need.ranges ?? 1) : 1
    // Where a page that is read backwards begins is known only once it was read.
    const isBackwards = need.kind === 'raw' && need.order === 'desc'
    const at = need.kind === 'point' ? need.at : isBackwards ? need.to : need.from
    if (need.kind === 'chunks' && need.beyond > 0 && need.to - need.from > INSTANT_US) {
      // The raw times beside it, which may be crossings.
      this.inputNeeds({ kind: 'point', find: 'before-or-at', at: need.from, timeOnly: true }, sink)
      this.inputNeeds({ kind: 'point', find: 'after-or-at', at: need.to, timeOnly: true }, sink)
    }
    const reach = this.#chunkReach(need)
    // What bends is read from a raw point on, and nothing is looked up there.
    const isRaw = !isBackwards && this.#beginsAtPoints
    for (const input of this.inputs) {
      if (need.kind === 'point' && at < END_INSTANT) {
        const to = instantFromUs(at + 1)
        sink.need(input, { kind: 'chunks', from: at, to, beyond: 1, ranges: count })
      }
      if (isRaw) continue
      // One microsecond before a chunk.
      const before = clampInstant(at - 1)
      const place = { find: 'before', at: before, count: isBackwards ? 2 : count } as const
      sink.need(
        input,
        reach === null && count === 1 ? instantNeed(before) : nearNeed(place, reach ?? AT_PLACE),
      )
    }
  }

  /** Whether what is read forwards begins at a raw point of the inputs. */
  get #beginsAtPoints(): boolean {
    return !this.linear && this.reach('before-or-at', null).isSure
  }

  /** What bends is read from the raw point before a range, or an instant, to the one after it. */
  #wholeNeeds(need: Exclude<InputNeed, { readonly kind: 'values' }>, sink: NeedSink): void {
    const place = { kind: 'point', timeOnly: true } as const
    if (need.kind === 'point') {
      this.#pointwise.needs(need, sink)
      const find = goesBack(need.find) ? 'after' : 'before-or-at'
      this.#pointwise.needs({ ...need, find, timeOnly: true }, sink)
      return
    }
    const { from, to } = need
    for (const [find, at] of [
      ['before-or-at', from],
      ['after-or-at', to],
    ] as const)
      this.#pointwise.needs({ ...place, find, at }, sink)
    if (this.#moves !== null) {
      this.#pointwise.needs({ ...place, find: 'after-or-at', at: from }, sink)
      this.#pointwise.needs({ ...place, find: 'before', at: to }, sink)
    }
    if (need.kind === 'chunks') {
      this.#pointwise.needs({ ...need, beyond: need.beyond + 1 }, sink)
      return
    }
    // A page goes on where its range ends if it gets there.
    this.#pointwise.needs({ ...need, to: clampInstant(to + 1), count: need.count + EDGE_POINTS }, sink)
    const at = need.order === 'asc' ? from : to
    const next = clampInstant(at + 1)
    if (at < next) this.#pointwise.needs({ kind: 'chunks', from: at, to: next, beyond: 1 }, sink)
  }

  /** How far back from the place of a need a chunk begins; `null` where that is the place. */
  #chunkReach(need: InputNeed): Reach | null {
    switch (need.kind) {
      case 'point':
        return goesBack(need.find) ? reachFrom(this, need) : null
      case 'raw':
        return need.order === 'desc' ? { mostUs: need.to - need.from, isSure: false } : null
      case 'chunks':
        return need.beyond > 0 ? this.reach('before', null) : null
      default:
        return FAR
    }
  }

  protected evaluate(times: Float64Array): Promise<Float64Array> {
    return this.#pointwise.valuesAt(times)
  }

  override currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null> {
    return this.#pointwise.currentPoint(find, at)
  }

  protected override async findTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    return (await this.#find(find, at))?.time ?? null
  }

  protected async findPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const found = await this.#find(find, at)
    return found === null ? null : (found.crossing ?? this.#pointwise.rawPoint(find, at))
  }

  /** That of the input which is next to the instant, or a crossing that is nearer. */
  override async goodBound(find: FindPoint, at: Instant): Promise<Instant | null> {
    const isBack = goesBack(find)
    const inputs = [this.#a, this.#b]
    const varying = inputs.filter(({ varies }) => varies !== 'nothing')
    if (inputs.some(({ signal }) => signal === undefined)) {
      const nearest = await this.rawTime(find, at)
      return isBack ? endOf(varying, nearest ?? MIN_INSTANT) : nearest
    }
    const bounds = await Promise.all(varying.map((input) => input.goodBound(find, at)))
    const found = bounds.filter((bound) => bound !== null)
    // Where one has no value yet, neither has the comparison.
    if (found.length === 0 || (isBack && found.length < bounds.length)) return null
    const bound = found.reduce((a, b) => (isBack === a > b ? a : b))
    const first = firstOf(find, at)
    const [from, to] = isBack ? [bound + 1, first + 1] : [first, bound]
    const crossing = await this.#crossingWithin(from, to, isBack)
    return crossing ?? (isBack ? endOf(varying, bound) : beginningOf(varying, bounds, bound))
  }

  protected override findValue(find: FindPoint, at: Instant): Promise<boolean> {
    return this.#pointwise.mayHaveValue(find, at)
  }

  override isBadWith(operator: Operator): boolean {
    return operator === this || this.#a.isBadWith(operator) || this.#b.isBadWith(operator)
  }

  override goodBoundNeeds(place: FindPlace, sink: NeedSink): void {
    const inputs = [this.#a, this.#b]
    if (inputs.some(({ signal }) => signal === undefined)) {
      // The place may be that of another need, of a current point.
      this.inputNeeds({ ...place, kind: 'point' }, sink)
      if (goesBack(place.find)) for (const input of inputs) endNeeds(input, place, sink)
      return
    }
    const { find, at, count = 1 } = place
    for (const input of inputs) {
      if (input.varies === 'nothing') continue
      input.goodBoundNeeds(place, sink)
      if (goesBack(find)) endNeeds(input, place, sink)
      // The good points beside what is passed by, and the value before it.
      sink.need(input, nearNeed({ find, at, count: 8 * count }))
    }
  }

  /** The first or last crossing of [from, to), in which no input has a good point. */
  async #crossingWithin(start: number, end: number, isLast: boolean): Promise<Instant | null> {
    if (start >= end) return null
    const { evaluation } = this.context
    const [from, to] = [instantFromUs(start), instantFromUs(end)]
    const [before, ...chunks] = await Promise.all([
      this.#lookUp(from),
      this.#a.signal!(from, to),
      this.#b.signal!(from, to),
    ])
    const aligned = { from, to, chunks, raws: chunks.map(({ raw }) => raw), times: NO_POINTS.times }
    const all = { ...aligned, ...breaksOf(chunks, from, to) }
    const { raw } = await comparedChunk(this.#comparison, all, before, this, evaluation)
    const time = raw.times.at(isLast ? -1 : 0)
    return time === undefined ? null : instantFromUs(time)
  }

  protected open(range: ChunkRange): ChunkStream {
    return streamOf(this.linear ? this.#crossings(range, this.#union(range)) : this.#whole(range))
  }

  #union(range: ChunkRange): AlignedStream {
    const streams = [this.#a.chunks(range), this.#b.chunks(range)]
    return unionStream(streams, range, Math.min(range.page, CHUNK_POINTS))
  }

  /**
   * Makes each chunk from aligned ones and from what was right before, which the chunk before knows in a range that is
   * read forwards.
   * @param ends where values begin and cease to change beyond the outermost raw points
   */
  async *#crossings(
    range: ChunkRange,
    union: AlignedStream,
    ends: readonly Instant[] = [],
  ): AsyncGenerator<Chunk, void> {
    const traits = { linear: this.linear, extrapolationLimits: [...this.extrapolationLimits, ...ends] }
    let earlier: AlignedChunks | null = null
    for await (const aligned of union) {
      const { from, times } = aligned
      // Where the range begins with a raw point, nothing depends on what was before it.
      const isBeginning = from === range.from && times[0] === from
      const before: Pair | null = earlier === null ? null : pairAt(earlier, earlier.to - 1)
      const known = before ?? (isBeginning ? null : await this.#lookUp(from))
      yield comparedChunk(this.#comparison, aligned, known, traits, this.context.evaluation)
      if (range.order === 'asc') earlier = aligned
    }
  }

  /**
   * Inputs that bend are read from the raw point before the range to the one after it, and cut at raw points alone: the
   * crossing of a segment does not depend on where it was cut.
   */
  async *#whole(range: ChunkRange): AsyncGenerator<Chunk, void> {
    const { from, to, extent, page } = range
    const wanted = extent === 'all' ? Number.POSITIVE_INFINITY : page - 1
    const [before, after] = await Promise.all([
      from === MIN_INSTANT ? null : this.#pointwise.rawTime('before-or-at', from),
      to === END_INSTANT ? null : this.#pointwise.rawTime('after-or-at', to),
    ])
    const [start, end] = await Promise.all([
      before === null ? this.#movesFrom(from) : null,
      after === null ? this.#movesUntil(to) : null,
    ])
    const isOpen = end !== null && this.#moves?.isGenerated !== true
    const whole: ChunkRange = {
      ...range,
      from: before ?? instantFromUs(Math.min(from, start ?? from)),
      to: after ?? (isOpen ? END_INSTANT : instantFromUs(Math.max(to, end ?? to))),
      page: extent === 'all' ? page : page + EDGE_POINTS,
    }
    const ends = [start, end].filter((end) => end !== null)
    const union = wholeSegments(this.#union(whole), whole, wanted)
    yield* chunksWithin(streamOf(this.#crossings(whole, union, ends)), range)
  }

  /** Where values begin to change, with no raw point of the inputs before an instant; `null` where they do not. */
  async #movesFrom(at: Instant): Promise<Instant | null> {
    const { beforeUs = 0 } = this.#moves ?? {}
    if (beforeUs === 0) return null
    const first = await this.#pointwise.rawTime('after-or-at', at)
    const start = Math.min(first ?? END_INSTANT, ...this.extrapolationLimits) - beforeUs - 1
    return clampInstant(start)
  }

  /** The same with none from an instant on: until when they change. */
  async #movesUntil(at: Instant): Promise<Instant | null> {
    if (this.#moves === null) return null
    const last = at === MIN_INSTANT ? null : await this.#pointwise.rawTime('before', at)
    const end =
      Math.max(last ?? MIN_INSTANT, ...this.extrapolationLimits) + this.#moves.afterUs + AFTER_END_US
    return clampInstant(end)
  }

  /** Both values one microsecond before an instant; `null` before the first accepted one. */
  async #lookUp(at: Instant): Promise<Pair | null> {
    if (at <= MIN_INSTANT) return null
    const times = Float64Array.of(at - 1)
    const [a, b] = await Promise.all([this.#a.valuesAt(times), this.#b.valuesAt(times)])
    return { a, b }
  }

  /**
   * How far there may be crossings beyond the outermost raw points, and `null` for none: windows move on, and what
   * leaves nulls out goes on when an input ends. All else keeps its value there until it has none.
   */
  get #moves(): Moves | null {
    if (this.#movesKnown === undefined) this.#movesKnown = movesOf(operatorsBelow([this]))
    return this.#movesKnown
  }

  /**
   * How far a search goes where no raw point of the inputs comes before an instant, or after it; `null` for nowhere.
   */
  async #limitOf(at: Instant, isBack: boolean): Promise<Instant | null> {
    if (this.#moves === null) return null
    if (!this.#moves.isGenerated) return isBack ? MIN_INSTANT : END_INSTANT
    return isBack ? this.#movesFrom(at) : this.#movesUntil(at)
  }

  async #find(find: FindPoint, at: Instant): Promise<Found | null> {
    const isBack = goesBack(find)
    const time = await this.#pointwise.rawTime(find, at)
    const first = firstOf(find, at)
    const end = time ?? (await this.#limitOf(at, isBack))
    if (end === null) return null
    const [from, to] = isBack ? [end, first + 1] : [first, end]
    const found = time === null ? null : { time, crossing: null }
    if (time === first || from >= to) return found
    const stream = this.chunks(wholeRange(from, to, this, this.context.evaluation))
    let crossing: SinglePoint | null = null
    for (let chunk = await stream.next(); chunk !== null; chunk = await stream.next()) {
      const { times } = chunk.raw
      const index = isBack ? times.length - 1 : 0
      if (times.length === 0 || times[index] === time) continue
      crossing = pointOf(chunk.raw, index)
      if (!isBack) break
    }
    return crossing === null ? found : { time: crossing.time, crossing }
  }
}

interface Moves extends MovesOn {
  /** Whether there are raw points for ever, which may all be BAD. */
  readonly isGenerated: boolean
}

function movesOf(operators: readonly Operator[]): Moves | null {
  const all = operators.flatMap(({ movesOn }) => movesOn ?? [])
  if (all.length === 0) return null
  return {
    beforeUs: all.reduce((sum, { beforeUs }) => sum + beforeUs, 0),
    afterUs: all.reduce((sum, { afterUs }) => sum + afterUs, 0),
    isGenerated: operators.some(({ inputs, varies }) => inputs.length === 0 && varies === 'time'),
  }
}

/** A raw time next to an instant, and the point there when it is a crossing and no raw point of the inputs. */
interface Found {
  readonly time: Instant
  readonly crossing: SinglePoint | null
}
