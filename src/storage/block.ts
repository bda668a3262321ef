import { crc32 } from 'node:zlib'
import { makeColumns, type PointColumns, STATUS_BAD } from '../series/columns.ts'
import type { Arena, Place } from './arena.ts'
import {
  CHUNK_POINTS,
  checkChunk,
  chunkBytes,
  chunkCount,
  chunkFirstTime,
  chunkStretch,
  decodeChunk,
  type Memory,
} from './chunk.ts'
import { Damage } from './damage.ts'
import type { Bytes } from './environment.ts'
import {
  joinStretches,
  OLD_STRETCH_BYTES,
  readStretch,
  STRETCH_BYTES,
  type Stretch,
  writeStretch,
} from './stretch.ts'

/**
 * Blocks hold points of one tag in time order, little-endian. There are two kinds, told by their version.
 *
 * A plain block has up to MAX_PLAIN_POINTS points in columns. Tails are plain, and all blocks were at first.
 *
 * | byte | type | what |
 * |---|---|---|
 * | 0 | u8 | version of the block, 1 |
 * | 1 | u8 | 1 when there is a column of statuses, 0 when all points are OK |
 * | 2 | u16 | 0 |
 * | 4 | u32 | CRC-32 of the whole block with 0 in this place |
 * | 8 | u32 | number of points, at least 1 |
 * | 12 | u32 | number of points that are not BAD |
 * | 16 | f64 | time of the first point |
 * | 24 | f64 | time of the last point |
 * | 32 | f64 × n | times in microseconds, ascending and distinct |
 * | | f64 × n | values |
 * | | u8 × n | statuses, when there is a column of them |
 *
 * A compressed block has up to MAX_CHUNKS chunks (chunk.ts), and before them the summary of them all.
 *
 * | byte | type | what |
 * |---|---|---|
 * | 0 | u8 | version of the block, 3 |
 * | 1 | u8 | 0 |
 * | 2 | u16 | number of chunks, at least 1 |
 * | 4 | u32 | CRC-32 of the whole block with 0 in this place |
 * | 8 | f64 × 16 | summary (stretch.ts) |
 * | 136 | | the chunks |
 *
 * Version 2 has a summary of 15 doubles, without the rest of the mean; it is read, and written no more.
 */
export const PLAIN_VERSION = 1
export const COMPRESSED_VERSION = 3
const OLD_COMPRESSED_VERSION = 2
const HEADER_BYTES = 32
const COMPRESSED_HEADER_BYTES = 8 + STRETCH_BYTES
const OLD_COMPRESSED_HEADER_BYTES = 8 + OLD_STRETCH_BYTES

/**
 * lmdb keeps larger values in runs of whole 4096-byte pages with 16 bytes of its own at the front. 4092 points and the header
 * of a plain block fill 16 of them, and 17 with statuses.
 */
export const MAX_PLAIN_POINTS = 4092
/** Compressed blocks fill up to 4 pages, some 14,000 points of a steady sensor. */
export const COMPRESSED_BYTES = 4 * 4096 - 16
export const MAX_CHUNKS = 32
/** Room for chunks in a compressed block. */
export const CHUNKS_BYTES = COMPRESSED_BYTES - COMPRESSED_HEADER_BYTES
/** No block has more points. */
export const MAX_BLOCK_POINTS = MAX_CHUNKS * CHUNK_POINTS

/** Bytes of a plain block. */
export function blockBytes(count: number, withStatuses: boolean): number {
  return HEADER_BYTES + count * (withStatuses ? 17 : 16)
}

/** Bytes of the longest block. */
export const LONGEST_BLOCK = blockBytes(MAX_PLAIN_POINTS, true)

