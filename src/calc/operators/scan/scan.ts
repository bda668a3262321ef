import { lowerBound, type PointColumns, sliceColumns } from '../../../series/columns.ts'
import type { EdgePoint } from '../../../series/interpolate.ts'
import type { FindPoint } from '../../../series/reads.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../../../time/instant.ts'
import { findRawPoint, goesBack, pageReach, passingNeeds } from '../../consumers/find-point.ts'
import { goodChunkNeeds, goodChunks } from '../../consumers/good-chunks.ts'
import { valuesFromChunks } from '../../consumers/stream.ts'
import { BaseOperator, type InputNeed } from '../../graph/base.ts'
import type { Chunk, ChunkRange, ChunkStream, Limit } from '../../graph/chunk.ts'
import { nearTo } from '../../graph/near.ts'
import { nearSink } from '../../graph/near-sink.ts'
import type { FindPlace, NeedSink, PointNeed } from '../../graph/need.ts'
import { DEEP_LEVELS, type Operator, type OperatorContext, type Traits } from '../../graph/operator.ts'
import type { SinglePoint } from '../../graph/point-source.ts'
import { joinVertices, type Vertices } from './join-vertices.ts'

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

  constructor(input: Operator, context: OperatorContext, traits: Pick<Traits, 'stepped' | 'linear'>) {
    const varies = input.varies === 'data' ? 'data' : 'time'
    super([input], context, { ...traits, varies, extrapolationLimits: input.extrapolationLimits })
    this.input = input
  }

  /** Vertices from raw points of the input. @param last the vertex before them */
  protected abstract derive(raw: PointColumns, last: EdgePoint | null): Derived
  /** Whether a raw point of the input makes a vertex. */
  protected abstract makesVertex(point: SinglePoint): boolean
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

  /** Points of the input that a page of so many raw points takes, at most. */
  protected pageCount(count: number): number {
    return count
  }

  /** The raw point of the input next to an instant that makes a vertex. */
  protected vertexPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    return findRawPoint(this.input, find, at, this.context.evaluation, (point) => this.makesVertex(point))
  }

  /** What `vertexPoint` needs. */
  protected vertexNeeds(place: FindPlace, sink: NeedSink): void {
    passingNeeds(this.input, place, sink)
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
        const to = instantFromUs(Math.min(need.to + 1, END_INSTANT))
        this.#rangeNeeds({ kind: 'chunks', from: need.from, to, beyond: 0 }, sink)
        break
      }
      case 'raw':
      case 'chunks':
        this.#rangeNeeds(need, sink)
    }
  }

  #rangeNeeds(need: InputNeed & { readonly kind: 'raw' | 'chunks' }, sink: NeedSink): void {
    const { from, to } = need
    const isBackwards = need.kind === 'raw' && need.order === 'desc'
    const lead = this.leadIn(from)
    if (need.kind === 'raw') {
      sink.need(this.input, { ...need, count: this.pageCount(need.count) })
      if (!isBackwards && lead < from)
        sink.need(this.input, { kind: 'chunks', from: lead, to: from, beyond: 0 })
    } else {
      sink.need(this.input, { ...need, from: lead })
      goodChunkNeeds(this.input, { from: lead, to }, sink)
    }
    if (isBackwards) {
      // Where a page that is read backwards begins is known only once it was read.
      const beginning = nearSink(sink, {
        ...nearTo(to, true, this.pageCount(need.count), pageReach(this.input, need)),
        floor: this.readFrom(from),
      })
      if (this.leadIn(to) < to)
        beginning.need(this.input, { kind: 'chunks', from: this.leadIn(to), to, beyond: 0 })
      this.vertexBeforeNeeds(to, beginning)
    } else this.vertexBeforeNeeds(from, sink)
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
    if (range.order === 'asc') return new ScanStream(this.#steps, range)
    if (range.extent === 'first') return new BackwardsStream(this.#steps, range)
    return this.#reversed(range)
  }

  /** A whole range backwards is read forwards and held in memory, so that nothing is read twice. */
  #reversed(range: ChunkRange): ChunkStream {
    const stream = this.chunks({ ...range, order: 'asc' })
    let all: Chunk[] | null = null
    return {
      next: async () => {
        if (all === null) {
          all = []
          for (let chunk = await stream.next(); chunk !== null; chunk = await stream.next()) {
            all.push(chunk)
            await this.context.evaluation.pause()
          }
        }
        return all.pop() ?? null
      },
    }
  }

  get #steps(): ScanSteps {
    const { isNeverBad }: Operator = this
    return {
      isDeep: this.levels >= DEEP_LEVELS,
      open: (asked) => {
        const range = this.inputRange(asked)
        return isNeverBad === true ? goodChunks(this.input, range) : this.input.chunks(range)
      },
      leadIn: (from) => this.leadIn(from),
      before: (at, carried) => this.vertexBefore(at, carried),
      derive: (raw, last) => this.derive(raw, last),
      firstVertex: (raw) => this.#firstVertex(raw),
      following: async (at) => {
        const point = at >= END_INSTANT ? null : await this.vertexPoint('after-or-at', at)
        return point === null ? null : pointColumns(point)
      },
      chunk: (input, from, derived, prev, next) => this.#chunk(input, from, derived, prev, next),
    }
  }

  #chunk(
    input: Chunk,
    from: Instant,
    { raw, vertices }: Derived,
    prev: EdgePoint | null,
    next: EdgePoint | null,
  ): Chunk {
    this.context.evaluation.charge(input.raw.times.length)
    const shape = { stepped: this.stepped, holdUntil: this.holdUntil() }
    const joined = (times: Float64Array, limit: Limit) =>
      joinVertices(vertices, prev, next, times, shape, limit)
    return this.chunkOf(input, { from, to: input.to, raw, valuesAt: joined })
  }

  #firstVertex(raw: PointColumns): PointColumns | null {
    const { times, values, statuses } = raw
    for (let i = 0; i < times.length; i++) {
      const point = { time: instantFromUs(times[i]!), value: values[i]!, bad: statuses[i] !== 0 }
      if (this.makesVertex(point)) return sliceColumns(raw, i, i + 1)
    }
    return null
  }
}

