import type { PointColumns } from '../../series/columns.ts'
import { decodeTimes, encodeTimes, regularStep, TIMES } from '../blocks/time-codec.ts'
import { decodeValues, encodeValues, POWERS, VALUES } from '../blocks/value-codec.ts'
import { type ByteReader, type ByteWriter, VARINT_LIMIT } from '../blocks/varint.ts'
import { Damage } from '../damage.ts'

/**
 * A small run: up to MOST_SMALL points of a tag, without a summary, in a page with others (small-page.ts).
 *
 * | what | type |
 * |---|---|
 * | head (below) | u8 |
 * | for SHARED times the number in the page of the run that has the same ones; otherwise number of points | varint |
 * | unless SHARED: first time less that of the page | signed varint or f64 |
 * | the step, for regular times of two points and more | varint |
 * | the other times, unless they are regular or SHARED | time-codec.ts |
 * | digits behind the point, for decimals and SHORT | u8 |
 * | values; for SHORT one decimal, which all are | value-codec.ts, signed varint |
 * | runs of a status and their lengths, with statuses | u8 and varint each |
 *
 * Bits 0 to 2 of the head say how times are written (TIMES, or SHARED), bits 3 to 5 how values are (VALUES, or SHORT).
 * 64 stands for statuses, 128 for a first time that is an f64.
 */
export const MOST_SMALL = 255

const SHARED = 4
const SHORT = 5
const WITH_STATUSES = 64
const FAR = 128
/** No signed varint takes more. */
const FARTHEST = VARINT_LIMIT / 2
/** A run takes no more bytes than this while it is written, all ways that are tried together. */
export const LONGEST_RUN = MOST_SMALL * 48 + 64

/**
 * Writes the first points of columns, 1 to MOST_SMALL.
 * @param base    first time of the page
 * @param shared  number of the run in the page that has the same times; -1 without one
 */
export function encodeRun(
  writer: ByteWriter,
  { times, values, statuses }: PointColumns,
  count: number,
  base: number,
  shared: number,
): void {
  const headAt = writer.length
  writer.length++
  let head = 0
  if (shared >= 0) {
    head = SHARED
    writer.putVarint(shared)
  } else {
    writer.putVarint(count)
    const difference = times[0]! - base
    if (difference < FARTHEST && difference > -FARTHEST) writer.putSigned(difference)
    else {
      head = FAR
      writer.putDouble(times[0]!)
    }
    const step = regularStep(times, 0, count)
    if (count > 1 && step < FARTHEST) writer.putVarint(step)
    else if (count > 1) head |= encodeTimes(writer, times, 0, count)
  }
  head |= encodeRunValues(writer, values, count) << 3
  let isPlain = true
  for (let i = 0; i < count && isPlain; i++) isPlain = statuses[i] === 0
  if (!isPlain) {
    head |= WITH_STATUSES
    for (let i = 0; i < count; ) {
      let next = i + 1
      while (next < count && statuses[next] === statuses[i]) next++
      writer.putByte(statuses[i]!)
      writer.putVarint(next - i)
      i = next
    }
  }
  writer.bytes[headAt] = head
}

/** Gives how they are written. */
function encodeRunValues(writer: ByteWriter, values: Float64Array, count: number): number {
  const from = writer.length++
  const { mode, decimals } = encodeValues(writer, values, 0, count)
  if (mode === VALUES.constant) {
    writer.length = from
    if (putShort(writer, values[0]!)) return SHORT
    writer.putDouble(values[0]!)
    return mode
  }
  if (isDecimal(mode)) writer.bytes[from] = decimals
  else writer.drop(from, from + 1)
  return mode
}

function isDecimal(mode: number): boolean {
  return mode === VALUES.decimals || mode === VALUES.runs || mode === VALUES.packed
}

/** Writes a value as a short decimal, when it is one that takes less than a double. */
function putShort(writer: ByteWriter, value: number): boolean {
  if (Object.is(value, -0)) return false
  for (let decimals = 0; decimals < POWERS.length; decimals++) {
    const multiple = Math.round(value * POWERS[decimals]!)
    if (!(Math.abs(multiple) < 2 ** 40)) return false
    if (multiple / POWERS[decimals]! !== value) continue
    writer.putByte(decimals)
    writer.putSigned(multiple)
    return true
  }
  return false
}

/**
 * Reads a run into columns from index `to` on, which have room for MOST_SMALL more. Gives the number of points. Throws
 * Damage.
 * @param sharedTimes  gives the times of another run of the page, by its number
 */
export function decodeRun(
  reader: ByteReader,
  base: number,
  sharedTimes: (run: number) => Float64Array,
  { times, values, statuses }: PointColumns,
  to: number,
): number {
  const head = reader.byte()
  let count: number
  if ((head & 7) === SHARED) {
    const shared = sharedTimes(reader.varint())
    count = shared.length
    for (let i = 0; i < count; i++) times[to + i] = shared[i]!
  } else count = decodeOwnTimes(reader, head, base, times, to)
  const mode = (head >> 3) & 7
  const decimals = mode === SHORT || isDecimal(mode) ? reader.byte() : 0
  if (mode === SHORT) {
    const power = POWERS[decimals]
    if (power === undefined) throw new Damage('the values of a run have an unknown scale')
    values.fill(reader.signed() / power, to, to + count)
  } else decodeValues(reader, mode, decimals, count, values, to)
  if ((head & WITH_STATUSES) === 0) statuses.fill(0, to, to + count)
  else {
    for (let i = 0; i < count; ) {
      const status = reader.byte()
      const end = i + reader.varint()
      if (end > count || end === i) throw new Damage('the statuses of a run contradict themselves')
      statuses.fill(status, to + i, to + end)
      i = end
    }
  }
  reader.finish()
  return count
}

/** Reads the times of a run that has some of its own into `target`; gives their number. Throws Damage. */
export function decodeTimesOf(reader: ByteReader, base: number, target: Float64Array): number {
  const head = reader.byte()
  if ((head & 7) === SHARED) throw new Damage('the times of a run are those of one that has none')
  return decodeOwnTimes(reader, head, base, target, 0)
}

function decodeOwnTimes(
  reader: ByteReader,
  head: number,
  base: number,
  target: Float64Array,
  to: number,
): number {
  const mode = head & 7
  const count = reader.varint()
  if (count === 0 || count > MOST_SMALL) throw new Damage('a run has a wrong number of points')
  const first = (head & FAR) !== 0 ? reader.double() : base + reader.signed()
  if (count === 1) target[to] = first
  else {
    const step = mode === TIMES.regular ? reader.varint() : 0
    decodeTimes(reader, mode, first, step, count, target, to)
  }
  return count
}
