import { crc32 } from 'node:zlib'
import { type PointColumns, STATUS_BAD } from '../series/columns.ts'
import type { Arena, Place } from './arena.ts'
import { Damage } from './damage.ts'
import type { Bytes } from './environment.ts'

/**
 * A block: up to MAX_BLOCK_POINTS points of one tag in columns, little-endian.
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
 */
export const BLOCK_VERSION = 1
const HEADER_BYTES = 32

/**
 * lmdb keeps larger values in runs of whole 4096-byte pages with 16 bytes of its own at the front: 4092 points and the header
 * fill 16 of them, and 17 with statuses.
 */
export const MAX_BLOCK_POINTS = 4092

export function blockBytes(count: number, withStatuses: boolean): number {
  return HEADER_BYTES + count * (withStatuses ? 17 : 16)
}

/** Writes the points with index from start (included) to end (excluded), at least one, as a block. */
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
  for (let i = 0; i < block.count; i++) {
    doubles[times + i] = block.timeAt(i)
    doubles[values + i] = block.valueAt(i)
  }
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
  block[0] = BLOCK_VERSION
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
 */
export class BlockView {
  count = 0
  goodCount = 0
  firstTime = 0
  lastTime = 0
  #bytes: Bytes = new Uint8Array(0)
  #doubles: Float64Array = new Float64Array(0)
  #times = 0
  #values = 0
  /** Index of the first status in #bytes; -1 when all points are OK. */
  #statuses = -1
  #size = 0
  #viewed: ArrayBufferLike | null = null

  /** Reads the header. Throws Damage when it cannot be that of a block of this size. */
  open(bytes: Bytes, size: number): this {
    if (this.#viewed !== bytes.buffer) {
      this.#viewed = bytes.buffer
      this.#doubles = new Float64Array(bytes.buffer, 0, bytes.buffer.byteLength >> 3)
      this.#bytes = new Uint8Array(bytes.buffer)
    }
    const start = bytes.byteOffset
    if (size < HEADER_BYTES) throw new Damage('a block is too short')
    if (bytes[0] !== BLOCK_VERSION) throw new Damage(`a block has the unknown version ${bytes[0]}`)
    if ((start & 7) !== 0) return this.open(new Uint8Array(bytes.subarray(0, size)), size)
    const count = getUint32(bytes, 8)
    const withStatuses = bytes[1] === 1
    this.goodCount = getUint32(bytes, 12)
    if (count === 0 || count > MAX_BLOCK_POINTS || size !== blockBytes(count, withStatuses)) {
      throw new Damage('the header of a block does not fit its size')
    }
    if (this.goodCount > count) throw new Damage('the header of a block contradicts itself')
    this.count = count
    this.firstTime = this.#doubles[(start >> 3) + 2]!
    this.lastTime = this.#doubles[(start >> 3) + 3]!
    this.#times = (start + HEADER_BYTES) >> 3
    this.#values = this.#times + count
    this.#statuses = withStatuses ? start + blockBytes(count, false) : -1
    this.#size = size
    return this
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
    return this.#doubles[this.#times + index]!
  }

  valueAt(index: number): number {
    return this.#doubles[this.#values + index]!
  }

  statusAt(index: number): number {
    return this.#statuses < 0 ? 0 : this.#bytes[this.#statuses + index]!
  }

  isGoodAt(index: number): boolean {
    return this.#statuses < 0 || this.#bytes[this.#statuses + index] !== STATUS_BAD
  }

  /** Index of the first point that is not before `at`. */
  lowerBound(at: number): number {
    if (at <= this.firstTime) return 0
    if (at > this.lastTime) return this.count
    let low = 0
    let high = this.count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.timeAt(middle) < at) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Copies the points with index from start to end into columns from index `at` on. */
  copyTo(target: PointColumns, at: number, start: number, end: number): void {
    target.times.set(this.#doubles.subarray(this.#times + start, this.#times + end), at)
    target.values.set(this.#doubles.subarray(this.#values + start, this.#values + end), at)
    if (this.#statuses >= 0) {
      target.statuses.set(this.#bytes.subarray(this.#statuses + start, this.#statuses + end), at)
    } else target.statuses.fill(0, at, at + end - start)
  }

  /** The points with index from start to end, copied. */
  columns(start = 0, end = this.count): PointColumns {
    const columns = {
      times: new Float64Array(end - start),
      values: new Float64Array(end - start),
      statuses: new Uint8Array(end - start),
    }
    this.copyTo(columns, 0, start, end)
    return columns
  }

  get #start(): number {
    return (this.#times << 3) - HEADER_BYTES
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
