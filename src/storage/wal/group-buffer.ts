import { crc32 } from 'node:zlib'
import { STATUS_BAD } from '../../series/columns.ts'
import {
  GROUP_HEADER_BYTES,
  ONE_EACH,
  RECORD_HEADER_BYTES,
  REGULAR,
  type RecordBody,
  WITH_STATUSES,
} from './group.ts'
import { findRegular, mayBeRegular } from './regular-times.ts'
import type { SegmentHeader } from './segment.ts'
import { BYTES_OF_STEP, crc32InSteps, NUMBERS_OF_STEP, SPANS_OF_STEP, setInSteps } from './steps.ts'
import type { PointsOfTags } from './wal-record.ts'

/** A part of a column that was put since the last step is as much work as so many bytes. */
const LEAST_BYTES = 64

interface Sizes {
  readonly bytes: number
  readonly flags: number
  /** First times and steps, with the flag REGULAR. */
  readonly regular: Float64Array | null
}

/** Where the columns of a record begin, in numbers of their kind from the beginning of the buffer. */
interface Places {
  readonly times: number
  readonly values: number
  /** Where the removed spans begin; their ends and their tags follow. */
  readonly spans: number
  readonly tags: number
  readonly statuses: number
  readonly catalog: number
}

/**
 * A buffer that groups are encoded into, one after the other: first their records, then the header, which says where
 * the group stands. It grows, and may be shared with another thread.
 */
export class GroupBuffer {
  #buffer: SharedArrayBuffer
  #bytes: Uint8Array
  #doubles: Float64Array
  #words: Uint32Array
  /** Of the group whose records were put last. */
  #total = 0
  #records = 0

  constructor(capacity = 1 << 20) {
    this.#buffer = new SharedArrayBuffer(capacity)
    this.#bytes = new Uint8Array(this.#buffer)
    this.#doubles = new Float64Array(this.#buffer)
    this.#words = new Uint32Array(this.#buffer)
  }

  /**
   * Encodes the records of the next group in steps of less than a millisecond, between which the caller may yield to
   * the event loop.
   * @param records  stay as they are until the last step
   */
  *put(records: readonly RecordBody[]): Generator<void, void> {
    this.#records = records.length
    const sizes: Sizes[] = []
    let total = GROUP_HEADER_BYTES
    for (let i = 0; i < records.length; i++) {
      const { points } = records[i]!
      let hasBad = false
      let regular: Float64Array | null = null
      if (points !== null) {
        const { statuses } = points.points
        const isShort = statuses.length <= NUMBERS_OF_STEP
        hasBad = isShort ? statuses.includes(STATUS_BAD) : yield* hasBadInSteps(statuses)
        if (mayBeRegular(points)) regular = yield* findRegular(points)
      }
      const size = sizesOf(records[i]!, hasBad, regular)
      sizes.push(size)
      total += size.bytes
    }
    this.#total = total
    this.#reserve(total)
    let at = GROUP_HEADER_BYTES
    let passed = 0
    for (let i = 0; i < records.length; i++) {
      const size = sizes[i]!
      // A generator takes as long as putting a small record.
      if (size.bytes <= BYTES_OF_STEP) this.#putShort(at, records[i]!, size)
      else yield* this.#putLong(at, records[i]!, size)
      at += size.bytes
      passed += size.bytes + LEAST_BYTES
      if (passed < BYTES_OF_STEP) continue
      passed = 0
      yield
    }
  }

