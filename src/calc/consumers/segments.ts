import { lowerBound, mergeTimes, type PointColumns, STATUS_BAD } from '../../series/columns.ts'
import type { Instant } from '../../time/instant.ts'
import type { Chunk, ChunkRange, ChunkStream } from '../graph/chunk.ts'
import { type Evaluation, Pace } from '../graph/evaluation.ts'
import { DEEP_LEVELS, type Operator } from '../graph/operator.ts'
import { joinFilled, joinSegments, type Segments, sliceSegments } from './join-segments.ts'
import { OuterVertices, withVertices } from './outer-vertices.ts'
import { setValues } from './stream.ts'

/** What stands at a vertex of segments. */
export const GOOD_POINT = 0
export const BAD_POINT = 1
/** An end of the range or the end of a hold, where there is no raw point. */
export const NO_POINT = 2

/** Leaves from which on a page of values takes long. */
const WIDE = 16

interface Vertex {
  readonly time: number
  readonly at: number
  readonly before: number
  readonly kind: number
}

/**
 * Segment iterator: reads an operator as linear segments between its raw points, chunk by chunk; chunks join. An
 * operator that is not linear is read from the raw point before the range to the one after it, so that its integrals do
 * not depend on where the range was cut; the first and last segments then reach out of the range.
 * @source CALCULATIONS.md, section 2
 */
export class SegmentReader {
  readonly #operator: Operator
  readonly #evaluation: Evaluation
  readonly #range: ChunkRange
  readonly #onChunk: (chunk: Chunk) => Promise<void> | void
  readonly #pace = new Pace()
  #stream: ChunkStream | null = null
  #first = 0 as Instant
  #last = 0 as Instant
  /** Whether there is a raw point at `#last`, which the chunks leave out. */
  #endsRaw = false
  /** Set where outer breaks are vertices: where no raw point lies before the range, or none behind it. */
  #outer: OuterVertices | null = null
  /** The vertex that joins what was given with what comes. */
  #joining: Vertex | null = null
  /** Where holds end: at `now`, unless something moved them. Ascending. */
  readonly #extrapolationLimits: readonly Instant[]
  /** The signal where each hold ends, once the chunk that has it was read. */
  readonly #atEnds: (Vertex | null)[]
  /**
   * The signal a microsecond later, and a microsecond after the last raw point of the latest chunk if beyond an end.
   */
  readonly #afterEnds: (Vertex | null)[]
  #afterRaw: Vertex | null = null

  constructor(
    operator: Operator,
    evaluation: Evaluation,
    range: ChunkRange,
    onChunk: (chunk: Chunk) => Promise<void> | void = () => {},
  ) {
    this.#operator = operator
    this.#evaluation = evaluation
    this.#range = range
    this.#onChunk = onChunk
    this.#extrapolationLimits = [...operator.extrapolationLimits].sort((a, b) => a - b)
    this.#atEnds = this.#extrapolationLimits.map(() => null)
    this.#afterEnds = this.#extrapolationLimits.map(() => null)
  }

  /** The segments that join those before; `null` after the last. */
  async next(): Promise<Segments | null> {
    const stream = this.#stream ?? (await this.#open())
    for (;;) {
      const chunk = await stream.next()
      if (chunk === null) return null
      await this.#onChunk(chunk)
      const vertices = await this.#settled(chunk, await this.#verticesOf(chunk))
      const length = vertices.times.length
      if (length > 0) this.#joining = vertexAt(vertices, this.#range.order === 'asc' ? length - 1 : 0)
      if (length > 1) return vertices
      await this.#evaluation.pause()
    }
  }

