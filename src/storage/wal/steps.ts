import { crc32 } from 'node:zlib'

/** Bytes that are copied, or go into a checksum, in a step: some hundred microseconds, with memory that is new. */
export const BYTES_OF_STEP = 1 << 20
/** The same of numbers that are looked at one by one. */
export const NUMBERS_OF_STEP = 1 << 17
/** Spans, which are objects each, of a step. */
export const SPANS_OF_STEP = 1 << 13

/** Copies numbers to a place of others, in steps where they are many. */
export function* setInSteps<Numbers extends Uint8Array | Uint32Array | Float64Array>(
  target: Numbers,
  source: Numbers,
  place: number,
): Generator<void, void> {
  const step = BYTES_OF_STEP / source.BYTES_PER_ELEMENT
  for (let at = 0; at < source.length; at += step) {
    if (at > 0) yield
    target.set(source.subarray(at, at + step), place + at)
  }
}

/** CRC-32 of bytes, in steps where they are many. */
export function* crc32InSteps(bytes: Uint8Array): Generator<void, number> {
  let sum = crc32(bytes.subarray(0, BYTES_OF_STEP))
  for (let at = BYTES_OF_STEP; at < bytes.length; at += BYTES_OF_STEP) {
    yield
    sum = crc32(bytes.subarray(at, at + BYTES_OF_STEP), sum)
  }
  return sum
}
