import { Damage } from '../damage.ts'
import { GROUP, isWorthPacking, PackedReader, putPacked, usualOf } from './bit-packing.ts'
import { type ByteReader, type ByteWriter, INT_LIMIT, putSignedInt } from './varint.ts'
import { decodeXor, encodeXor } from './xor-codec.ts'

/** How the values of a chunk are written. */
export const VALUES = {
  /** All are the same bits, written once. */
  constant: 0,
  /** Whole multiples of a power of ten: the difference of each from the one before. */
  decimals: 1,
  /** The same, and how often the result comes in a row. */
  runs: 2,
  /** The bytes of each that differ from the one before. */
  xor: 3,
  /** As doubles. */
  plain: 4,
  /** As decimals, the differences packed (bit-packing.ts). 5 stands for something else in small runs. */
  packed: 6,
} as const

const MAX_DECIMALS = 15
/** By number of digits behind the point. */
export const POWERS = Float64Array.from({ length: MAX_DECIMALS + 1 }, (_, exponent) => 10 ** exponent)
/** Multiples up to here: their differences, doubled by zigzag, are exact. */
const MAX_MULTIPLE = 2 ** 51
/** Values that are no short decimals among others that are: each costs some 10 bytes. */
const EXCEPTIONS_IN = 8

/** What was found about the values of the chunk in hand; a chunk is written in one go. */
let multiples = new Float64Array(512)
let exceptions = new Uint32Array(512)
/** Of each multiple but the first from the one before. */
let differences = new Float64Array(512)

/** How values are written, and for decimals the number of digits behind the point. */
export interface ValueMode {
  readonly mode: number
  readonly decimals: number
}

/** Writes values so that every bit of them is read back, as short as one of the ways allows. */
export function encodeValues(
  writer: ByteWriter,
  values: Float64Array,
  start: number,
  end: number,
): ValueMode {
  const count = end - start
  if (isConstant(values, start, end)) {
    writer.putDouble(values[start]!)
    return { mode: VALUES.constant, decimals: 0 }
  }
  const from = writer.length
  const scaled = scale(values, start, end)
  let best: ValueMode | null = null
  if (scaled !== null) {
    best = {
      mode: encodeDecimals(writer, values, start, count, scaled.exceptions),
      decimals: scaled.decimals,
    }
    if (writer.length - from <= 3 * count) return best
  }
  const second = writer.length
  encodeXor(writer, values, start, end)
  const bytes = writer.length - second
  const shorter = best !== null && second - from < 8 * count ? second - from : 8 * count
  if (bytes < shorter) {
    writer.drop(from, second)
    return { mode: VALUES.xor, decimals: 0 }
  }
  writer.length = second
  if (best !== null && second - from < 8 * count) return best
  writer.length = from
  writer.putBytes(new Uint8Array(values.buffer, values.byteOffset + start * 8, count * 8))
  return { mode: VALUES.plain, decimals: 0 }
}

function isConstant(values: Float64Array, start: number, end: number): boolean {
  const first = values[start]!
  for (let i = start + 1; i < end; i++) if (!Object.is(values[i], first)) return false
  return true
}

/** Fills `multiples` and `exceptions`; null when too many values are no short decimals. */
function scale(
  values: Float64Array,
  start: number,
  end: number,
): { readonly decimals: number; readonly exceptions: number } | null {
  const count = end - start
  if (multiples.length < count) {
    multiples = new Float64Array(count)
    exceptions = new Uint32Array(count)
    differences = new Float64Array(count)
  }
  let decimals = 0
  let misses = 0
  const samples = Math.min(count, 16)
  for (let i = 0; i < samples; i++) {
    const found = decimalsOf(values[start + Math.floor((i * count) / samples)]!, decimals)
    if (found < 0) misses++
    else decimals = found
  }
  if (misses > samples / 3) return null
  // A value that needs more digits than the samples did sends us through all of them again.
  for (;;) {
    const power = POWERS[decimals]!
    let before = 0
    let found = 0
    let more = -1
    for (let i = 0; i < count; i++) {
      const value = values[start + i]!
      const multiple = Math.round(value * power)
      const isExact =
        multiple / power === value &&
        multiple <= MAX_MULTIPLE &&
        multiple >= -MAX_MULTIPLE &&
        (multiple !== 0 || !Object.is(value, -0))
      if (isExact) before = multiple
      else {
        if (more < 0 && decimals < MAX_DECIMALS) more = decimalsOf(value, decimals + 1)
        exceptions[found++] = i
      }
      multiples[i] = before
    }
    if (found * EXCEPTIONS_IN <= count && (found <= 4 || more < 0)) return { decimals, exceptions: found }
    if (more < 0) return null
    decimals = more
  }
}

