import { crc32 } from 'node:zlib'
import { copyColumns, makeColumns, NO_POINTS, type PointColumns, STATUS_BAD } from '../../series/columns.ts'
import type { ZoneMap } from '../../series/zone-map.ts'
import { Damage } from '../damage.ts'
import type { Arena } from './arena.ts'
import {
  CHUNK_POINTS,
  type ChunkZoneMap,
  checkChunk,
  chunkBytes,
  chunkCount,
  chunkFirstTime,
  chunkZoneMap,
  decodeChunk,
  type Memory,
  readExtent,
} from './chunk.ts'
import { joinZoneMaps, readZoneMap, writeZoneMap, ZONE_MAP_BYTES } from './zone-map.ts'

/**
 * A block holds points of one tag in time order: up to MAX_CHUNKS chunks (chunk.ts), and before them the summary of
 * them all. Little-endian.
 *
 * | byte | type | what |
 * |---|---|---|
 * | 0 | u8 | version of the block, 3 |
 * | 1 | u8 | 0 |
 * | 2 | u16 | number of chunks, at least 1 |
 * | 4 | u32 | CRC-32 of the whole block with 0 in this place |
 * | 8 | f64 × 16 | zone map (zone-map.ts) |
 * | 136 | | the chunks |
 */
export const COMPRESSED_VERSION = 3
const HEADER_BYTES = 8 + ZONE_MAP_BYTES

/** Blocks take at most 4 pages, some 14,000 points of a steady sensor. */
export const COMPRESSED_BYTES = 4 * 4096 - 16
export const MAX_CHUNKS = 32
/** Room for chunks in a block. */
export const CHUNKS_BYTES = COMPRESSED_BYTES - HEADER_BYTES

/** Writes chunks as a block; gives it with its summary. */
export function joinChunks(
  arena: Arena,
  chunks: readonly Uint8Array[],
): { readonly block: Uint8Array; readonly zoneMap: ZoneMap } {
  const size = chunks.reduce((sum, chunk) => sum + chunk.length, HEADER_BYTES)
  const { bytes, doubles, offset } = arena.allocate(size)
  const memory = { bytes, doubles }
  let at = offset + HEADER_BYTES
  const zoneMaps: ZoneMap[] = []
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    zoneMaps.push(chunkZoneMap(memory, at))
    at += chunk.length
  }
  const zoneMap = joinZoneMaps(zoneMaps)
  const block = bytes.subarray(offset, offset + size)
  block[0] = COMPRESSED_VERSION
  block[1] = 0
  block[2] = chunks.length
  block[3] = 0
  writeZoneMap(doubles, (offset >> 3) + 1, zoneMap)
  putUint32(block, 4, 0)
  putUint32(block, 4, crc32(block))
  return { block, zoneMap }
}

/**
 * A look at a block, without copying it; one view is opened again and again, and what is kept is copied. The chunk that
 * was asked for last is held unpacked.
 */
export class BlockView {
  count = 0
  firstTime = 0
  lastTime = 0
  /** 0 for points in memory. */
  chunkCount = 0
  #bytes = NO_BYTES
  #doubles = NO_DOUBLES
  #start = 0
  /** Where the columns of points in memory are: the arrays and the index of the first point in each. */
  #timesIn: Float64Array = this.#doubles
  #valuesIn: Float64Array = this.#doubles
  #statusesIn: Uint8Array = this.#bytes
  #times = 0
  #values = 0
  #statuses = 0
  #size = 0
  /** Of a block; points in memory are not counted, which would take longer than finding one of a million. */
  #goodCount = 0
  #viewed: ArrayBufferLike | null = null
  /** The same memory for chunk.ts. */
  #memory = NO_MEMORY
  /**
   * Per chunk where it begins in #bytes, and the index of its first point; one more entry for the end. These and the
   * unpacked chunk are made for the first block that has chunks: changes of very many tags make a view for each.
   */
  #chunkAt = NO_CHUNKS
  #chunkFrom = NO_CHUNKS
  #unpacked = NO_POINTS
  /** Indexes of the points that are unpacked. */
  #from = 0
  #to = 0

  /**
   * Looks at points in memory, those with index from start (included) to end (excluded), at least one, as if they were
   * a block.
   */
  openColumns({ times, values, statuses }: PointColumns, start: number, end: number): this {
    this.count = end - start
    this.firstTime = times[start]!
    this.lastTime = times[end - 1]!
    this.chunkCount = 0
    this.#size = 0
    this.#timesIn = times
    this.#valuesIn = values
    this.#statusesIn = statuses
    this.#times = start
    this.#values = start
    this.#statuses = start
    return this
  }

