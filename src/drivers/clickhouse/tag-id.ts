import { hash } from 'node:crypto'

/**
 * The number that stands for a tag in the table of points: the first 8 bytes of the SHA-256 of its name in UTF-8, read
 * as a little-endian UInt64. It follows from the name alone, so that every process in front of the same tables knows it
 * without asking, and a read needs no look-up. In SQL: `reinterpretAsUInt64(substring(SHA256(name), 1, 8))`.
 */
export interface TagId {
  readonly low: number
  readonly high: number
  /** In decimal digits, as SQL wants it. */
  readonly text: string
}

/** Hashing 10,000 names takes longer than writing a point to each, so they are kept. */
const MAX_KEPT = 200_000

const kept = new Map<string, TagId>()

export function tagId(name: string): TagId {
  const known = kept.get(name)
  if (known !== undefined) return known
  const digest = hash('sha256', name, 'buffer')
  const id = {
    low: digest.readUInt32LE(0),
    high: digest.readUInt32LE(4),
    text: digest.readBigUInt64LE(0).toString(),
  }
  // The oldest half goes at once: which names are asked for changes slowly.
  if (kept.size >= MAX_KEPT) {
    let left = MAX_KEPT / 2
    for (const name_ of kept.keys()) {
      if (left-- === 0) break
      kept.delete(name_)
    }
  }
  kept.set(name, id)
  return id
}