  async #open(): Promise<ChunkStream> {
    const { from, to, wantedFrom = from, wantedTo = to } = this.#range
    const [before, after] = this.#operator.linear
      ? [null, null]
      : await Promise.all([
          this.#operator.rawTime('before-or-at', from),
          this.#operator.rawTime('after-or-at', to),
        ])
    this.#first = before ?? from
    const isOpen = after === null && this.#operator.bendsBehind
    const bend = isOpen ? await this.#operator.outerBreak(to) : null
    this.#last = after ?? bend ?? to
    this.#endsRaw = after !== null
    if (!this.#operator.linear && (before === null || after === null))
      this.#outer = new OuterVertices(this.#range.order, before === null, after === null)
    const reach = { from: this.#first, to: this.#last, wantedFrom, wantedTo }
    this.#stream = this.#operator.chunks({ ...this.#range, ...reach })
    return this.#stream
  }

  /** The raw points of a chunk, and the end of the range where the chunk has it. */
  async #verticesOf(chunk: Chunk): Promise<Segments> {
    const { times } = chunk.raw
    const opens = chunk.from === this.#first && times[0] !== this.#first
    const closes = chunk.to === this.#last
    const ownTimes = new Float64Array(times.length + Number(opens) + Number(closes))
    ownTimes.set(times, Number(opens))
    if (opens) ownTimes[0] = this.#first
    if (closes) ownTimes[ownTimes.length - 1] = this.#last
    const { breaks } = chunk
    const vertexTimes = breaks === undefined ? ownTimes : mergeTimes(ownTimes, breaks)
    for (const [i, end] of this.#extrapolationLimits.entries()) {
      this.#atEnds[i] = (await this.#vertexIn(chunk, end)) ?? this.#atEnds[i]!
      this.#afterEnds[i] = (await this.#vertexIn(chunk, end + 1)) ?? this.#afterEnds[i]!
    }
    const lastRaw = times.at(-1)
    if (lastRaw !== undefined) {
      const isBeyond = this.#extrapolationLimits.length > 0 && lastRaw > this.#extrapolationLimits[0]!
      this.#afterRaw = isBeyond ? await this.#vertexIn(chunk, lastRaw + 1) : null
    }
    // Each can be a tile of many inputs.
    await this.#evaluation.pause()
    const at = await this.#afterVertices(chunk, vertexTimes, Number(opens))
    await this.#evaluation.pause()
    const before = await this.#limitsAt(chunk, vertexTimes, 'before')
    return { times: vertexTimes, at, before, kinds: kindsOf(chunk.raw, vertexTimes) }
  }

