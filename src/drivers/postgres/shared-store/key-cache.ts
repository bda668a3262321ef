import type { KeyRecord } from '../../../config/keys.ts'

/** For how long a key is believed, in milliseconds from before it was asked for: the promise is a second. */
const BELIEVED_MS = 900
/** Digests asked for in one query, at most. */
const MAX_BATCH = 1_000
/** Keys remembered, at most. */
const MAX_KEYS = 10_000

interface Remembered {
  readonly record: KeyRecord
  /** Before the query was sent. */
  readonly asked: number
}

interface Waiting {
  readonly digest: Uint8Array
  readonly promise: Promise<KeyRecord | null>
  resolve(record: KeyRecord | null): void
  reject(error: unknown): void
}

/**
 * Keys that were found a moment ago. One query is under way at a time, for all digests that came up meanwhile, so that
 * a flood of unknown keys costs the store one connection. Nothing is remembered of what was not found, or when asking
 * failed.
 */
export class KeyCache {
  readonly #findAll: (digests: readonly Uint8Array[]) => Promise<readonly (KeyRecord | null)[]>
  readonly #known = new Map<string, Remembered>()
  readonly #waiting = new Map<string, Waiting>()
  /** Counts what was forgotten: an answer that was asked for before is not remembered. */
  #generation = 0
  #isAsking = false

  /** @param findAll the key of each digest, `null` for none, or a rejection for all of them */
  constructor(findAll: (digests: readonly Uint8Array[]) => Promise<readonly (KeyRecord | null)[]>) {
    this.#findAll = findAll
  }

  async find(digest: Uint8Array): Promise<KeyRecord | null> {
    const id = Buffer.from(digest).toString('latin1')
    const known = this.#known.get(id)
    if (known !== undefined && performance.now() - known.asked < BELIEVED_MS) return known.record
    let waiting = this.#waiting.get(id)
    if (waiting === undefined) {
      waiting = { digest, ...Promise.withResolvers<KeyRecord | null>() }
      this.#waiting.set(id, waiting)
      if (!this.#isAsking) void this.#ask()
    }
    return waiting.promise
  }

  /** Forgets all keys. */
  forget(): void {
    this.#generation++
    this.#known.clear()
  }

  async #ask(): Promise<void> {
    this.#isAsking = true
    // Those of the same tick go together.
    await Promise.resolve()
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting.entries().take(MAX_BATCH)]
      // Later callers ask anew: the answer may be of a moment before.
      for (const [id] of batch) this.#waiting.delete(id)
      const asked = performance.now()
      const generation = this.#generation
      try {
        const records = await this.#findAll(batch.map(([, { digest }]) => digest))
        batch.forEach(([id, { resolve }], i) => {
          const record = records[i] ?? null
          if (generation === this.#generation) this.#remember(id, record, asked)
          resolve(record)
        })
      } catch (error) {
        for (const [, { reject }] of batch) reject(error)
      }
    }
    this.#isAsking = false
  }

  #remember(id: string, record: KeyRecord | null, asked: number): void {
    this.#known.delete(id)
    if (record === null) return
    if (this.#known.size >= MAX_KEYS) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(id, { record, asked })
  }
}
