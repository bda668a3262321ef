/** The number that four ASCII digits are, the first one in the lowest byte; negative when they are no digits. */
export function fourDigits(word: number): number {
  if ((word & 0xf0f0f0f0) !== 0x30303030) return -1
  // No byte is above 0x3f now, so that none carries into the next; those above 9 leave the thirties.
  if (((word + 0x06060606) & 0xf0f0f0f0) !== 0x30303030) return -1
  return valueOfFour(word & 0x0f0f0f0f)
}

/** The number that four digits are, the first one in the lowest byte. */
export function valueOfFour(digits: number): number {
  const pairs = Math.imul(digits, 10) + (digits >>> 8)
  return (pairs & 0xff) * 100 + ((pairs >>> 16) & 0xff)
}

/**
 * The highest bit of each of four bytes that is no ASCII digit; bytes behind the first one beyond ASCII may be
 * incorrect.
 */
export function othersThanDigits(word: number): number {
  const digits = word ^ 0x30303030
  return ((digits + 0x76767676) | digits) & 0x80808080
}

/** A text to compare with, in words of four bytes. */
export interface Word {
  readonly length: number
  readonly head: number
  readonly middle: number
  readonly tail: number
}

/** @param text 4 to 12 ASCII characters */
export function wordOf(text: string): Word {
  const bytes = new DataView(new TextEncoder().encode(text).buffer)
  const length = bytes.byteLength
  return {
    length,
    head: bytes.getUint32(0, true),
    middle: length > 8 ? bytes.getUint32(4, true) : 0,
    tail: bytes.getUint32(length - 4, true),
  }
}

/** Up to four ASCII characters as the whole number that stands for them in memory, the other bytes zeros. */
export function fourBytes(text: string): number {
  return new DataView(new TextEncoder().encode(text.padEnd(4, '\0')).buffer).getInt32(0, true)
}
