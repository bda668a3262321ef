import { lowerBound, mergeTimes, type PointColumns, STATUS_BAD } from '../../series/columns.ts'
import { type Instant, MIN_INSTANT } from '../../time/instant.ts'
import type { Chunk, ChunkRange, ChunkStream } from '../graph/chunk.ts'
import { type Evaluation, Pace } from '../graph/evaluation.ts'
import { DEEP_LEVELS, type Operator } from '../graph/operator.ts'
import { joinSegments, type Segments, vertexOf } from './join-segments.ts'
import { setValues, wholeRange } from './stream.ts'

/** What stands at a vertex of segments. */
export const GOOD_POINT = 0
export const BAD_POINT = 1
/** An end of the range or the end of a hold, where there is no raw point. */
export const NO_POINT = 2

const NO_TIMES = new Float64Array(0)

/** Leaves from which on a page of values takes long. */
const WIDE = 16

/** See SegmentReader. */
export interface SegmentOptions {
  /** Is given each chunk of the operator before its segments. */
  readonly onChunk?: (chunk: Chunk) => Promise<void> | void
  /**
   * Instants, ascending, at which a linear operator has a vertex, too: of where its segments are cut its own value then
   * depends neither on the range nor on its pages.
   */
  readonly edges?: Float64Array
  /**
   * Set where a linear operator is read from raw point to raw point, too: no segment is cut. Where there is no raw
   * point before the range, segments begin here, which is at or before the range.
   */
  readonly wholeFrom?: Instant
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
  readonly #onChunk: SegmentOptions['onChunk']
  readonly #wholeFrom: Instant | undefined
  readonly #edges: Float64Array
  readonly #pace = new Pace()
  #stream: ChunkStream | null = null
  #first = 0 as Instant
  #last = 0 as Instant
  /** The outermost raw points, once these were looked for. */
  #outermost: Promise<readonly [first: number, last: number]> | null = null
  /** The vertex that joins what was given with what comes. */
  #joining: Segments | null = null
  /** Ends of holds behind the last vertex, read forwards: they are vertices if there is no value at the next one. */
  #undecided: Segments | null = null
  /** Where holds end: at `now`, unless something moved them. Ascending. */
  readonly #extrapolationLimits: readonly Instant[]

  constructor(
    operator: Operator,
    evaluation: Evaluation,
    range: ChunkRange,
    { onChunk, edges = NO_TIMES, wholeFrom }: SegmentOptions = {},
  ) {
    this.#operator = operator
    this.#evaluation = evaluation
    this.#range = range
    this.#onChunk = onChunk
    this.#wholeFrom = wholeFrom
    this.#edges = operator.linear ? edges : NO_TIMES
    this.#extrapolationLimits = [...operator.extrapolationLimits].sort((a, b) => a - b)
  }

  /** The segments that join those before; `null` after the last. */
  async next(): Promise<Segments | null> {
    const stream = this.#stream ?? (await this.#open())
    for (;;) {
      const chunk = await stream.next()
      if (chunk === null) return null
      await this.#onChunk?.(chunk)
      const undecided = this.#undecided
      const vertices = this.#joined(undecided, await this.#verticesOf(chunk))
      const length = vertices.times.length
      if (length > 0) this.#joining = vertexOf(vertices, this.#range.order === 'asc' ? length - 1 : 0)
      if (length > 1) return vertices
      await this.#evaluation.pause()
    }
  }