/** What a stream needs of its operator. */
interface ScanSteps {
  /** Whether there are many levels of operators inside. */
  readonly isDeep: boolean
  open(range: ChunkRange): ChunkStream
  leadIn(from: Instant): Instant
  before(at: Instant, carried: EdgePoint | null): Promise<EdgePoint | null>
  derive(raw: PointColumns, last: EdgePoint | null): Derived
  /** The first of raw points that makes a vertex. */
  firstVertex(raw: PointColumns): PointColumns | null
  /** The first raw point at or after an instant that makes a vertex. */
  following(at: Instant): Promise<PointColumns | null>
  chunk(input: Chunk, from: Instant, derived: Derived, prev: EdgePoint | null, next: EdgePoint | null): Chunk
}

/** Forwards: the last vertex is carried from chunk to chunk. */
class ScanStream implements ChunkStream {
  readonly #steps: ScanSteps
  readonly #range: ChunkRange
  readonly #input: ChunkStream
  /** Read and not worked on yet. */
  readonly #waiting: Chunk[] = []
  #last: EdgePoint | null = null
  #isBegun = false

  constructor(steps: ScanSteps, range: ChunkRange) {
    this.#steps = steps
    this.#range = range
    this.#input = steps.open({ ...range, from: steps.leadIn(range.from) })
  }

