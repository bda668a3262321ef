import { Damage } from '../damage.ts'
import { GROUP, isWorthPacking, medianOf, PackedReader, putPacked } from './bit-packing.ts'
import { type ByteReader, type ByteWriter, VARINT_LIMIT } from './varint.ts'

/** How the times of a chunk are written. */
export const TIMES = {
  /** The same step between all of them, which stands in the header of the chunk. */
  regular: 0,
  /** For each the difference of its step from the usual one. */
  steps: 1,
  /** The same, and how often it comes in a row. */
  runs: 2,
  /** As doubles. */
  plain: 3,
  /** As steps, the differences packed (bit-packing.ts). 4 stands for something else in small runs. */
  packed: 5,
} as const

const UNITS = [1, 1_000, 1_000_000] as const
/** Added to the number of a unit when a multiple of it follows that is the unit. */
const MULTIPLE = 4
/** Fewer steps gain less by a multiple than it takes. */
const LEAST_STEPS = 16

/**
 * The step between ascending times when it is the same between all of them (0 for a single one), NaN when it is not.
 */
export function regularStep(times: Float64Array, start: number, end: number): number {
  if (end - start < 2) return 0
  const first = times[start]!
  const step = times[start + 1]! - first
  for (let i = start + 2; i < end; i++) if (times[i] !== first + (i - start) * step) return Number.NaN
  // Two times far apart can have a difference that no double holds.
  return first + step === times[start + 1] ? step : Number.NaN
}

/** Steps of the chunk in hand; a chunk is written in one go. */
let steps = new Float64Array(512)

/** Writes times that are not regular, all but the first; gives how. */
export function encodeTimes(writer: ByteWriter, times: Float64Array, start: number, end: number): number {
  const count = end - start - 1
  if (steps.length < count) steps = new Float64Array(count)
  let common = 0
  for (let i = 0; i < count; i++) {
    const step = times[start + i + 1]! - times[start + i]!
    if (step >= VARINT_LIMIT / 4) return encodePlain(writer, times, start, end)
    if (Math.floor(step / common) * common !== step) common = commonDivisor(step, common)
    steps[i] = step
  }
  const scale = putUnit(writer, common, count)
  const usual = medianOf(steps, count) / scale
  let runs = 1
  for (let i = 0; i < count; i++) {
    steps[i] = steps[i]! / scale - usual
    if (i > 0 && steps[i] !== steps[i - 1]) runs++
  }
  writer.putVarint(usual)
  const from = writer.length
  for (let i = 0; i < count; i++) writer.putSigned(steps[i]!)
  const mode = runs > count >> 1 ? TIMES.steps : putRuns(writer, from, count)
  if (!isWorthPacking(steps, count, writer.length - from)) return mode
  writer.length = from
  putPacked(writer, steps, count)
  return TIMES.packed
}

/** Writes in what steps are written, of which all are multiples of `common`; gives it in microseconds. */
function putUnit(writer: ByteWriter, common: number, count: number): number {
  let unit = UNITS.length - 1
  while (unit > 0 && common % UNITS[unit]! !== 0) unit--
  const multiple = count < LEAST_STEPS ? 1 : common / UNITS[unit]!
  writer.putByte(multiple > 1 ? unit + MULTIPLE : unit)
  if (multiple > 1) writer.putVarint(multiple)
  return UNITS[unit]! * multiple
}

/** Of two whole numbers, the second of which may be 0. */
function commonDivisor(one: number, other: number): number {
  let [a, b] = [one, other]
  while (b > 0) [a, b] = [b, a % b]
  return a
}

/** Puts runs of the steps in place of what stands from `from` on, where they are shorter; gives which it is. */
function putRuns(writer: ByteWriter, from: number, count: number): number {
  const second = writer.length
  for (let i = 0; i < count; ) {
    let next = i + 1
    while (next < count && steps[next] === steps[i]) next++
    writer.putSigned(steps[i]!)
    writer.putVarint(next - i - 1)
    i = next
  }
  if (writer.length - second >= second - from) {
    writer.length = second
    return TIMES.steps
  }
  writer.drop(from, second)
  return TIMES.runs
}

function encodePlain(writer: ByteWriter, times: Float64Array, start: number, end: number): number {
  for (let i = start + 1; i < end; i++) writer.putDouble(times[i]!)
  return TIMES.plain
}

const packed = new PackedReader()

/** Reads `count` times, the first of which is known, into `target` from index `to` on. Throws Damage. */
export function decodeTimes(
  reader: ByteReader,
  mode: number,
  first: number,
  step: number,
  count: number,
  target: Float64Array,
  to: number,
): void {
  target[to] = first
  if (mode === TIMES.regular) {
    for (let i = 1; i < count; i++) target[to + i] = first + i * step
    return
  }
  if (mode === TIMES.plain) {
    for (let i = 1; i < count; i++) target[to + i] = reader.double()
    return
  }
  const head = reader.byte()
  const unit = UNITS[head & ~MULTIPLE]
  if (unit === undefined) throw new Damage('the times of a block have an unknown unit')
  const scale = (head & MULTIPLE) === 0 ? unit : unit * reader.varint()
  const usual = reader.varint()
  // A function for each: in a loop among others V8 makes an object of each time.
  if (mode === TIMES.steps) decodeSteps(reader, usual, scale, count, target, to)
  else if (mode === TIMES.runs) decodeRuns(reader, usual, scale, count, target, to)
  else if (mode === TIMES.packed) decodePacked(reader, usual, scale, count, target, to)
  else throw new Damage('the times of a block are written in an unknown way')
}

/** Reads the times behind the first, which stands in the target, from their differences. */
type DecodeSteps = (
  reader: ByteReader,
  usual: number,
  scale: number,
  count: number,
  target: Float64Array,
  to: number,
) => void

const decodeSteps: DecodeSteps = (reader, usual, scale, count, target, to) => {
  // Differences of one byte or two without a call for each.
  const { bytes } = reader
  let { at } = reader
  let time = target[to]!
  for (let i = 1; i < count; i++) {
    let byte = bytes[at++]!
    if (byte >= 128) {
      const next = bytes[at++]!
      if (next < 128) byte = (byte & 127) | (next << 7)
      else {
        reader.at = at - 2
        time += (usual + reader.signed()) * scale
        at = reader.at
        target[to + i] = time
        continue
      }
    }
    time += (usual + ((byte >>> 1) ^ -(byte & 1))) * scale
    target[to + i] = time
  }
  reader.at = at
}

const decodeRuns: DecodeSteps = (reader, usual, scale, count, target, to) => {
  let time = target[to]!
  for (let i = 1; i < count; ) {
    const delta = (usual + reader.signed()) * scale
    const runEnd = i + reader.varint() + 1
    if (runEnd > count) throw new Damage('the times of a block are too many')
    for (; i < runEnd; i++) {
      time += delta
      target[to + i] = time
    }
  }
}

const decodePacked: DecodeSteps = (reader, usual, scale, count, target, to) => {
  let time = target[to]!
  packed.open(reader)
  for (let i = 1; i < count; i += GROUP) {
    const length = Math.min(GROUP, count - i)
    packed.read(reader, length)
    for (let k = 0; k < length; k++) {
      time += (usual + packed.numbers[k]!) * scale
      target[to + i + k] = time
    }
  }
}