/** The least number of digits, at least `from`, that a value needs behind the point; -1 when it is no short decimal. */
function decimalsOf(value: number, from: number): number {
  for (let decimals = from; decimals <= MAX_DECIMALS; decimals++) {
    const multiple = Math.round(value * POWERS[decimals]!)
    if (!(Math.abs(multiple) <= MAX_MULTIPLE)) return -1
    if (multiple / POWERS[decimals]! === value) return decimals
  }
  return -1
}

function encodeDecimals(
  writer: ByteWriter,
  values: Float64Array,
  start: number,
  count: number,
  exceptionCount: number,
): number {
  writer.putVarint(exceptionCount)
  let place = 0
  for (let i = 0; i < exceptionCount; i++) {
    writer.putVarint(exceptions[i]! - place)
    writer.putDouble(values[start + exceptions[i]!]!)
    place = exceptions[i]!
  }
  const from = writer.length
  putDifferences(writer, count)
  const isRuns = rises + falls <= count >> 1 && putRuns(writer, from, count)
  if (putPackedDecimals(writer, from, count)) return VALUES.packed
  return isRuns ? VALUES.runs : VALUES.decimals
}

/** How many differences are above and below 0, that of the first multiple from 0 among them. */
let rises = 0
let falls = 0

/** Writes the difference of each multiple from the one before, the first from 0; counts them and keeps all but that. */
function putDifferences(writer: ByteWriter, count: number): void {
  const { bytes } = writer
  let at = writer.length
  let before = 0
  let changes = 0
  let negative = 0
  for (let i = 0; i < count; i++) {
    const multiple = multiples[i]!
    const difference = multiple - before
    before = multiple
    if (i > 0) differences[i - 1] = difference
    if (difference !== 0) changes++
    if (difference < INT_LIMIT && difference >= -INT_LIMIT) {
      const whole = difference | 0
      // Its sign without a branch that cannot be predicted.
      negative += whole >>> 31
      at = putSignedInt(bytes, at, whole)
    } else {
      if (difference < 0) negative++
      writer.length = at
      writer.putSigned(difference)
      at = writer.length
    }
  }
  writer.length = at
  rises = changes - negative
  falls = negative
}

/**
 * Puts runs in place of the differences that stand from `from` on; false, and they stay, where runs are not shorter.
 */
function putRuns(writer: ByteWriter, from: number, count: number): boolean {
  const at = writer.length
  let before = 0
  for (let i = 0; i < count; ) {
    let next = i + 1
    while (next < count && multiples[next] === multiples[i]) next++
    writer.putSigned(multiples[i]! - before)
    writer.putVarint(next - i - 1)
    before = multiples[i]!
    i = next
  }
  if (writer.length - at >= at - from) {
    writer.length = at
    return false
  }
  writer.drop(from, at)
  return true
}

/** Puts packed differences in place of what stands from `from` on; false, and it stays, where that is not worth it. */
function putPackedDecimals(writer: ByteWriter, from: number, count: number): boolean {
  const usual = usualOf(differences, count - 1, rises, falls)
  if (usual !== 0) for (let i = 0; i < count - 1; i++) differences[i]! -= usual
  if (!isWorthPacking(differences, count - 1, writer.length - from)) return false
  writer.length = from
  writer.putSigned(multiples[0]!)
  writer.putSigned(usual)
  putPacked(writer, differences, count - 1)
  return true
}