  async next(): Promise<Chunk | null> {
    const { from, extent, to, rawOnly } = this.#range
    // What comes after the range is looked up on the outermost level first: the levels inside then find what they need
    // of it in what was read for that, while each would read a bit more than the one inside of it the other way round.
    if (!this.#isBegun && this.#steps.isDeep && extent === 'all' && rawOnly !== true)
      await this.#steps.following(to)
    let input = this.#waiting.shift() ?? (await this.#input.next())
    while (input !== null && input.to <= from) {
      this.#carry(input.raw)
      input = await this.#input.next()
    }
    if (input === null) return null
    const begins = Math.max(from, input.from)
    const first = lowerBound(input.raw.times, begins)
    if (!this.#isBegun) {
      this.#isBegun = true
      this.#carry(sliceColumns(input.raw, 0, first))
      this.#last = await this.#steps.before(from, this.#last)
    }
    const prev = this.#last
    const derived = this.#steps.derive(sliceColumns(input.raw, first, input.raw.times.length), prev)
    this.#last = lastOf(derived) ?? prev
    const following = isClosed(this.#range, input, derived)
      ? null
      : extent === 'all'
        ? ((await this.#ahead()) ?? (await this.#steps.following(to)))
        : await this.#steps.following(input.to)
    const next = following === null ? null : firstVertex(this.#steps.derive(following, this.#last).vertices)
    return this.#steps.chunk(input, instantFromUs(begins), derived, prev, next)
  }

  #carry(raw: PointColumns): void {
    this.#last = lastOf(this.#steps.derive(raw, this.#last)) ?? this.#last
  }

  /** The next raw point that makes a vertex, as far as the range is read anyway. */
  async #ahead(): Promise<PointColumns | null> {
    for (let i = 0; ; i++) {
      if (i === this.#waiting.length) {
        const chunk = await this.#input.next()
        if (chunk === null) return null
        this.#waiting.push(chunk)
      }
      const found = this.#steps.firstVertex(this.#waiting[i]!.raw)
      if (found !== null) return found
    }
  }
}

/** Whether nothing is asked after the last vertex of a chunk. */
function isClosed({ rawOnly }: ChunkRange, { raw: { times } }: Chunk, { vertices }: Derived): boolean {
  return rawOnly === true && (times.length === 0 || times.at(-1) === vertices.times.at(-1))
}

/** The last chunks of a range: what was before each is looked up. */
class BackwardsStream implements ChunkStream {
  readonly #steps: ScanSteps
  readonly #range: ChunkRange
  readonly #input: ChunkStream

  constructor(steps: ScanSteps, range: ChunkRange) {
    this.#steps = steps
    this.#range = range
    this.#input = steps.open(range)
  }

  async next(): Promise<Chunk | null> {
    const input = await this.#input.next()
    if (input === null) return null
    const prev = await this.#before(input.from)
    const derived = this.#steps.derive(input.raw, prev)
    const following = isClosed(this.#range, input, derived) ? null : await this.#steps.following(input.to)
    const last = lastOf(derived) ?? prev
    const next = following === null ? null : firstVertex(this.#steps.derive(following, last).vertices)
    return this.#steps.chunk(input, input.from, derived, prev, next)
  }

  async #before(at: Instant): Promise<EdgePoint | null> {
    const start = this.#steps.leadIn(at)
    let last: EdgePoint | null = null
    if (start < at) {
      const lead = {
        from: start,
        to: at,
        order: 'asc',
        page: LEAD_PAGE,
        extent: 'all',
        rawOnly: true,
      } as const
      const stream = this.#steps.open(lead)
      for (let chunk = await stream.next(); chunk !== null; chunk = await stream.next()) {
        last = lastOf(this.#steps.derive(chunk.raw, last)) ?? last
      }
    }
    return this.#steps.before(at, last)
  }
}

/** Points of a page before a chunk that is read backwards. */
const LEAD_PAGE = 4_096

export function pointColumns({ time, value, bad }: SinglePoint): PointColumns {
  return {
    times: Float64Array.of(time),
    values: Float64Array.of(value),
    statuses: Uint8Array.of(Number(bad)),
  }
}

function firstVertex(vertices: Vertices): EdgePoint | null {
  return vertices.times.length === 0 ? null : vertexAt(vertices, 0)
}

export function lastOf({ vertices, last }: Derived): EdgePoint | null {
  return last ?? lastVertex(vertices)
}

function lastVertex(vertices: Vertices): EdgePoint | null {
  return vertices.times.length === 0 ? null : vertexAt(vertices, vertices.times.length - 1)
}

function vertexAt({ times, values }: Vertices, index: number): EdgePoint {
  return { time: times[index]!, value: values[index]! }
}