/** Writes chunks as a block; gives it with its summary. */
export function joinChunks(
  arena: Arena,
  chunks: readonly Uint8Array[],
): { readonly block: Bytes; readonly stretch: Stretch } {
  const size = chunks.reduce((sum, chunk) => sum + chunk.length, COMPRESSED_HEADER_BYTES)
  const { bytes, doubles, offset } = arena.allocate(size)
  const memory = { bytes, doubles }
  let at = offset + COMPRESSED_HEADER_BYTES
  const stretches: Stretch[] = []
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    stretches.push(chunkStretch(memory, at))
    at += chunk.length
  }
  const stretch = joinStretches(stretches)
  const block = bytes.subarray(offset, offset + size)
  block[0] = COMPRESSED_VERSION
  block[1] = 0
  block[2] = chunks.length
  block[3] = 0
  writeStretch(doubles, (offset >> 3) + 1, stretch)
  putUint32(block, 4, 0)
  putUint32(block, 4, crc32(block))
  return { block, stretch }
}

/** Writes the points with index from start (included) to end (excluded), at least one, as a plain block. */
export function encodeBlock(arena: Arena, points: PointColumns, start: number, end: number): Bytes {
  const count = end - start
  const bad = countBad(points.statuses, start, end)
  const place = arena.allocate(blockBytes(count, bad > 0))
  const times = (place.offset + HEADER_BYTES) >> 3
  place.doubles.set(points.times.subarray(start, end), times)
  place.doubles.set(points.values.subarray(start, end), times + count)
  if (bad > 0) {
    place.bytes.set(points.statuses.subarray(start, end), place.offset + blockBytes(count, false))
  }
  return seal(place, count, bad)
}

/** Writes the points of a block and, after them, all of `points`, which are later than any in it, as a new block. */
export function encodeAppended(arena: Arena, block: BlockView, points: PointColumns): Bytes {
  const added = points.times.length
  const count = block.count + added
  const bad = block.count - block.goodCount + countBad(points.statuses, 0, added)
  const place = arena.allocate(blockBytes(count, bad > 0))
  const times = (place.offset + HEADER_BYTES) >> 3
  const values = times + count
  const { doubles } = place
  block.copyDoubles(doubles, times, values)
  for (let i = 0; i < added; i++) {
    doubles[times + block.count + i] = points.times[i]!
    doubles[values + block.count + i] = points.values[i]!
  }
  if (bad > 0) {
    const statuses = place.offset + blockBytes(count, false)
    for (let i = 0; i < block.count; i++) place.bytes[statuses + i] = block.statusAt(i)
    for (let i = 0; i < added; i++) place.bytes[statuses + block.count + i] = points.statuses[i]!
  }
  return seal(place, count, bad)
}

/** Fills in the header and the checksum. */
function seal({ bytes, doubles, offset }: Place, count: number, bad: number): Bytes {
  const block = bytes.subarray(offset, offset + blockBytes(count, bad > 0))
  block[0] = PLAIN_VERSION
  block[1] = bad > 0 ? 1 : 0
  block[2] = 0
  block[3] = 0
  putUint32(block, 4, 0)
  putUint32(block, 8, count)
  putUint32(block, 12, count - bad)
  const times = (offset + HEADER_BYTES) >> 3
  doubles[(offset >> 3) + 2] = doubles[times]!
  doubles[(offset >> 3) + 3] = doubles[times + count - 1]!
  putUint32(block, 4, crc32(block))
  return block
}

/**
 * A look at a block that was just read, without copying it. It is valid until the next read of anything from lmdb, which
 * overwrites the memory below it; so one view is opened again and again, and what is kept is copied.
 *
 * Of a compressed block the chunk that was asked for last is held unpacked.
 */
export class BlockView {
  count = 0
  goodCount = 0
  firstTime = 0
  lastTime = 0
  /** 0 for a plain block. */
  chunkCount = 0
  #bytes: Bytes = new Uint8Array(0)
  #doubles: Float64Array = new Float64Array(0)
  #start = 0
  /** Where a block's columns are, unless it is compressed: the arrays and the index of the first point in each. */
  #timesIn: Float64Array = this.#doubles
  #valuesIn: Float64Array = this.#doubles
  #statusesIn: Uint8Array = this.#bytes
  #times = 0
  #values = 0
  /** -1 when all points are OK. */
  #statuses = -1
  #size = 0
  /** Whether the summary of a compressed block has the rest of the mean. */
  #hasRest = true
  #viewed: ArrayBufferLike | null = null
  /** The same memory for chunk.ts. */
  #memory: Memory = { bytes: this.#bytes, doubles: this.#doubles }
  /** Per chunk where it begins in #bytes, and the index of its first point; one more entry for the end. */
  readonly #chunkAt = new Uint32Array(MAX_CHUNKS + 1)
  readonly #chunkFrom = new Uint32Array(MAX_CHUNKS + 1)
  readonly #unpacked = makeColumns(CHUNK_POINTS)
  /** Indexes of the points that are unpacked. */
  #from = 0
  #to = 0

