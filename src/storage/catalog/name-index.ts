import { randomBytes } from 'node:crypto'
import { type EntryView, UTF16 } from './tag-entry.ts'

/** Tells whether a tag has a name. */
export interface Named {
  hasName(id: number, name: string): boolean
}

const SHARDS = 256
const FIRST_SLOTS = 8
/** Of the slots of a shard, so many are in use before it grows. */
const FULLEST = 0.75

/** Hashes differ from process to process, so that nobody can choose names that meet. */
const SEED = randomBytes(8)
const START = SEED.readInt32LE(0)
const FACTOR = SEED.readInt32LE(4) | 1

/** Hash of a name, 32 bits. */
function hashName(name: string): number {
  let hash = START
  for (let i = 0; i < name.length; i++) hash = step(hash, name.charCodeAt(i))
  return finish(hash)
}

/** That of a name in ASCII as bytes; -1 for one that is not. */
function hashAscii(bytes: Uint8Array, from: number, to: number): number {
  let hash = START
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!
    if (byte >= 128) return -1
    hash = step(hash, byte)
  }
  return finish(hash)
}

/** That of the name of an entry. */
export function hashEntry(entry: EntryView): number {
  const hash = entry.flags & UTF16 ? -1 : hashAscii(entry.bytes, entry.name, entry.description)
  return hash < 0 ? hashName(entry.nameText()) : hash
}

function step(hash: number, unit: number): number {
  const mixed = Math.imul(hash ^ unit, FACTOR)
  return mixed ^ (mixed >>> 15)
}

function finish(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/**
 * Hash table from names to ids: 256 shards of slots of hash and id, side by side, which grow one by one, so that no tag
 * waits for all. It holds no names; while changes are being applied, two tags may have the same one. 11 to 21 bytes a
 * tag.
 */
export class NameIndex {
  readonly #named: Named
  readonly #shards = Array.from({ length: SHARDS }, () => new Uint32Array(2 * FIRST_SLOTS))
  readonly #counts = new Uint32Array(SHARDS)

  constructor(named: Named) {
    this.#named = named
  }

  /** Bytes reserved. */
  get bytes(): number {
    return this.#shards.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  /** Id of the tag with a name; 0 without one. */
  find(name: string): number {
    const hash = hashName(name)
    const slots = this.#shards[hash >>> 24]!
    const mask = slots.length - 1
    for (let at = (2 * hash) & mask; ; at = (at + 2) & mask) {
      const id = slots[at + 1]!
      if (id === 0) return 0
      if (slots[at] === hash && this.#named.hasName(id, name)) return id
    }
  }

  add(hash: number, id: number): void {
    const number = hash >>> 24
    let slots = this.#shards[number]!
    if (++this.#counts[number]! > FULLEST * (slots.length / 2)) {
      slots = grown(slots)
      this.#shards[number] = slots
    }
    put(slots, hash, id)
  }

  /** Nothing when it is not there. */
  remove(hash: number, id: number): void {
    const slots = this.#shards[hash >>> 24]!
    const mask = slots.length - 1
    let gap = (2 * hash) & mask
    for (; slots[gap] !== hash || slots[gap + 1] !== id; gap = (gap + 2) & mask) {
      if (slots[gap + 1] === 0) return
    }
    this.#counts[hash >>> 24]!--
    // What was put behind the gap only because its place was taken moves up.
    for (let at = (gap + 2) & mask; slots[at + 1] !== 0; at = (at + 2) & mask) {
      const home = (2 * slots[at]!) & mask
      if (((at - home) & mask) < ((at - gap) & mask)) continue
      slots[gap] = slots[at]!
      slots[gap + 1] = slots[at + 1]!
      gap = at
    }
    slots[gap + 1] = 0
  }
}

function put(slots: Uint32Array, hash: number, id: number): void {
  const mask = slots.length - 1
  let at = (2 * hash) & mask
  while (slots[at + 1] !== 0) at = (at + 2) & mask
  slots[at] = hash
  slots[at + 1] = id
}

function grown(slots: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * slots.length)
  for (let at = 0; at < slots.length; at += 2) {
    if (slots[at + 1] !== 0) put(larger, slots[at]!, slots[at + 1]!)
  }
  return larger
}
