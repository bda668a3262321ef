import type { PointColumns } from '../../series/columns.ts'
import { type Summary, summarize } from '../../series/summary.ts'
import type { ZoneMap } from '../../series/zone-map.ts'
import { Damage } from '../damage.ts'
import { decodeTimes, encodeTimes, regularStep, TIMES } from './time-codec.ts'
import { decodeValues, encodeValues } from './value-codec.ts'
import { ByteReader, ByteWriter } from './varint.ts'
import { readZoneMap, withSignal, writeZoneMap, ZONE_MAP_BYTES } from './zone-map.ts'

/**
 * A chunk: up to CHUNK_POINTS points of a compressed block, which can be read without the rest of it, and their
 * summary.
 *
 * | byte | type | what |
 * |---|---|---|
 * | 0 | u16 | size of the chunk in units of 8 bytes |
 * | 2 | u16 | number of points, at least 1 |
 * | 4 | u8 | flags: 1 brief, 2 has statuses, 4 has the rest of the mean |
 * | 5 | u8 | how times are written (TIMES) |
 * | 6 | u8 | how values are written (VALUES) |
 * | 7 | u8 | digits behind the point, for decimals |
 * | 8 | f64 × 9 or 16 | summary: brief or whole; without the rest of the mean, as earlier versions wrote it, one less |
 * | | | times but the first, values, statuses, zeros up to a multiple of 8 bytes |
 *
 * A summary is brief when all points are good and the same time apart: first time, step, sum, sum of squared
 * differences from the mean, min, max, first and last value, rest of the mean; all else follows from them. Where the
 * last value is nearly all of the sum, what is left without it would be rounding, and the summary is whole. A whole one
 * is that of zone-map.ts, and where the times are regular all the same the step stands in front of them.
 */
export const CHUNK_POINTS = 512

const BRIEF = 1
const HAS_STATUSES = 2
const HAS_REST = 4
const PREFIX_BYTES = 8
const BRIEF_BYTES = 72

/** More than any chunk needs: both tries at times and at values at once, 9 bytes a point each. */
const writer = new ByteWriter(64 * 1024)
const doubles = new Float64Array(writer.bytes.buffer)

/**
 * Writes the points with index from start (included) to end (excluded), 1 to CHUNK_POINTS; valid until the next call.
 */
export function encodeChunk(points: PointColumns, start: number, end: number): Uint8Array {
  const count = end - start
  const { times, values, statuses } = points
  const summary = summarize(points, start, end)
  const step = regularStep(times, start, end)
  const isRegular = !Number.isNaN(step)
  const isBrief = isRegular && summary.numGood === count && givesIntegrals(summary)
  let flags = HAS_REST
  if (isBrief) {
    flags |= BRIEF
    doubles[1] = times[start]!
    doubles[2] = step
    doubles[3] = summary.sum
    doubles[4] = summary.squares
    doubles[5] = summary.min
    doubles[6] = summary.max
    doubles[7] = summary.first
    doubles[8] = summary.last
    doubles[9] = summary.meanRest
    writer.length = PREFIX_BYTES + BRIEF_BYTES
  } else {
    writeZoneMap(doubles, 1, withSignal(summary, points, start, end))
    writer.length = PREFIX_BYTES + ZONE_MAP_BYTES
  }
  let timeMode: number = TIMES.regular
  if (!isRegular) timeMode = encodeTimes(writer, times, start, end)
  else if (!isBrief) writer.putDouble(step)
  const { mode, decimals } = encodeValues(writer, values, start, end)
  if (encodeStatuses(statuses, start, end)) flags |= HAS_STATUSES
  while (writer.length % 8 !== 0) writer.putByte(0)
  const { bytes } = writer
  const units = writer.length >> 3
  bytes[0] = units
  bytes[1] = units >> 8
  bytes[2] = count
  bytes[3] = count >> 8
  bytes[4] = flags
  bytes[5] = timeMode
  bytes[6] = mode
  bytes[7] = decimals
  return bytes.subarray(0, writer.length)
}