  async #open(): Promise<ChunkStream> {
    const { from, to } = this.#range
    const isCut = this.#operator.linear && this.#wholeFrom === undefined
    const [before, after] = isCut
      ? [null, null]
      : await Promise.all([
          this.#operator.rawTime('before-or-at', from),
          this.#operator.rawTime('after-or-at', to),
        ])
    this.#first = before ?? this.#wholeFrom ?? from
    const isOpen = after === null && this.#operator.bendsBehind
    const bend = isOpen ? await this.#operator.outerBreak(to) : null
    this.#last = after ?? bend ?? to
    const reach = { from: this.#first, to: this.#last }
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
    const { breaks = NO_TIMES } = chunk
    const edges = this.#edges.subarray(lowerBound(this.#edges, chunk.from), lowerBound(this.#edges, chunk.to))
    const known = mergeTimes(mergeTimes(ownTimes, breaks), edges)
    const ends = await this.#endsIn(chunk, known)
    const further = [ends, await this.#endsBehind(chunk), await this.#outerIn(chunk)]
    const vertexTimes = further.reduce(mergeTimes, known)
    // Each can be a tile of many inputs.
    await this.#evaluation.pause()
    const after = await this.#afterVertices(chunk, vertexTimes, ownTimes.length)
    const at = ends.length === 0 ? after : after.slice()
    for (const end of ends) at[lowerBound(vertexTimes, end)] = Number.NaN
    await this.#evaluation.pause()
    const before = await this.#limitsAt(chunk, vertexTimes, 'before')
    return { times: vertexTimes, at, before, kinds: kindsOf(chunk.raw, vertexTimes) }
  }

  /** Where a hold ends in a segment of a chunk at whose later end there is no value any more, since it ended. */
  async #endsIn(chunk: Chunk, vertices: Float64Array): Promise<Float64Array> {
    const found: number[] = []
    for (const [i, end] of this.#extrapolationLimits.entries()) {
      const next = vertices[lowerBound(vertices, end)]
      if (end < chunk.from || end >= (next ?? chunk.to)) continue
      const value = await this.#limitBefore(chunk, end)
      if (Number.isNaN(value)) continue
      // A chunk may end before the next vertex: that of the later chunk, which was read before or comes next.
      const isForwards = this.#range.order === 'asc'
      const isOpen = next === undefined && isForwards
      const after = next === undefined ? this.#joining?.before[0] : await this.#limitBefore(chunk, next)
      if (!isOpen && after !== undefined && !Number.isNaN(after)) continue
      // Another hold that ends later is what ends the signal.
      const isLast = i === this.#extrapolationLimits.length - 1
      if (!isLast && !Number.isNaN(await this.#limitBefore(chunk, end + 1))) continue
      if (isOpen) this.#undecided = endAt(end, value)
      else found.push(end)
    }
    return Float64Array.from(found)
  }

  /** The limit from the left. */
  async #limitBefore(chunk: Chunk, time: number): Promise<number> {
    const [value] = chunk.valuesAt(Float64Array.of(time), 'before')
    // One value of windows inside each other takes some milliseconds.
    await this.#evaluation.pause()
    return value!
  }

  /**
   * Where inputs end behind the last raw point. There the signal goes on as it is, and that of what leaves nulls out
   * goes on with another value: after `now`, or after a last point beyond.
   */
  async #endsBehind(chunk: Chunk): Promise<Float64Array> {
    const [firstEnd] = this.#extrapolationLimits
    if (this.#operator.linear || firstEnd === undefined || chunk.to <= firstEnd) return NO_TIMES
    const [, last] = await this.#rawEnds()
    // A last point after `now` is held for no time.
    const lastPoint = chunk.raw.times.at(-1) ?? MIN_INSTANT
    const ends = lastPoint > firstEnd ? [lastPoint, ...this.#extrapolationLimits] : this.#extrapolationLimits
    const isIn = (time: number) => time >= chunk.from && time < chunk.to && time > last
    const behind = ends.flatMap((end) => [end, end + 1]).filter(isIn)
    return Float64Array.from(new Set(behind)).sort()
  }

  /** Outer breaks of a chunk that are vertices: those before all raw points of the signal, and behind all of them. */
  async #outerIn({ outerBreaks = NO_TIMES }: Chunk): Promise<Float64Array> {
    if (outerBreaks.length === 0) return NO_TIMES
    const [first, last] = await this.#rawEnds()
    return outerBreaks.filter((time) => time < first || time > last)
  }

  /** The first raw point of the signal and its last; infinite where one lies beyond the range. */
  #rawEnds(): Promise<readonly [first: number, last: number]> {
    this.#outermost ??= this.#findRawEnds()
    return this.#outermost
  }

  async #findRawEnds(): Promise<readonly [first: number, last: number]> {
    const operator = this.#operator
    const { from, to } = this.#range
    const [before, after] = await Promise.all([
      operator.rawTime('before-or-at', from),
      operator.rawTime('after-or-at', to),
    ])
    const [first, last] = await Promise.all([
      before === null ? operator.rawTime('after-or-at', from) : Number.NEGATIVE_INFINITY,
      after === null ? operator.rawTime('before', to) : Number.POSITIVE_INFINITY,
    ])
    return [first ?? Number.POSITIVE_INFINITY, last ?? Number.NEGATIVE_INFINITY]
  }

  /** Limits from the right: known at raw points, where no other vertices are but the ends of the range. */
  async #afterVertices(chunk: Chunk, times: Float64Array, own: number): Promise<Float64Array> {
    const { raw, isRightContinuous } = chunk
    if (isRightContinuous !== true || times.length > own) return this.#limitsAt(chunk, times, 'after')
    const first = Number(raw.times[0] !== times[0])
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

  /** With the vertex before or after them. */
  #joined(undecided: Segments | null, vertices: Segments): Segments {
    if (vertices.times.length === 0) return this.#joining ?? vertices
    const parts = [this.#joining, vertices].filter((part) => part !== null)
    if (undecided !== null && Number.isNaN(vertices.before[0]!)) parts.splice(-1, 0, undecided)
    if (this.#undecided === undecided) this.#undecided = null
    return joinSegments((this.#range.order === 'asc' ? parts : parts.reverse()) as readonly Segments[])
  }
}

/** Reads the whole of [from, to). @param take is given the segments, part by part, ascending */
export async function readSegments(
  operator: Operator,
  evaluation: Evaluation,
  from: number,
  to: number,
  take: (segments: Segments) => void,
  options?: SegmentOptions,
): Promise<void> {
  const reader = new SegmentReader(operator, evaluation, wholeRange(from, to, operator, evaluation), options)
  for (let segments = await reader.next(); segments !== null; segments = await reader.next()) {
    take(segments)
    await evaluation.pause()
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

/** Where a hold ends that has a value until then. */
function endAt(time: number, value: number): Segments {
  return {
    times: Float64Array.of(time),
    at: Float64Array.of(Number.NaN),
    before: Float64Array.of(value),
    kinds: Uint8Array.of(NO_POINT),
  }
}
