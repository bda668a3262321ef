import { type PointColumns, upperBound } from '../../../series/columns.ts'
import { type EdgePoint, valueBetween } from '../../../series/interpolate.ts'
import type { FindPoint } from '../../../series/reads.ts'
import { clampInstant, END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../../../time/instant.ts'
import { goesBack, pageReach } from '../../consumers/find-point.ts'
import { goodChunkNeeds, goodChunks } from '../../consumers/good-chunks.ts'
import { valuesFromChunks, wholeRange } from '../../consumers/stream.ts'
import { BaseOperator, type InputNeed, type OwnTraits } from '../../graph/base.ts'
import {
  type Chunk,
  type ChunkRange,
  type ChunkStream,
  clipped,
  type Limit,
  streamOf,
} from '../../graph/chunk.ts'
import { type Near, nearTo } from '../../graph/near.ts'
import { type FindPlace, type NeedSink, nearSink, type PointNeed } from '../../graph/need.ts'
import { DEEP_LEVELS, type Operator, type OperatorContext } from '../../graph/operator.ts'
import { columnsOf, edgeAt, type SinglePoint } from '../../graph/point-source.ts'
import { within } from '../union.ts'

/** Vertices of a signal; a value of NaN ends it until the next one. */
export interface Vertices {
  /** Ascending, distinct. */
  readonly times: Float64Array
  readonly values: Float64Array
}

/** What raw points of an input become. */
export interface Derived {
  readonly raw: PointColumns
  readonly vertices: Vertices
  /** The last of the vertices, where the next ones are made of more than its time and value. */
  readonly last?: EdgePoint | null
}

/**
 * An operator whose signal has vertices of its own, each made of a raw point of its input and of the vertex before it:
 * state is carried forward from chunk to chunk. Works on raw points only: no historian can compute it.
 */
export abstract class ScanOperator extends BaseOperator {
  protected readonly input: Operator

  constructor(
    input: Operator,
    context: OperatorContext,
    traits: Pick<OwnTraits, 'stepped' | 'linear' | 'bends'>,
  ) {
    const varies = input.varies === 'data' ? 'data' : 'time'
    super([input], context, { ...traits, varies, extrapolationLimits: input.extrapolationLimits })
    this.input = input
  }

  /** Vertices from raw points of the input. @param last the vertex before them */
  protected abstract derive(raw: PointColumns, last: EdgePoint | null): Derived
  /** The raw point of the input next to an instant that makes a vertex. */
  protected abstract vertexPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null>
  /** Whether `vertexPoint` finds none only where none follows at all. */
  protected get findsLast(): boolean {
    return true
  }

  /** What `vertexPoint` needs. */
  protected abstract vertexNeeds(place: FindPlace, sink: NeedSink): void
  /** The last vertex before an instant, looked up. @param carried what reading from `leadIn` on gave */
  protected abstract vertexBefore(at: Instant, carried: EdgePoint | null): Promise<EdgePoint | null>
  /** What `vertexBefore` needs beside the points from `leadIn` on. */
  protected abstract vertexBeforeNeeds(at: Instant, sink: NeedSink): void
  /** What the raw time next to an instant needs, and the raw point there. */
  protected abstract pointNeeds(need: PointNeed, sink: NeedSink): void

  /**
   * Where the input is read from for a range that begins at an instant; the instant itself when the state is looked up.
   */
  protected leadIn(from: Instant): Instant {
    return from
  }

  /** Before this instant there is neither a raw point nor a value, and nothing is read. */
  protected get beginning(): Instant {
    return MIN_INSTANT
  }

  /** Takes what is needed at a place that is known only when it was found, and is marked by others. */
  protected placed(_near: Near, sink: NeedSink): NeedSink {
    return sink
  }

  /** Points of the input that a page of so many raw points takes, at most. */
  protected pageCount(count: number): number {
    return count
  }

  /** Until when the last vertex holds: as long as anything of the input does. */
  protected holdUntil(): Instant {
    return this.extrapolationLimits.reduce((last, end) => (end > last ? end : last), MIN_INSTANT)
  }

  protected override get takesRawOnly(): boolean {
    return true
  }

  /** The range as it is read of the input, of which a scan takes nothing but raw points. */
  protected inputRange(range: ChunkRange): ChunkRange {
    return { ...range, rawOnly: true }
  }

  /** What the chunk of the scanned signal becomes, beside that of the input. */
  protected chunkOf(_input: Chunk, scanned: Chunk): Chunk {
    return scanned
  }

  protected inputNeeds(need: InputNeed, sink: NeedSink): void {
    switch (need.kind) {
      case 'point':
        this.pointNeeds(need, sink)
        break
      case 'values': {
        const to = clampInstant(need.to + 1)
        this.#rangeNeeds({ kind: 'chunks', from: need.from, to, beyond: 0 }, sink)
        break
      }
      case 'raw':
      case 'chunks':
        this.#rangeNeeds(need, sink)
    }
  }

  #rangeNeeds(asked: InputNeed & { readonly kind: 'raw' | 'chunks' }, sink: NeedSink): void {
    const need = { ...asked, from: this.#beginOf(asked) }
    const { from, to, rawOnly } = need
    const isBackwards = need.kind === 'raw' && need.order === 'desc'
    const lead = this.leadIn(from)
    if (need.kind === 'raw') {
      sink.need(this.input, { ...need, count: this.pageCount(need.count) })
      if (!isBackwards && lead < from)
        sink.need(this.input, { kind: 'chunks', from: lead, to: from, beyond: 0, rawOnly })
    } else {
      sink.need(this.input, { ...need, from: lead })
      goodChunkNeeds(this.input, { from: lead, to }, sink)
    }
    if (isBackwards) {
      // Where a page that is read backwards begins is known only once it was read.
      const near = nearTo(to, true, this.pageCount(need.count), pageReach(this.input, need))
      const beginning = nearSink(this.placed(near, sink), { ...near, floor: this.readFrom(from) })
      if (this.leadIn(to) < to)
        beginning.need(this.input, { kind: 'chunks', from: this.leadIn(to), to, beyond: 0, rawOnly })
      this.vertexBeforeNeeds(to, beginning)
    } else this.vertexBeforeNeeds(from, sink)
    // The last raw point is a vertex, and nothing is asked after it.
    if (rawOnly && this.isNeverBad) return
    if (to < END_INSTANT) this.vertexNeeds({ find: 'after-or-at', at: to }, sink)
    if (need.kind === 'raw') this.vertexNeeds({ find: 'after-or-at', at: from }, sink)
  }

  /** The last vertex may hold for longer than the input has values. */
  protected override async findValue(find: FindPoint, at: Instant): Promise<boolean> {
    return (!goesBack(find) && at <= this.holdUntil()) || this.input.mayHaveValue(find, at)
  }

  protected evaluate(times: Float64Array): Promise<Float64Array> {
    return valuesFromChunks(this, times, this.context.evaluation)
  }

  protected open(range: ChunkRange): ChunkStream {
    return streamOf(this.#chunks(range))
  }

  /** Where a range is read from; as late as it may, where all of it lies before the beginning. */
  #beginOf({ from, to }: { readonly from: Instant; readonly to: Instant }): Instant {
    return instantFromUs(Math.max(from, Math.min(this.beginning, to - 1)))
  }

  /** The vertex before each chunk is carried from the one before it, in a range that is read forwards, or looked up. */
  async *#chunks(range: ChunkRange): AsyncGenerator<Chunk, void> {
    const { to, order, extent, rawOnly } = range
    const from = this.#beginOf(range)
    const isForwards = order === 'asc'
    const stream = this.#openInput({ ...range, from: isForwards ? this.leadIn(from) : from })
    // What comes after the range is looked up on the outermost level first: the levels inside then find what they need
    // of it in what was read for that, while each would read a bit more than the one inside of it the other way round.
    if (this.levels >= DEEP_LEVELS && extent === 'all' && rawOnly !== true) await this.#following(to)
    let lead: EdgePoint | null = null
    /** What was found after an earlier chunk. */
    let following: PointColumns | null | undefined
    let carried: EdgePoint | null | undefined
    for (let read = await stream.next(); read !== null; read = await stream.next()) {
      if (read.from < from) lead = this.#lastOf(within(read.raw, read.from, from), lead)
      if (read.to <= from) continue
      const input = clipped(read, from, to)
      if (carried === undefined)
        carried = await (isForwards ? this.vertexBefore(from, lead) : this.vertexUpTo(input.from))
      const derived = this.derive(input.raw, carried)
      const last = lastOf(derived) ?? carried
      let next: EdgePoint | null = null
      if (!this.#isClosed(range, input, derived)) {
        if (!isForwards || !this.#isStillNext(following, input.to))
          following = await this.#following(input.to)
        next = this.#nextVertex(following ?? null, last)
      }
      const made = this.#chunk(input, derived, carried, next)
      yield made.from === from ? { ...made, from: range.from } : made
      carried = isForwards ? last : undefined
    }
  }

  #openInput(asked: ChunkRange): ChunkStream {
    const range = this.inputRange(asked)
    return this.isNeverBad ? goodChunks(this.input, range) : this.input.chunks(range)
  }

  /**
   * The last vertex before an instant, looked up: where that is a raw point of the input no later one must be looked
   * up.
   */
  protected async vertexUpTo(at: Instant): Promise<EdgePoint | null> {
    const from = this.leadIn(at)
    return this.vertexBefore(at, from < at ? await this.carriedOver(from, at) : null)
  }

  /** The last vertex once the raw points of [from, to) came after one. */
  protected async carriedOver(
    from: Instant,
    to: Instant,
    before: EdgePoint | null = null,
  ): Promise<EdgePoint | null> {
    const { evaluation } = this.context
    const stream = this.#openInput({ ...wholeRange(from, to, this.input, evaluation), rawOnly: true })
    let last = before
    for (let chunk = await stream.next(); chunk !== null; chunk = await stream.next()) {
      last = this.#lastOf(chunk.raw, last)
      await evaluation.pause()
    }
    return last
  }

  /** The last vertex once raw points came after it. */
  #lastOf(raw: PointColumns, last: EdgePoint | null): EdgePoint | null {
    return lastOf(this.derive(raw, last)) ?? last
  }

  /** Whether nothing is asked after the last vertex of a chunk: where no raw point is BAD, each is a vertex. */
  #isClosed({ rawOnly }: ChunkRange, { raw: { times } }: Chunk, { vertices }: Derived): boolean {
    const endsAtVertex = times.length === 0 || times.at(-1) === vertices.times.at(-1)
    return rawOnly === true && (this.isNeverBad || endsAtVertex)
  }

  /** Whether what was found after an earlier instant is the first after this one, too. */
  #isStillNext(following: PointColumns | null | undefined, at: Instant): boolean {
    if (following === undefined) return false
    return following === null ? this.findsLast : following.times[0]! >= at
  }

  /** The first raw point at or after an instant that makes a vertex. */
  async #following(at: Instant): Promise<PointColumns | null> {
    const point = at >= END_INSTANT ? null : await this.vertexPoint('after-or-at', at)
    return point === null ? null : columnsOf([point])
  }

  /** The vertex that a raw point makes. */
  #nextVertex(following: PointColumns | null, last: EdgePoint | null): EdgePoint | null {
    return following === null ? null : edgeAt(this.derive(following, last).vertices, 0)
  }

  #chunk(input: Chunk, { raw, vertices }: Derived, prev: EdgePoint | null, next: EdgePoint | null): Chunk {
    this.context.evaluation.charge(input.raw.times.length)
    const shape = { stepped: this.stepped, holdUntil: this.holdUntil() }
    const joined = (times: Float64Array, limit: Limit) =>
      joinVertices(vertices, prev, next, times, shape, limit)
    return this.chunkOf(input, { from: input.from, to: input.to, raw, valuesAt: joined })
  }
}