  /** Limits from the right at the raw points of a chunk, and at its ends where they are vertices. */
  async #afterVertices(chunk: Chunk, times: Float64Array, first: number): Promise<Float64Array> {
    const { raw, isRightContinuous, breaks } = chunk
    if (isRightContinuous !== true || breaks !== undefined) return this.#limitsAt(chunk, times, 'after')
    const values = new Float64Array(times.length)
    values.set(raw.values, first)
    if (first > 0) values[0] = chunk.valuesAt(times.subarray(0, 1), 'after')[0]!
    const last = times.length - 1
    if (last >= first + raw.times.length) values[last] = chunk.valuesAt(times.subarray(last), 'after')[0]!
    return values
  }

  /** In steps where much is inside of the operator: all levels would work a whole page out in one turn. */
  async #limitsAt(chunk: Chunk, times: Float64Array, limit: 'before' | 'after'): Promise<Float64Array> {
    const { levels, width } = this.#operator
    if (levels < DEEP_LEVELS && width < WIDE) return chunk.valuesAt(times, limit)
    const values = new Float64Array(times.length)
    await setValues(values, times, (part) => chunk.valuesAt(part, limit), this.#evaluation, this.#pace)
    return values
  }

  /** The vertices of a chunk as segments that join those before, as far as they are settled. */
  async #settled(chunk: Chunk, vertices: Segments): Promise<Segments> {
    if (this.#outer === null) return this.#joined(vertices)
    const isAscending = this.#range.order === 'asc'
    const isLast = isAscending ? chunk.to === this.#last : chunk.from === this.#first
    const outer = await this.#verticesAt(chunk, chunk.outerBreaks ?? NO_TIMES)
    const { segments, beyond } = this.#outer.add({ vertices, outer, raw: chunk.raw.times, isLast })
    if (beyond.times.length === 0) return segments.times.length === 0 ? segments : this.#joined(segments)
    const joining = isAscending && this.#joining !== null ? insert(segments, 0, this.#joining) : segments
    const start = joining.times.at(-1) ?? beyond.times[0]!
    const ends = [this.#afterRaw, ...this.#atEnds, ...this.#afterEnds].filter(
      (vertex) => vertex !== null && vertex.time > start && vertex.time < this.#last,
    )
    const whole = ends.reduce((all, vertex) => withVertices(all, vertexAlone(vertex!)), beyond)
    return joining.times.length === 0 ? whole : joinSegments([this.#withEndOfHold(joining), whole])
  }

  async #verticesAt(chunk: Chunk, times: Float64Array): Promise<Segments> {
    const at = await this.#limitsAt(chunk, times, 'after')
    const before = await this.#limitsAt(chunk, times, 'before')
    return { times, at, before, kinds: new Uint8Array(times.length).fill(NO_POINT) }
  }

  async #vertexIn(chunk: Chunk, time: number): Promise<Vertex | null> {
    if (time < chunk.from || time > chunk.to) return null
    const times = Float64Array.of(time)
    const at = chunk.valuesAt(times, 'after')[0]!
    // One value of windows inside each other takes some milliseconds.
    await this.#evaluation.pause()
    const before = chunk.valuesAt(times, 'before')[0]!
    await this.#evaluation.pause()
    return { time, at, before, kind: NO_POINT }
  }

  /** With the breakpoint before or after them, and with vertices where holds end. */
  #joined(vertices: Segments): Segments {
    const joining = this.#joining
    const whole =
      joining === null
        ? vertices
        : this.#range.order === 'asc'
          ? insert(vertices, 0, joining)
          : insert(vertices, vertices.times.length, joining)
    // A signal that ends with a hold can go on later in the same chunk, after a crossing.
    const held = this.#withEndOfHold(whole)
    return this.#isOpen(held) ? this.#withBreaks(held) : held
  }

  /** Whether the last segment is that after the last raw point, and has a value at its end. */
  #isOpen({ times, before, kinds }: Segments): boolean {
    const last = times.length - 1
    const isRaw = kinds[last] !== NO_POINT || (this.#endsRaw && times[last] === this.#last)
    return last > 0 && !isRaw && times[last] === this.#last && !Number.isNaN(before[last]!)
  }

  /**
   * With vertices in the segment after the last raw point. There the signal goes on as it is, and that of what leaves
   * nulls out goes on with another value where an input ends: after `now`, or after a last point beyond.
   */
  #withBreaks(vertices: Segments): Segments {
    const start = vertices.times.at(-2)!
    return [this.#afterRaw, ...this.#afterEnds, ...this.#atEnds].reduce((vertices, vertex) => {
      const after = vertex === null || vertex.time < start ? null : segmentAround(vertices, vertex.time)
      return vertex === null || after === null ? vertices : insert(vertices, after, vertex)
    }, vertices)
  }

  /** With a vertex where a hold ends in a segment at whose later end there is no value any more, since it ended. */
  #withEndOfHold(vertices: Segments): Segments {
    return this.#atEnds.reduce((vertices, vertex, i) => {
      const after = vertex === null ? null : segmentAround(vertices, vertex.time)
      if (vertex === null || after === null || Number.isNaN(vertex.before)) return vertices
      const later = this.#afterEnds[i]
      // Another hold that ends later in the same segment is what ends the signal.
      if (i + 1 < this.#atEnds.length && later != null && !Number.isNaN(later.before)) return vertices
      const ends = !Number.isNaN(vertices.at[after - 1]!) && Number.isNaN(vertices.before[after]!)
      return ends ? insert(vertices, after, { ...vertex, at: Number.NaN }) : vertices
    }, vertices)
  }
}

/** What stands at each of some times that hold all raw ones. */
function kindsOf({ times, statuses }: PointColumns, vertices: Float64Array): Uint8Array {
  const kinds = new Uint8Array(vertices.length).fill(NO_POINT)
  let index = 0
  for (let i = 0; i < times.length; i++) {
    while (vertices[index]! < times[i]!) index++
    kinds[index] = statuses[i] === STATUS_BAD ? BAD_POINT : GOOD_POINT
  }
  return kinds
}

/** Index of the later end of the segment that holds a time between its ends; `null` when none does. */
function segmentAround({ times }: Segments, time: number): number | null {
  if (times.length < 2 || time <= times[0]! || time >= times.at(-1)!) return null
  const after = lowerBound(times, time)
  return times[after] === time ? null : after
}

function vertexAt({ times, at, before, kinds }: Segments, index: number): Vertex {
  return { time: times[index]!, at: at[index]!, before: before[index]!, kind: kinds[index]! }
}

const NO_TIMES = new Float64Array(0)

function vertexAlone({ time, at, before, kind }: Vertex): Segments {
  return {
    times: Float64Array.of(time),
    at: Float64Array.of(at),
    before: Float64Array.of(before),
    kinds: Uint8Array.of(kind),
  }
}

function insert(segments: Segments, index: number, vertex: Vertex): Segments {
  const early = sliceSegments(segments, 0, index)
  return joinFilled([early, vertexAlone(vertex), sliceSegments(segments, index, segments.times.length)])
}
