import { isUsable, type KeyStore } from '../config/keys.ts'

/** Keys are looked through at most this often, however often the metrics are read. */
const FRESH_MS = 60_000

/** What metrics say of keys. */
export interface KeyCounts {
  readonly usable: number
  readonly expired: number
  readonly revoked: number
  /** Seconds since 1970 at which the next usable key expires; `null` when none does. */
  readonly nextExpiry: number | null
}

/** Counts keys for the metrics, and remembers the counts for a minute. */
export class KeyGauges {
  readonly #keys: Pick<KeyStore, 'list'>
  readonly #clock: () => number
  #countedAt = Number.NEGATIVE_INFINITY
  #counts: Promise<KeyCounts | null> = Promise.resolve(null)

  /** @param clock microseconds since 1970 */
  constructor(keys: Pick<KeyStore, 'list'>, clock: () => number) {
    this.#keys = keys
    this.#clock = clock
  }

  /** `null` when the store of the keys cannot be asked. */
  counts(): Promise<KeyCounts | null> {
    if (performance.now() - this.#countedAt >= FRESH_MS) {
      this.#countedAt = performance.now()
      this.#counts = this.#count().catch(() => null)
    }
    return this.#counts
  }

  async #count(): Promise<KeyCounts> {
    const now = this.#clock()
    const records = await this.#keys.list()
    const usable = records.filter((record) => isUsable(record, now))
    const revoked = records.filter(({ revokedAt }) => revokedAt !== null).length
    const ends = usable.flatMap(({ expiresAt }) => expiresAt ?? [])
    return {
      usable: usable.length,
      revoked,
      expired: records.length - usable.length - revoked,
      nextExpiry: ends.length === 0 ? null : Math.min(...ends) / 1e6,
    }
  }
}
