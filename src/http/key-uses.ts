import type { KeyRecord, KeyStore } from '../config/keys.ts'

/** How long uses wait to be stored: each time is a commit. */
const STORE_EVERY_MS = 60_000

/** Remembers when keys were used and stores that now and then, so that `tidemark keys list` shows what nobody needs. */
export class KeyUses {
  readonly #keys: Pick<KeyStore, 'noteUses'>
  readonly #timer: NodeJS.Timeout
  #uses = new Map<string, number>()

  constructor(keys: Pick<KeyStore, 'noteUses'>) {
    this.#keys = keys
    this.#timer = setInterval(() => void this.store(), STORE_EVERY_MS).unref()
  }

  /** @param now microseconds since 1970 */
  note({ id }: KeyRecord, now: number): void {
    this.#uses.set(id, now)
  }

  /** Stores what is remembered. Never rejects: a store that takes nothing now is asked again with the next uses. */
  async store(): Promise<void> {
    if (this.#uses.size === 0) return
    const uses = this.#uses
    this.#uses = new Map()
    try {
      await this.#keys.noteUses(uses)
    } catch {
      // A full disk, or a store that is down: calls go on, and a later use counts more than this one.
      for (const [id, at] of uses) if (!this.#uses.has(id)) this.#uses.set(id, at)
    }
  }

  /** Stores what is remembered, for the last time. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.store()
  }
}
