/**
 * MurmurHash3 (x86, 32 bits) of 8 bytes, given as two words with the least significant byte first.
 * @param low, high, seed  whole numbers, of which the last 32 bits count
 * @returns                0 to 2^32 - 1
 * @source                 Austin Appleby, MurmurHash3.cpp (public domain)
 */
export function murmur3(low: number, high: number, seed: number): number {
  let hash = seed | 0
  hash = mixed(hash, low)
  hash = mixed(hash, high)
  hash ^= 8
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

function mixed(hash: number, word: number): number {
  const scrambled = Math.imul(rotated(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593)
  return (Math.imul(rotated(hash ^ scrambled, 13), 5) + 0xe6546b64) | 0
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits))
}