  /** Reads the header. Throws Damage when it cannot be that of a block of this size. */
  open(bytes: Uint8Array, size: number): this {
    if (this.#viewed !== bytes.buffer) {
      this.#viewed = bytes.buffer
      this.#doubles = new Float64Array(bytes.buffer, 0, bytes.buffer.byteLength >> 3)
      this.#bytes = new Uint8Array(bytes.buffer)
      this.#memory = { bytes: this.#bytes, doubles: this.#doubles }
    }
    if (size < HEADER_BYTES) throw new Damage('a block is too short')
    const version = bytes[0]
    if (version !== COMPRESSED_VERSION) throw new Damage(`a block has the unknown version ${version}`)
    if ((bytes.byteOffset & 7) !== 0) return this.open(new Uint8Array(bytes.subarray(0, size)), size)
    this.#start = bytes.byteOffset
    this.#size = size
    this.#from = 0
    this.#to = 0
    this.#readHeader(bytes)
    return this
  }

  #readHeader(bytes: Uint8Array): void {
    const start = this.#start
    const end = start + this.#size
    const chunks = bytes[2]! | (bytes[3]! << 8)
    if (chunks === 0 || chunks > MAX_CHUNKS) {
      throw new Damage('the header of a block does not fit its size')
    }
    if (this.#chunkAt === NO_CHUNKS) {
      this.#chunkAt = new Uint32Array(MAX_CHUNKS + 1)
      this.#chunkFrom = new Uint32Array(MAX_CHUNKS + 1)
    }
    let at = start + HEADER_BYTES
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
    this.#goodCount = good
    this.firstTime = this.#doubles[header + 2]!
    this.lastTime = this.#doubles[header + 3]!
  }

  /** Its size; 0 for points in memory. */
  get bytes(): number {
    return this.#size
  }

  /** The checksum that the header states; blocks with the same content have the same. */
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
    if (this.chunkCount === 0) return this.#statusesIn[this.#statuses + index]!
    if (index < this.#from || index >= this.#to) this.#unpack(index)
    return this.#unpacked.statuses[index - this.#from]!
  }

  isGoodAt(index: number): boolean {
    const isAllGood = this.chunkCount > 0 && this.#goodCount === this.count
    return isAllGood || this.statusAt(index) !== STATUS_BAD
  }

  /** Whether the header says that none of its points is good; of points in memory it is not known. */
  get isAllBad(): boolean {
    return this.chunkCount > 0 && this.#goodCount === 0
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
    target.statuses.set(this.#statusesIn.subarray(this.#statuses + start, this.#statuses + end), at)
  }

  /** The points with index from start to end, copied. */
  columns(start = 0, end = this.count): PointColumns {
    const columns = makeColumns(end - start)
    this.copyTo(columns, 0, start, end)
    return columns
  }

  /**
   * The points with index from start to end, not copied where they lie in one chunk: valid until the next look at any
   * block.
   */
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

  /** All points in memory, not copied: valid until the next look at any block. */
  plainView(): PointColumns {
    const { count } = this
    return {
      times: this.#timesIn.subarray(this.#times, this.#times + count),
      values: this.#valuesIn.subarray(this.#values, this.#values + count),
      statuses: this.#statusesIn.subarray(this.#statuses, this.#statuses + count),
    }
  }

  /** What the header says of a block. */
  zoneMap(): ZoneMap {
    return readZoneMap(this.#doubles, (this.#start >> 3) + 1)
  }

  /** See chunk.ts: whether the extent alone stands for the points of a chunk. */
  readExtent(chunk: number, target: Float64Array, place: number): boolean {
    return readExtent(this.#memory, this.#chunkAt[chunk]!, target, place)
  }

  /** What is known of a chunk without unpacking it; an object of its own. */
  chunkZoneMap(chunk: number): ChunkZoneMap {
    return chunkZoneMap(this.#memory, this.#chunkAt[chunk]!)
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

  #chunkOf(index: number): number {
    let chunk = 0
    while (this.#chunkFrom[chunk + 1]! <= index && chunk + 1 < this.chunkCount) chunk++
    return chunk
  }

  #unpack(index: number): void {
    const chunk = this.#chunkOf(index)
    this.#from = 0
    this.#to = 0
    if (this.#unpacked === NO_POINTS) this.#unpacked = chunkColumns()
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
      copyColumns(target, place, this.#unpacked, index - from, stop - from)
      index = stop
    }
  }
}

/**
 * Columns of a chunk in one memory: with one for each they take twice as long to make, and each read of a tag has some.
 */
function chunkColumns(): PointColumns {
  const memory = new ArrayBuffer(17 * CHUNK_POINTS)
  return {
    times: new Float64Array(memory, 0, CHUNK_POINTS),
    values: new Float64Array(memory, 8 * CHUNK_POINTS, CHUNK_POINTS),
    statuses: new Uint8Array(memory, 16 * CHUNK_POINTS, CHUNK_POINTS),
  }
}

const NO_BYTES: Uint8Array = new Uint8Array(0)
const NO_DOUBLES: Float64Array = new Float64Array(0)
const NO_MEMORY: Memory = { bytes: NO_BYTES, doubles: NO_DOUBLES }
const NO_CHUNKS = new Uint32Array(0)

function putUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value
  bytes[at + 1] = value >>> 8
  bytes[at + 2] = value >>> 16
  bytes[at + 3] = value >>> 24
}

function getUint32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0
}
