import { Damage } from './damage.ts'
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
} as const

const UNITS = [1, 1_000, 1_000_000] as const

/** The step between ascending times when it is the same between all of them (0 for a single one), NaN when it is not. */
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
  let unit = UNITS.length - 1
  for (let i = 0; i < count; i++) {
    const step = times[start + i + 1]! - times[start + i]!
    if (step >= VARINT_LIMIT / 4) return encodePlain(writer, times, start, end)
    while (unit > 0 && Math.floor(step / UNITS[unit]!) * UNITS[unit]! !== step) unit--
    steps[i] = step
  }
  const scale = UNITS[unit]!
  const usual = usualOf(steps, count) / scale
  let runs = 1
  for (let i = 0; i < count; i++) {
    steps[i] = steps[i]! / scale - usual
    if (i > 0 && steps[i] !== steps[i - 1]) runs++
  }
  writer.putByte(unit)
  writer.putVarint(usual)
  const from = writer.length
  for (let i = 0; i < count; i++) writer.putSigned(steps[i]!)
  if (runs > count >> 1) return TIMES.steps
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

/** The median of a few steps: a mean would be far off after one long gap. */
function usualOf(all: Float64Array, count: number): number {
  const sample = new Float64Array(Math.min(9, count))
  for (let i = 0; i < sample.length; i++) sample[i] = all[Math.floor((i * count) / sample.length)]!
  return sample.sort()[sample.length >> 1]!
}

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
  const scale = UNITS[reader.byte()]
  if (scale === undefined) throw new Damage('the times of a block have an unknown unit')
  const usual = reader.varint()
  let time = first
  if (mode === TIMES.steps) {
    // Differences of one byte or two without a call for each.
    const { bytes } = reader
    let { at } = reader
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
  } else if (mode === TIMES.runs) {
    for (let i = 1; i < count; ) {
      const delta = (usual + reader.signed()) * scale
      const runEnd = i + reader.varint() + 1
      if (runEnd > count) throw new Damage('the times of a block are too many')
      for (; i < runEnd; i++) {
        time += delta
        target[to + i] = time
      }
    }
  } else throw new Damage('the times of a block are written in an unknown way')
}
