/**
 * A number that looks random and is always the same for the same two integers, uniform in [0, 1). The mixing is that of
 * MurmurHash3's finaliser.
 */
export function hashUniform(seed: number, step: number): number {
  // Steps since 1970 do not fit 32 bits: both halves are mixed in.
  let hash = Math.imul(seed + 1, 0x9e3779b1) ^ (step | 0)
  hash = mix(hash) ^ (Math.floor(step / 2 ** 32) | 0)
  return (mix(hash) >>> 0) / 2 ** 32
}

/** Noise in [-1, 1] that is mostly small: the sum of two uniform numbers. */
export function hashNoise(seed: number, step: number): number {
  return hashUniform(seed, step) + hashUniform(seed + 7919, step) - 1
}

function mix(value: number): number {
  let hash = value
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}