  /**
   * The group of the records that were put last, until the next ones are put.
   * @param time  of the commit, in microseconds since 1970
   */
  group(segment: SegmentHeader, durable: number, firstSequence: number, time: number): Uint8Array {
    const words = this.#words
    words[0] = segment.nonce
    words[1] = segment.nonce2
    words[2] = this.#total
    words[3] = this.#records
    this.#doubles[2] = firstSequence
    this.#doubles[3] = durable
    this.#doubles[4] = time
    words[10] = 0
    words[11] = crc32(this.#bytes.subarray(0, GROUP_HEADER_BYTES - 4))
    return this.#bytes.subarray(0, this.#total)
  }

  /** Gives much memory back that one large group took. */
  trim(): void {
    if (this.#buffer.byteLength <= 16 << 20) return
    try {
      this.#reserveExactly(1 << 20)
    } catch {
      // The group is durable: where there is no memory for a small one the large one stays.
    }
  }

  #putShort(at: number, { catalog, removed, points }: RecordBody, size: Sizes): void {
    const doubles = this.#doubles
    const words = this.#words
    const places = this.#putHead(at, { catalog, removed, points }, size)
    if (points !== null) {
      doubles.set(size.regular ?? points.points.times, places.times)
      doubles.set(points.points.values, places.values)
      words.set(points.tags, places.tags)
      if ((size.flags & WITH_STATUSES) !== 0) this.#bytes.set(points.points.statuses, places.statuses)
    }
    this.#putSpans(places.spans, removed, 0, removed.length)
    if (catalog !== null) this.#bytes.set(catalog, places.catalog)
    words[(at >> 2) + 1] = crc32(this.#bytes.subarray(at, at + size.bytes))
  }

  /** The same in steps. */
  *#putLong(at: number, { catalog, removed, points }: RecordBody, size: Sizes): Generator<void, void> {
    const doubles = this.#doubles
    const words = this.#words
    const places = this.#putHead(at, { catalog, removed, points }, size)
    if (points !== null) {
      yield* setInSteps(doubles, size.regular ?? points.points.times, places.times)
      yield* setInSteps(doubles, points.points.values, places.values)
      yield* setInSteps(words, points.tags, places.tags)
      if ((size.flags & WITH_STATUSES) !== 0)
        yield* setInSteps(this.#bytes, points.points.statuses, places.statuses)
    }
    for (let from = 0; from < removed.length; from += SPANS_OF_STEP) {
      this.#putSpans(places.spans, removed, from, Math.min(removed.length, from + SPANS_OF_STEP))
      yield
    }
    if (catalog !== null) yield* setInSteps(this.#bytes, catalog, places.catalog)
    words[(at >> 2) + 1] = yield* crc32InSteps(this.#bytes.subarray(at, at + size.bytes))
  }

  /** Puts what is neither long nor a checksum; gives where the rest goes. */
  #putHead(at: number, { catalog, removed, points }: RecordBody, { bytes, flags, regular }: Sizes): Places {
    const words = this.#words
    const count = points?.points.times.length ?? 0
    const tagCount = points?.tags.length ?? 0
    const start = at >> 2
    words[start] = bytes
    words[start + 1] = 0
    words[start + 2] = catalog?.length ?? 0
    words[start + 3] = removed.length
    words[start + 4] = tagCount
    words[start + 5] = count
    words[start + 6] = flags
    words[start + 7] = 0
    const times = (at + RECORD_HEADER_BYTES) >> 3
    const values = times + (regular?.length ?? count)
    const spans = values + count
    const tags = ((spans + 2 * removed.length) << 1) + removed.length
    let word = tags + tagCount
    if (points !== null && (flags & ONE_EACH) === 0) {
      const { offsets } = points
      for (let i = 0; i < tagCount; i++) words[word + i] = offsets[i + 1]! - offsets[i]!
      word += tagCount
    }
    const statuses = word << 2
    const changes = statuses + ((flags & WITH_STATUSES) !== 0 ? count : 0)
    this.#bytes.fill(0, changes + (catalog?.length ?? 0), at + bytes)
    return { times, values, spans, tags, statuses, catalog: changes }
  }

  /** Puts removed spans with index from start to end. @param place  of the first one's beginning */
  #putSpans(place: number, removed: RecordBody['removed'], start: number, end: number): void {
    const doubles = this.#doubles
    const count = removed.length
    const word = (place + 2 * count) << 1
    doubles.set(removed.from.subarray(start, end), place + start)
    doubles.set(removed.to.subarray(start, end), place + count + start)
    this.#words.set(removed.tags.subarray(start, end), word + start)
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#buffer.byteLength) return
    this.#reserveExactly(Math.ceil((bytes * 1.25) / 4096) * 4096)
  }

  #reserveExactly(bytes: number): void {
    this.#buffer = new SharedArrayBuffer(bytes)
    this.#bytes = new Uint8Array(this.#buffer)
    this.#doubles = new Float64Array(this.#buffer)
    this.#words = new Uint32Array(this.#buffer)
  }
}

/** Bytes of records in the log, about: no more than a sixteenth less, where they are many. */
export function bytesOfRecords(records: readonly RecordBody[]): number {
  let bytes = 0
  for (const { catalog, removed, points } of records) {
    bytes += (catalog?.length ?? 0) + 20 * removed.length
    if (points !== null) bytes += 16 * points.points.times.length + 8 * points.tags.length
  }
  return bytes
}

function sizesOf(
  { catalog, removed, points }: RecordBody,
  hasBad: boolean,
  regular: Float64Array | null,
): Sizes {
  let bytes = RECORD_HEADER_BYTES + removed.length * 20 + (catalog?.length ?? 0)
  let flags = 0
  if (points !== null) {
    const count = points.points.times.length
    if (hasBad) flags |= WITH_STATUSES
    if (areSingle(points)) flags |= ONE_EACH
    if (regular !== null) flags |= REGULAR
    bytes += 8 * ((regular?.length ?? count) + count)
    bytes += points.tags.length * ((flags & ONE_EACH) !== 0 ? 4 : 8)
    if ((flags & WITH_STATUSES) !== 0) bytes += count
  }
  return { bytes: (bytes + 7) & ~7, flags, regular }
}

function* hasBadInSteps(statuses: Uint8Array): Generator<void, boolean> {
  for (let at = 0; at < statuses.length; at += NUMBERS_OF_STEP) {
    if (at > 0) yield
    if (statuses.subarray(at, at + NUMBERS_OF_STEP).includes(STATUS_BAD)) return true
  }
  return false
}

/** Whether each tag has exactly one point; an empty one and a double one would have the same sum. */
function areSingle({ tags, offsets, points }: PointsOfTags): boolean {
  if (tags.length !== points.times.length) return false
  for (let i = 1; i < offsets.length; i++) if (offsets[i] !== i) return false
  return true
}
