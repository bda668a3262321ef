import { hash, randomBytes } from 'node:crypto'

/** What is known of an API key; the key itself is shown once and kept nowhere. */
export interface KeyRecord {
  /** Short and random, shown in lists. */
  readonly id: string
  readonly name: string
  /** `write` includes `read`. */
  readonly scope: KeyScope
  /** Historians that it may see; `null` is all of them. */
  readonly historians: readonly string[] | null
  /** Microseconds since 1970. */
  readonly createdAt: number
  /** Microseconds since 1970, valid before; `null` is for ever. */
  readonly expiresAt: number | null
  /** Microseconds since 1970; `null` while it is not revoked. */
  readonly revokedAt: number | null
  /** Microseconds since 1970, to about a minute; left out when it was not used yet. */
  readonly lastUsedAt?: number
}

export type KeyScope = 'read' | 'write'

/** A key to be stored: its record and the digest of its secret. */
export interface NewKey {
  readonly record: KeyRecord
  readonly digest: Uint8Array
}

/**
 * Where keys are kept. Every change is durable when it resolves, and seen within a second by every process that has the
 * same data directory or store. Rejects with KEYS_UNAVAILABLE when a store cannot be asked.
 */
export interface KeyStore {
  /** The key with this digest, revoked and expired ones too; compared in constant time. */
  find(digest: Uint8Array): KeyRecord | null | Promise<KeyRecord | null>
  /** All keys, revoked ones too, in the order in which they were made. */
  list(): Promise<readonly KeyRecord[]>
  /** KEY_EXISTS when a key that is not revoked has the name. */
  add(record: KeyRecord, digest: Uint8Array): Promise<void>
  /**
   * The key with this id, or else the one with this name that is not revoked, as it is afterwards; `null` when there is
   * none.
   */
  revoke(idOrName: string): Promise<KeyRecord | null>
  /**
   * Puts a new key in the place of one, in one step: it gets its name, and the old one, named as {@link nameOfRotated}
   * says, opens until `oldExpiresAt` at the latest. Of the record only id, times and digest count, the rest is that of
   * the old key.
   * @param idOrName as for `revoke`
   * @returns        both as they are afterwards; `null` when there is no such key that is not revoked
   */
  rotate(idOrName: string, replacement: NewKey, oldExpiresAt: number): Promise<Rotation | null>
  /**
   * Remembers when keys were used last, by their id; what is not known is left out, and an earlier time changes
   * nothing.
   */
  noteUses(uses: ReadonlyMap<string, number>): Promise<void>
  /** Whether there ever was a key; stays true when all are revoked. */
  firstStartKeysMade(): Promise<boolean>
  /** Adds the keys of a first start, all or none; false when there ever was a key, and then nothing is added. */
  addFirstStartKeys(keys: readonly NewKey[]): Promise<boolean>
}

/** A key, and the one that took its place. */
export interface Rotation {
  readonly old: KeyRecord
  readonly replacement: KeyRecord
}

/** The name that a key has after another one took its place: in the log it shows who still uses it. */
export function nameOfRotated({ name, id }: KeyRecord): string {
  return `${name}~${id}`
}

/** The key that `idOrName` means: the one with the id, or else the one with the name that is not revoked. */
export function findKey<Entry extends { readonly record: KeyRecord }>(
  entries: readonly Entry[],
  idOrName: string,
): Entry | undefined {
  return (
    entries.find(({ record }) => record.id === idOrName) ??
    entries.find(({ record }) => record.name === idOrName && record.revokedAt === null)
  )
}

/** Both records after a rotation; `null` for a key that is revoked. */
export function rotated(old: KeyRecord, replacement: KeyRecord, oldExpiresAt: number): Rotation | null {
  if (old.revokedAt !== null) return null
  const { name, scope, historians } = old
  const expiresAt = Math.min(old.expiresAt ?? oldExpiresAt, oldExpiresAt)
  return {
    old: { ...old, name: nameOfRotated(old), expiresAt },
    replacement: { ...replacement, name, scope, historians },
  }
}

const SECRET_BYTES = 32
const SECRET_PREFIX = 'tdm_'

/** A new key: 256 random bits as text, and what is stored of it. */
export function makeKey(): { readonly secret: string; readonly digest: Uint8Array } {
  // The prefix lets scanners for leaked secrets know it.
  const secret = SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64url')
  return { secret, digest: digestOf(secret) }
}

/** Whether a text holds something that reads like one of our keys. */
export function looksLikeKey(text: string): boolean {
  return /tdm_[A-Za-z0-9_-]{8}/i.test(text)
}

/** A key without the prefix that ours have. */
export function bareKey(key: string): string {
  return key.startsWith(SECRET_PREFIX) ? key.slice(SECRET_PREFIX.length) : key
}

/** Record of a new key, with a random id. */
export function makeKeyRecord(
  key: Pick<KeyRecord, 'name' | 'scope' | 'historians' | 'expiresAt'>,
  now: number,
): KeyRecord {
  const { name, scope, historians, expiresAt } = key
  const id = randomBytes(5).toString('hex')
  return { id, name, scope, historians, createdAt: now, expiresAt, revokedAt: null }
}

/** SHA-256 of a key as a client sends it; any text has one. */
export function digestOf(secret: string): Uint8Array {
  return hash('sha256', secret, 'buffer')
}

/** Whether a key opens anything at `now` (microseconds since 1970): it is not revoked, and not expired. */
export function isUsable(record: KeyRecord, now: number): boolean {
  return record.revokedAt === null && (record.expiresAt === null || now < record.expiresAt)
}