/** Reads `count` values into `target` from index `to` on. Throws Damage. */
export function decodeValues(
  reader: ByteReader,
  mode: number,
  decimals: number,
  count: number,
  target: Float64Array,
  to: number,
): void {
  switch (mode) {
    case VALUES.constant:
      target.fill(reader.double(), to, to + count)
      return
    case VALUES.plain:
      if (reader.at + count * 8 > reader.end) throw new Damage('a block ends too early')
      new Uint8Array(target.buffer, target.byteOffset + to * 8, count * 8).set(
        reader.bytes.subarray(reader.at, reader.at + count * 8),
      )
      reader.at += count * 8
      return
    case VALUES.xor:
      decodeXor(reader, count, target, to)
      return
    case VALUES.decimals:
    case VALUES.packed:
    case VALUES.runs: {
      const power = POWERS[decimals]
      if (power === undefined) throw new Damage('the values of a block have an unknown scale')
      const exceptionCount = reader.varint()
      if (exceptionCount > count) throw new Damage('the values of a block contradict themselves')
      const patches = exceptionCount === 0 ? null : readExceptions(reader, exceptionCount, count)
      if (mode === VALUES.decimals) decodeDecimals(reader, power, count, target, to)
      else if (mode === VALUES.packed) decodePacked(reader, power, count, target, to)
      else decodeRuns(reader, power, count, target, to)
      if (patches !== null) for (const { index, value } of patches) target[to + index] = value
      return
    }
    default:
      throw new Damage('the values of a block are written in an unknown way')
  }
}

function readExceptions(reader: ByteReader, exceptionCount: number, count: number) {
  const patches: { readonly index: number; readonly value: number }[] = []
  let index = 0
  for (let i = 0; i < exceptionCount; i++) {
    index += reader.varint()
    if (index >= count) throw new Damage('the values of a block contradict themselves')
    patches.push({ index, value: reader.double() })
  }
  return patches
}

function decodeDecimals(
  reader: ByteReader,
  power: number,
  count: number,
  target: Float64Array,
  to: number,
): void {
  const { bytes } = reader
  let at = reader.at
  let multiple = 0
  for (let i = 0; i < count; i++) {
    let byte = bytes[at++]!
    if (byte >= 128) {
      const next = bytes[at++]!
      const third = next < 128 ? 0 : bytes[at++]!
      if (next < 128) byte = (byte & 127) | (next << 7)
      else if (third < 128) byte = (byte & 127) | ((next & 127) << 7) | (third << 14)
      else {
        reader.at = at - 3
        multiple += reader.signed()
        at = reader.at
        target[to + i] = multiple / power
        continue
      }
    }
    multiple += (byte >>> 1) ^ -(byte & 1)
    target[to + i] = multiple / power
  }
  reader.at = at
}

const packed = new PackedReader()

function decodePacked(
  reader: ByteReader,
  power: number,
  count: number,
  target: Float64Array,
  to: number,
): void {
  let multiple = reader.signed()
  const usual = reader.signed()
  target[to] = multiple / power
  packed.open(reader)
  for (let i = 1; i < count; i += GROUP) {
    const length = Math.min(GROUP, count - i)
    packed.read(reader, length)
    for (let k = 0; k < length; k++) {
      multiple += usual + packed.numbers[k]!
      target[to + i + k] = multiple / power
    }
  }
}

function decodeRuns(
  reader: ByteReader,
  power: number,
  count: number,
  target: Float64Array,
  to: number,
): void {
  let multiple = 0
  for (let i = 0; i < count; ) {
    multiple += reader.signed()
    const runEnd = i + reader.varint() + 1
    if (runEnd > count) throw new Damage('the values of a block are too many')
    target.fill(multiple / power, to + i, to + runEnd)
    i = runEnd
  }
}
