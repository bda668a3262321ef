/**
 * Keys of `points`: the tag's id (u32, big-endian), then the time of the block's first point as 8 bytes that sort as the times
 * do (the whole microseconds plus 2^63, big-endian), or TAIL for the tag's newest points.
 */
export const KEY_BYTES = 12

/** The highest id of a tag; one more is never given, so that an end of a range can be written. */
export const MAX_TAG_ID = 0xffff_fffe

/** In place of a time: sorts after every one of them. */
export const TAIL = Number.POSITIVE_INFINITY

/** Writes a key and gives it back. */
export function writeBlockKey(key: Uint8Array, tag: number, time: number): Uint8Array {
  putUint32(key, 0, tag)
  if (time === TAIL) return key.fill(0xff, 4)
  const high = Math.floor(time / 2 ** 32)
  putUint32(key, 4, high + 2 ** 31)
  putUint32(key, 8, time - high * 2 ** 32)
  return key
}

/** The part of a key that all blocks of a tag share; sorts before all of them. */
export function tagKey(tag: number): Uint8Array {
  const key = new Uint8Array(4)
  putUint32(key, 0, tag)
  return key
}

export function readBlockKey(key: Uint8Array): { readonly tag: number; readonly time: number } {
  const tag = getUint32(key, 0)
  const high = getUint32(key, 4)
  const low = getUint32(key, 8)
  if (high === 0xffff_ffff && low === 0xffff_ffff) return { tag, time: TAIL }
  return { tag, time: (high - 2 ** 31) * 2 ** 32 + low }
}

function putUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24
  bytes[at + 1] = value >>> 16
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value
}

function getUint32(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
}