  /** Looks at points in memory, those with index from start (included) to end (excluded), at least one, as if they were a block. */
  openColumns({ times, values, statuses }: PointColumns, start: number, end: number): this {
    const bad = countBad(statuses, start, end)
    this.count = end - start
    this.goodCount = this.count - bad
    this.firstTime = times[start]!
    this.lastTime = times[end - 1]!
    this.chunkCount = 0
    this.#size = 0
    this.#timesIn = times
    this.#valuesIn = values
    this.#statusesIn = statuses
    this.#times = start
    this.#values = start
    this.#statuses = bad > 0 ? start : -1
    return this
  }

  /** Reads the header. Throws Damage when it cannot be that of a block of this size. */
  open(bytes: Bytes, size: number): this {
    if (this.#viewed !== bytes.buffer) {
      this.#viewed = bytes.buffer
      this.#doubles = new Float64Array(bytes.buffer, 0, bytes.buffer.byteLength >> 3)
      this.#bytes = new Uint8Array(bytes.buffer)
      this.#memory = { bytes: this.#bytes, doubles: this.#doubles }
    }
    if (size < HEADER_BYTES) throw new Damage('a block is too short')
    const version = bytes[0]
    if (version === undefined || version < PLAIN_VERSION || version > COMPRESSED_VERSION) {
      throw new Damage(`a block has the unknown version ${version}`)
    }
    if ((bytes.byteOffset & 7) !== 0) return this.open(new Uint8Array(bytes.subarray(0, size)), size)
    this.#start = bytes.byteOffset
    this.#size = size
    this.#from = 0
    this.#to = 0
    if (version === PLAIN_VERSION) this.#openPlain(bytes)
    else this.#openCompressed(bytes)
    return this
  }

