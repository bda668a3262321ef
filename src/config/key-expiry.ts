import { isUsable, type KeyRecord, type KeyStore } from './keys.ts'

const DAY_US = 86_400_000_000
/** Keys that expire sooner are warned of. */
export const EXPIRY_WARNING_DAYS = 14
const CHECK_EVERY_MS = 86_400_000

/** Usable keys that expire within the time of the warning, the next one first. */
export function expiringKeys(records: readonly KeyRecord[], now: number): readonly KeyRecord[] {
  const until = now + EXPIRY_WARNING_DAYS * DAY_US
  return records
    .filter((record) => isUsable(record, now) && record.expiresAt !== null && record.expiresAt < until)
    .sort((a, b) => a.expiresAt! - b.expiresAt!)
}

/**
 * Warns of keys that expire soon, now and each day. A store that cannot be asked is asked again the next day.
 * @param clock microseconds since 1970
 * @returns     ends it
 */
export function warnOfExpiry(
  keys: Pick<KeyStore, 'list'>,
  log: { warn(fields: object, message: string): void },
  clock: () => number,
): () => void {
  const look = async () => {
    const now = clock()
    for (const { id, name, expiresAt } of expiringKeys(await keys.list(), now)) {
      const days = Math.floor((expiresAt! - now) / DAY_US)
      const fields = { keyId: id, key: name, expiresAt: new Date(expiresAt! / 1_000).toISOString() }
      log.warn(fields, `a key expires in ${days} days: tidemark keys rotate makes the next one`)
    }
  }
  const tryToLook = () => void look().catch(() => {})
  tryToLook()
  const timer = setInterval(tryToLook, CHECK_EVERY_MS).unref()
  return () => clearInterval(timer)
}