/** How much larger than the sum without the last value the sum may be: some 40 of its 53 bits are left then. */
const MOST_CANCELLED = 4_096

/**
 * Whether the integrals between the first and the last point follow from the sum. That of the stepped signal is the sum
 * without the last value.
 */
function givesIntegrals({ numGood, sum, last }: Summary): boolean {
  if (!Number.isFinite(sum)) return false
  return numGood === 1 || Math.abs(sum) <= MOST_CANCELLED * Math.abs(sum - last)
}

/** Runs of a status and their lengths; false and nothing when all points are OK. */
function encodeStatuses(statuses: Uint8Array, start: number, end: number): boolean {
  let isPlain = true
  for (let i = start; i < end && isPlain; i++) isPlain = statuses[i] === 0
  if (isPlain) return false
  for (let i = start; i < end; ) {
    let next = i + 1
    while (next < end && statuses[next] === statuses[i]) next++
    writer.putByte(statuses[i]!)
    writer.putVarint(next - i)
    i = next
  }
  return true
}

/** The memory that a chunk lies in: the same as bytes and as doubles. */
export interface Memory {
  readonly bytes: Uint8Array
  readonly doubles: Float64Array
}

/** Bytes of the chunk at an offset, which is a multiple of 8, as all are. */
export function chunkBytes({ bytes }: Memory, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8)) << 3
}

export function chunkCount({ bytes }: Memory, at: number): number {
  return bytes[at + 2]! | (bytes[at + 3]! << 8)
}

/** Bytes of the summary of a chunk with such flags. */
function summaryBytes(flags: number): number {
  return (flags & BRIEF) !== 0 ? BRIEF_BYTES : ZONE_MAP_BYTES
}

/** Throws Damage when what stands at an offset cannot be a chunk that ends by `end`. */
export function checkChunk(memory: Memory, at: number, end: number): void {
  const flags = memory.bytes[at + 4]!
  const least = PREFIX_BYTES + summaryBytes(flags)
  const size = at + PREFIX_BYTES > end ? 0 : chunkBytes(memory, at)
  const count = chunkCount(memory, at)
  if (size < least || at + size > end || count === 0 || count > CHUNK_POINTS || (flags & HAS_REST) === 0) {
    throw new Damage('a part of a block does not fit its size')
  }
}

export function chunkFirstTime({ bytes, doubles }: Memory, at: number): number {
  return doubles[(at >> 3) + ((bytes[at + 4]! & BRIEF) !== 0 ? 1 : 3)]!
}

/** A chunk is too short to keep its longest gap: whoever knows a bound of it adds that. */
export type ChunkZoneMap = ZoneMap & { longestGap?: number }

export function chunkZoneMap(memory: Memory, at: number): ChunkZoneMap {
  const { bytes, doubles } = memory
  const from = (at >> 3) + 1
  const flags = bytes[at + 4]!
  if ((flags & BRIEF) === 0) return readZoneMap(doubles, from)
  const count = chunkCount(memory, at)
  const firstTime = doubles[from]!
  const step = doubles[from + 1]!
  const lastTime = firstTime + (count - 1) * step
  const sum = doubles[from + 2]!
  const first = doubles[from + 6]!
  const last = doubles[from + 7]!
  return {
    count,
    numGood: count,
    firstTime,
    lastTime,
    sum,
    mean: sum / count,
    meanRest: doubles[from + 8]!,
    squares: doubles[from + 3]!,
    min: doubles[from + 4]!,
    max: doubles[from + 5]!,
    firstGoodTime: firstTime,
    first,
    lastGoodTime: lastTime,
    last,
    linear: step * (sum - (first / 2 + last / 2)),
    stepped: step * (sum - last),
  }
}

