import {
  concatColumns,
  lowerBound,
  NO_POINTS,
  type PointColumns,
  sliceColumns,
  upperBound,
} from '../../../series/columns.ts'
import { type Instant, instantFromUs } from '../../../time/instant.ts'
import { joinSegments, type Segments, segmentsWithin } from '../../consumers/join-segments.ts'
import { SegmentReader } from '../../consumers/segments.ts'
import { type Chunk, type ChunkRange, joinedValues, type Limit } from '../../graph/chunk.ts'
import type { Evaluation } from '../../graph/evaluation.ts'
import type { Operator } from '../../graph/operator.ts'
import { ascends, distinctTimes, valuesOf } from './indexes.ts'

/** A part of the input in memory. */
export interface BufferedPart {
  readonly from: number
  readonly to: number
  /** Ascending; each begins where the one before ends. They may reach further. */
  readonly chunks: readonly Chunk[]
  /** The signal as integrals take it; `null` when it was not read as such. */
  readonly segments: Segments | null
  readonly raw: PointColumns
}

/** The input of rolling windows in memory, as far as it was read and is still needed. */
export class BufferedInput {
  #chunks: readonly Chunk[] = []
  /** Joined lazily: each page would otherwise copy all before it. */
  #segments: readonly Segments[] = []
  #raw: PointColumns | null = null

  /** The signal as integrals take it; `null` when it was not read as such. */
  get segments(): Segments | null {
    if (this.#segments.length === 0) return null
    const joined = joinSegments(this.#segments)
    this.#segments = [joined]
    return joined
  }

  /** Raw points that are held. */
  get length(): number {
    return this.#chunks.reduce((count, { raw }) => count + raw.times.length, 0)
  }

  /** Raw points of [from, to). */
  countWithin(from: number, to: number): number {
    const { times } = this.raw
    return lowerBound(times, to) - lowerBound(times, from)
  }

  /** Adds what was read on: after what is held, or before it when the input is read backwards. */
  add(order: 'asc' | 'desc', chunks: readonly Chunk[], segments: readonly Segments[]): void {
    this.#raw = null
    this.#chunks = order === 'asc' ? [...this.#chunks, ...chunks] : [...chunks, ...this.#chunks]
    this.#segments = order === 'asc' ? [...this.#segments, ...segments] : [...segments, ...this.#segments]
  }

  /** Goes on with what was read from where this ends. */
  append(later: BufferedInput): void {
    this.add('asc', later.#chunks, later.#segments)
  }

  /** What lies within [from, to], for callers that read nothing else. */
  part(from: number, to: number): BufferedPart {
    const { raw, segments } = this
    return {
      from,
      to,
      chunks: this.#chunks.filter((chunk) => chunk.to > from && chunk.from <= to),
      segments: segments === null ? null : segmentsWithin(segments, from, to),
      raw: sliceColumns(raw, lowerBound(raw.times, from), upperBound(raw.times, to)),
    }
  }

  /** Forgets what lies before an instant. */
  dropBefore(instant: Instant): void {
    const kept = this.#chunks.filter(({ to }) => to > instant)
    if (kept.length < this.#chunks.length) this.#raw = null
    this.#chunks = kept
    const { segments } = this
    if (segments !== null) this.#segments = [segmentsWithin(segments, instant)]
  }

  /** All raw points; chunks may overlap where nothing is. */
  get raw(): PointColumns {
    this.#raw ??= this.#joinedRaw()
    return this.#raw
  }

  #joinedRaw(): PointColumns {
    let reached = Number.NEGATIVE_INFINITY
    const parts = this.#chunks.map(({ raw, to }) => {
      const part = sliceColumns(raw, lowerBound(raw.times, reached), raw.times.length)
      reached = Math.max(reached, to)
      return part
    })
    return parts.length === 0 ? NO_POINTS : concatColumns(parts)
  }
}

/** Reads an input chunk by chunk into what is held. */
export interface InputFeed {
  /**
   * Reads on; how far the input is known then, forwards or, when it is read from its end, backwards. `null` at the
   * end.
   */
  next(held: BufferedInput): Promise<Instant | null>
}

/** @param bySegments reads the signal as integrals take it, too */
export function openFeed(
  input: Operator,
  range: ChunkRange,
  bySegments: boolean,
  evaluation: Evaluation,
): InputFeed {
  const { order } = range
  if (!bySegments) {
    const stream = input.chunks(range)
    return {
      next: async (held) => {
        const chunk = await stream.next()
        if (chunk === null) return null
        held.add(order, [chunk], [])
        return order === 'asc' ? chunk.to : chunk.from
      },
    }
  }
  let read: Chunk[] = []
  const onChunk = (chunk: Chunk) => void read.push(chunk)
  const reader = new SegmentReader(input, evaluation, range, { onChunk, wholeFrom: range.from })
  return {
    next: async (held) => {
      const segments = await reader.next()
      held.add(order, order === 'asc' ? read : read.reverse(), segments === null ? [] : [segments])
      read = []
      if (segments === null) return null
      return instantFromUs(order === 'asc' ? segments.times.at(-1)! : segments.times[0]!)
    },
  }
}

/** Values of an input at any times within its chunks, in any order; chunks are ascending and join. */
export function valuesIn(chunks: readonly Chunk[], times: Float64Array, limit: Limit): Float64Array {
  if (!ascends(times)) {
    const distinct = distinctTimes(times)
    return valuesOf(distinct, valuesIn(chunks, distinct, limit), times)
  }
  return joinedValues(chunks, times, limit)
}

/** The same from an operator. */
export async function valuesOfInput(input: Operator, times: Float64Array): Promise<Float64Array> {
  if (ascends(times)) return input.valuesAt(times)
  const distinct = distinctTimes(times)
  return valuesOf(distinct, await input.valuesAt(distinct), times)
}