export function lastOf({ vertices, last }: Derived): EdgePoint | null {
  return last ?? edgeAt(vertices, vertices.times.length - 1)
}

/**
 * Values of a signal from its vertices; as valuesFromPoints of src/series, but a vertex without a value ends the
 * signal.
 * @param prev the vertex before all others, @param next the one after them; `null` when there is none
 */
function joinVertices(
  vertices: Vertices,
  prev: EdgePoint | null,
  next: EdgePoint | null,
  times: Float64Array,
  { stepped, holdUntil }: { readonly stepped: boolean; readonly holdUntil: Instant },
  limit: Limit,
): Float64Array {
  const { times: ownTimes, values: ownValues } = vertices
  const count = ownTimes.length
  const values = new Float64Array(times.length)
  const late = limit === 'before' ? 1 : 0
  let passed = times.length === 0 ? 0 : upperBound(ownTimes, times[0]! - late)
  // No objects: filters inside each other do this for each time on each level.
  for (let i = 0; i < times.length; i++) {
    const at = times[i]!
    const last = at - late
    while (passed < count && ownTimes[passed]! <= last) passed++
    const isBeyond = passed === count && next !== null && next.time <= last
    const isFirst = passed === 0
    const isLast = passed === count
    // A time of NaN is no vertex.
    const beforeTime = isBeyond ? next.time : isFirst ? (prev?.time ?? Number.NaN) : ownTimes[passed - 1]!
    const beforeValue = isBeyond ? next.value : isFirst ? (prev?.value ?? Number.NaN) : ownValues[passed - 1]!
    const afterTime = isBeyond ? Number.NaN : isLast ? (next?.time ?? Number.NaN) : ownTimes[passed]!
    if (!(beforeTime <= last)) values[i] = Number.NaN
    else if (beforeTime === at) values[i] = beforeValue
    else if (Number.isNaN(afterTime)) values[i] = at <= holdUntil ? beforeValue : Number.NaN
    else if (stepped) values[i] = beforeValue
    else {
      const afterValue = isLast ? next!.value : ownValues[passed]!
      values[i] = valueBetween(at, beforeTime, beforeValue, afterTime, afterValue)
    }
  }
  return values
}