/** Doubles of the extent of a chunk: its first and last time, least and greatest, first and last value. */
export const EXTENT = { firstTime: 0, lastTime: 1, min: 2, max: 3, first: 4, last: 5, length: 6 } as const

/**
 * Copies the extent of a chunk to a place of an array, without the objects of `chunkZoneMap`: a chart looks at tens of
 * thousands of chunks.
 * @returns whether all points are good, and their sums within the range of doubles (`isUsable`)
 */
export function readExtent(
  { bytes, doubles }: Memory,
  at: number,
  target: Float64Array,
  place: number,
): boolean {
  const from = (at >> 3) + 1
  const count = chunkCount({ bytes, doubles }, at)
  if ((bytes[at + 4]! & BRIEF) === 0) {
    target[place] = doubles[from + 2]!
    target[place + 1] = doubles[from + 3]!
    target[place + 2] = doubles[from + 7]!
    target[place + 3] = doubles[from + 8]!
    target[place + 4] = doubles[from + 10]!
    target[place + 5] = doubles[from + 12]!
    const sums = doubles[from + 4]! + doubles[from + 6]! + doubles[from + 13]! + doubles[from + 14]!
    return doubles[from + 1] === count && Number.isFinite(sums) && Number.isFinite(doubles[from + 5]!)
  }
  const step = doubles[from + 1]!
  const sum = doubles[from + 2]!
  const first = doubles[from + 6]!
  const last = doubles[from + 7]!
  target[place] = doubles[from]!
  target[place + 1] = doubles[from]! + (count - 1) * step
  target[place + 2] = doubles[from + 4]!
  target[place + 3] = doubles[from + 5]!
  target[place + 4] = first
  target[place + 5] = last
  return Number.isFinite(
    sum + doubles[from + 3]! + step * (sum - (first / 2 + last / 2)) + step * (sum - last),
  )
}

/** How a chunk is written. */
export interface ChunkHead {
  readonly count: number
  readonly hasStatuses: boolean
  readonly firstTime: number
  /** One of TIMES; the step between regular times. */
  readonly timeMode: number
  readonly step: number
  /** One of VALUES; digits behind the point. */
  readonly valueMode: number
  readonly decimals: number
}

/** Opens a chunk: the reader then stands where its times begin, which values and statuses follow. */
export function openChunk(memory: Memory, at: number, reader: ByteReader): ChunkHead {
  const { bytes, doubles } = memory
  const flags = bytes[at + 4]!
  const timeMode = bytes[at + 5]!
  reader.open(bytes, at + PREFIX_BYTES + summaryBytes(flags), at + chunkBytes(memory, at))
  let step = 0
  if (timeMode === TIMES.regular) step = (flags & BRIEF) !== 0 ? doubles[(at >> 3) + 2]! : reader.double()
  return {
    count: chunkCount(memory, at),
    hasStatuses: (flags & HAS_STATUSES) !== 0,
    firstTime: chunkFirstTime(memory, at),
    timeMode,
    step,
    valueMode: bytes[at + 6]!,
    decimals: bytes[at + 7]!,
  }
}

const reader = new ByteReader()

/** Reads all points of a chunk into columns from index `to` on. Throws Damage. */
export function decodeChunk(memory: Memory, at: number, target: PointColumns, to: number): void {
  const head = openChunk(memory, at, reader)
  const { count } = head
  decodeTimes(reader, head.timeMode, head.firstTime, head.step, count, target.times, to)
  decodeValues(reader, head.valueMode, head.decimals, count, target.values, to)
  if (!head.hasStatuses) target.statuses.fill(0, to, to + count)
  else {
    for (let i = 0; i < count; ) {
      const status = reader.byte()
      const end = i + reader.varint()
      if (end > count || end === i) throw new Damage('the statuses of a block contradict themselves')
      target.statuses.fill(status, to + i, to + end)
      i = end
    }
  }
  reader.finish()
}