  #openPlain(bytes: Bytes): void {
    const start = this.#start
    const count = getUint32(bytes, 8)
    const withStatuses = bytes[1] === 1
    this.goodCount = getUint32(bytes, 12)
    if (count === 0 || count > MAX_PLAIN_POINTS || this.#size !== blockBytes(count, withStatuses)) {
      throw new Damage('the header of a block does not fit its size')
    }
    if (this.goodCount > count) throw new Damage('the header of a block contradicts itself')
    this.chunkCount = 0
    this.count = count
    this.firstTime = this.#doubles[(start >> 3) + 2]!
    this.lastTime = this.#doubles[(start >> 3) + 3]!
    this.#timesIn = this.#doubles
    this.#valuesIn = this.#doubles
    this.#statusesIn = this.#bytes
    this.#times = (start + HEADER_BYTES) >> 3
    this.#values = this.#times + count
    this.#statuses = withStatuses ? start + blockBytes(count, false) : -1
  }

  #openCompressed(bytes: Bytes): void {
    const start = this.#start
    const end = start + this.#size
    const chunks = bytes[2]! | (bytes[3]! << 8)
    this.#hasRest = bytes[0] !== OLD_COMPRESSED_VERSION
    const headerBytes = this.#hasRest ? COMPRESSED_HEADER_BYTES : OLD_COMPRESSED_HEADER_BYTES
    if (this.#size < headerBytes || chunks === 0 || chunks > MAX_CHUNKS) {
      throw new Damage('the header of a block does not fit its size')
    }
    let at = start + headerBytes
    let count = 0
    for (let i = 0; i < chunks; i++) {
      checkChunk(this.#memory, at, end)
      this.#chunkAt[i] = at
      this.#chunkFrom[i] = count
      count += chunkCount(this.#memory, at)
      at += chunkBytes(this.#memory, at)
    }
    this.#chunkAt[chunks] = at
    this.#chunkFrom[chunks] = count
    const header = (start >> 3) + 1
    const good = this.#doubles[header + 1]!
    if (at !== end || this.#doubles[header] !== count || !(good >= 0 && good <= count)) {
      throw new Damage('the header of a block contradicts itself')
    }
    this.chunkCount = chunks
    this.count = count
    this.goodCount = good
    this.firstTime = this.#doubles[header + 2]!
    this.lastTime = this.#doubles[header + 3]!
  }

  /** Its size; 0 for points in memory. */
  get bytes(): number {
    return this.#size
  }

  /** The checksum that the header tells; blocks with the same content have the same. */
  get checksum(): number {
    return getUint32(this.#bytes, this.#start + 4)
  }

  /** Throws Damage when the content does not match the checksum. */
  verify(): void {
    const start = this.#start
    const expected = this.checksum
    // The bytes are a copy of ours, so that the place of the checksum can be emptied and filled again.
    putUint32(this.#bytes, start + 4, 0)
    const actual = crc32(this.#bytes.subarray(start, start + this.#size))
    putUint32(this.#bytes, start + 4, expected)
    if (actual !== expected) throw new Damage('the checksum of a block is wrong')
  }

  timeAt(index: number): number {
    if (this.chunkCount === 0) return this.#timesIn[this.#times + index]!
    if (index < this.#from || index >= this.#to) this.#unpack(index)
    return this.#unpacked.times[index - this.#from]!
  }

  valueAt(index: number): number {
    if (this.chunkCount === 0) return this.#valuesIn[this.#values + index]!
    if (index < this.#from || index >= this.#to) this.#unpack(index)
    return this.#unpacked.values[index - this.#from]!
  }

  statusAt(index: number): number {
    if (this.chunkCount === 0) return this.#statuses < 0 ? 0 : this.#statusesIn[this.#statuses + index]!
    if (index < this.#from || index >= this.#to) this.#unpack(index)
    return this.#unpacked.statuses[index - this.#from]!
  }

  isGoodAt(index: number): boolean {
    return this.goodCount === this.count || this.statusAt(index) !== STATUS_BAD
  }

  /** Index of the first point that is not before `at`. */
  lowerBound(at: number): number {
    if (at <= this.firstTime) return 0
    if (at > this.lastTime) return this.count
    let low = 0
    let high = this.count
    if (this.chunkCount > 0) {
      // The last chunk that begins before `at` holds the point, unless it is the first of the next one.
      let chunk = this.chunkCount - 1
      while (chunk > 0 && this.chunkFirstTime(chunk) >= at) chunk--
      low = this.#chunkFrom[chunk]!
      high = this.#chunkFrom[chunk + 1]!
    }
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.timeAt(middle) < at) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Copies the points with index from start to end into columns from index `at` on. */
  copyTo(target: PointColumns, at: number, start: number, end: number): void {
    if (this.chunkCount > 0) {
      this.#unpackTo(target, at, start, end)
      return
    }
    target.times.set(this.#timesIn.subarray(this.#times + start, this.#times + end), at)
    target.values.set(this.#valuesIn.subarray(this.#values + start, this.#values + end), at)
    if (this.#statuses >= 0) {
      target.statuses.set(this.#statusesIn.subarray(this.#statuses + start, this.#statuses + end), at)
    } else target.statuses.fill(0, at, at + end - start)
  }

  /** The points with index from start to end, copied. */
  columns(start = 0, end = this.count): PointColumns {
    const columns = makeColumns(end - start)
    this.copyTo(columns, 0, start, end)
    return columns
  }

  /** The points with index from start to end, not copied where they lie in one chunk: valid until the next look at any block. */
  pointsView(start: number, end: number): PointColumns {
    if (this.chunkCount === 0 || start >= end) return this.columns(start, end)
    if (start < this.#from || start >= this.#to) this.#unpack(start)
    if (end > this.#to) return this.columns(start, end)
    const from = this.#from
    const { times, values, statuses } = this.#unpacked
    return {
      times: times.subarray(start - from, end - from),
      values: values.subarray(start - from, end - from),
      statuses: statuses.subarray(start - from, end - from),
    }
  }

  /** All points of a block that is not compressed, not copied: valid until the next look at any block. Statuses are null when all are OK. */
  plainView(): {
    readonly times: Float64Array
    readonly values: Float64Array
    readonly statuses: Uint8Array | null
  } {
    const { count } = this
    return {
      times: this.#timesIn.subarray(this.#times, this.#times + count),
      values: this.#valuesIn.subarray(this.#values, this.#values + count),
      statuses: this.#statuses < 0 ? null : this.#statusesIn.subarray(this.#statuses, this.#statuses + count),
    }
  }

  /** Copies times and values of a plain block; with a loop, which is the fastest for the few points of a tail. */
  copyDoubles(target: Float64Array, times: number, values: number): void {
    const { count } = this
    for (let i = 0; i < count; i++) {
      target[times + i] = this.#timesIn[this.#times + i]!
      target[values + i] = this.#valuesIn[this.#values + i]!
    }
  }

  // ---- compressed blocks ----

  /** What the header of a compressed block says of it. */
  stretch(): Stretch {
    return readStretch(this.#doubles, (this.#start >> 3) + 1, this.#hasRest)
  }

  /** What is known of a chunk without unpacking it. */
  chunkStretch(chunk: number): Stretch {
    return chunkStretch(this.#memory, this.#chunkAt[chunk]!)
  }

  chunkFirstTime(chunk: number): number {
    return chunkFirstTime(this.#memory, this.#chunkAt[chunk]!)
  }

  /** Index of the first point of a chunk; of the number of chunks the number of points. */
  chunkStart(chunk: number): number {
    return this.#chunkFrom[chunk]!
  }

  /** The memory that the block lies in, and where in it a chunk begins. */
  get memory(): Memory {
    return this.#memory
  }

  chunkAt(chunk: number): number {
    return this.#chunkAt[chunk]!
  }

  /** A chunk as it is, not copied. */
  chunkView(chunk: number): Uint8Array {
    return this.#bytes.subarray(this.#chunkAt[chunk]!, this.#chunkAt[chunk + 1]!)
  }

  #chunkOf(index: number): number {
    let chunk = 0
    while (this.#chunkFrom[chunk + 1]! <= index && chunk + 1 < this.chunkCount) chunk++
    return chunk
  }

  #unpack(index: number): void {
    const chunk = this.#chunkOf(index)
    this.#from = 0
    this.#to = 0
    decodeChunk(this.#memory, this.#chunkAt[chunk]!, this.#unpacked, 0)
    this.#from = this.#chunkFrom[chunk]!
    this.#to = this.#chunkFrom[chunk + 1]!
  }

  #unpackTo(target: PointColumns, at: number, start: number, end: number): void {
    for (let index = start; index < end; ) {
      const chunk = this.#chunkOf(index)
      const from = this.#chunkFrom[chunk]!
      const to = this.#chunkFrom[chunk + 1]!
      const place = at + index - start
      if (index === from && to <= end) {
        decodeChunk(this.#memory, this.#chunkAt[chunk]!, target, place)
        index = to
        continue
      }
      if (this.#from !== from || this.#to !== to) this.#unpack(index)
      const stop = Math.min(to, end)
      const { times, values, statuses } = this.#unpacked
      target.times.set(times.subarray(index - from, stop - from), place)
      target.values.set(values.subarray(index - from, stop - from), place)
      target.statuses.set(statuses.subarray(index - from, stop - from), place)
      index = stop
    }
  }
}

function countBad(statuses: Uint8Array, start: number, end: number): number {
  let bad = 0
  for (let i = start; i < end; i++) bad += statuses[i]! === STATUS_BAD ? 1 : 0
  return bad
}

function putUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value
  bytes[at + 1] = value >>> 8
  bytes[at + 2] = value >>> 16
  bytes[at + 3] = value >>> 24
}

function getUint32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0
}
