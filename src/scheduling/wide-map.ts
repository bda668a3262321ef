/** Entries of the first map; most calls have fewer. */
const FIRST_ENTRIES = 8_192
/** A power of two: with some hundred thousand entries each shard has some thousand. */
const SHARDS = 64
/** Characters at the end of a key that say in which shard it is: names of tags differ there. */
const HASHED = 12

/**
 * Map from texts that grows in small steps. A Map of V8 with a hundred thousand entries is copied at once when it gets
 * one more, and holds up the event loop for 8 to 40 ms.
 */
export class WideMap<Value extends object | number | string> {
  readonly #first = new Map<string, Value>()
  /** What came when the first map was full. */
  #shards: readonly Map<string, Value>[] | null = null

  get(key: string): Value | undefined {
    return this.#first.get(key) ?? this.#shards?.[shardOf(key)]?.get(key)
  }

  set(key: string, value: Value): void {
    if (this.#shards === null) {
      if (this.#first.size < FIRST_ENTRIES) {
        this.#first.set(key, value)
        return
      }
      this.#shards = Array.from({ length: SHARDS }, () => new Map<string, Value>())
    }
    if (this.#first.has(key)) this.#first.set(key, value)
    else this.#shards[shardOf(key)]!.set(key, value)
  }

  delete(key: string): void {
    if (!this.#first.delete(key)) this.#shards?.[shardOf(key)]?.delete(key)
  }
}

function shardOf(key: string): number {
  let hash = key.length
  for (let at = Math.max(0, key.length - HASHED); at < key.length; at++) {
    hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  }
  return (hash ^ (hash >>> 15)) & (SHARDS - 1)
}
