/** What a table has numbers of. */
export interface Numbered {
  hashOf(number: number): number
  /** Whether a number is that of what is looked for. */
  isWanted(number: number): boolean
}

/** Nothing has the number, or what is looked for cannot be kept. */
export const NONE = -1
export const NO_ROOM = -2

/** Numbers are below this: -1 is an empty slot. */
export const MOST_NUMBERS = 2 ** 20 - 1
const NUMBER_BITS = 20
const NUMBER_MASK = (1 << NUMBER_BITS) - 1
/** The bits of a hash that a slot has begin here: those below choose the slot, those at the top the shard. */
const MARK_FROM = 14

const SHARD_BITS = 6
const SHARDS = 1 << SHARD_BITS
const FIRST_SLOTS = 8
/** What somebody chose to meet in one place is not kept. */
const MAX_PROBES = 256

/** Of the slots of a shard, so many are in use before it grows: other shares in others, or all would grow together. */
const FULLEST = Float64Array.from({ length: SHARDS }, (_, shard) => 0.375 * 2 ** (shard / SHARDS))

/**
 * Hash table of numbers, by what they are numbers of, which it does not have: slots of 4 bytes, a number and 12 bits of
 * its hash. Shards grow one by one, so that no request waits for all.
 */
export class NumberTable {
  readonly #numbered: Numbered
  readonly #shards: Int32Array<ArrayBuffer>[] = []
  readonly #counts = new Uint32Array(SHARDS)

  constructor(numbered: Numbered) {
    this.#numbered = numbered
    this.clear()
  }

  /** @returns NONE when nothing wanted is there, NO_ROOM when it could not be added either */
  find(hash: number): number {
    const slots = this.#shards[hash >>> (32 - SHARD_BITS)]!
    const mask = slots.length - 1
    const mark = markOf(hash)
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const slot = slots[(hash + probe) & mask]!
      if (slot === NONE) return NONE
      if ((slot ^ mark) >>> NUMBER_BITS !== 0) continue
      const number = slot & NUMBER_MASK
      if (this.#numbered.isWanted(number)) return number
    }
    return NO_ROOM
  }

  /** @param number  one that is not there */
  add(hash: number, number: number): void {
    const shard = hash >>> (32 - SHARD_BITS)
    if (++this.#counts[shard]! > FULLEST[shard]! * this.#shards[shard]!.length) this.#grow(shard)
    put(this.#shards[shard]!, hash, number)
  }

  clear(): void {
    for (let shard = 0; shard < SHARDS; shard++) {
      this.#shards[shard]?.buffer.transfer(0)
      this.#shards[shard] = new Int32Array(FIRST_SLOTS).fill(NONE)
    }
    this.#counts.fill(0)
  }

  #grow(shard: number): void {
    const before = this.#shards[shard]!
    const slots = new Int32Array(2 * before.length).fill(NONE)
    for (const slot of before) {
      if (slot === NONE) continue
      const number = slot & NUMBER_MASK
      put(slots, this.#numbered.hashOf(number), number)
    }
    this.#shards[shard] = slots
    // Given back at once, and not by the next collection of garbage.
    before.buffer.transfer(0)
  }
}

/** The bits of a hash in a slot, beside a number. */
function markOf(hash: number): number {
  return (hash >>> MARK_FROM) << NUMBER_BITS
}

function put(slots: Int32Array, hash: number, number: number): void {
  const mask = slots.length - 1
  let place = hash & mask
  while (slots[place] !== NONE) place = (place + 1) & mask
  slots[place] = markOf(hash) | number
}
