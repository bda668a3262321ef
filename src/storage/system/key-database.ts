import { timingSafeEqual } from 'node:crypto'
import {
  findKey,
  type KeyRecord,
  type KeyStore,
  type NewKey,
  type Rotation,
  rotated,
} from '../../config/keys.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { decodeRecord, encodeRecord } from './checked-record.ts'
import { isBusy, isSqlite, reasonOf, type SystemDatabase } from './system-database.ts'

const DIGEST_BYTES = 32
/** The beginning of the digest that finds an entry; the rest is compared in constant time. */
const PLACE_BYTES = 8
/** In the table `meta`: there once was a key. */
export const KEYS_MADE = 'keys-made'
/** So many keys are kept as they were read. */
const REMEMBERED_KEYS = 100
/**
 * So long is a key that was found believed, in milliseconds: a query takes a tenth of the time of a small call. What
 * another process revoked stops working within a second, the documents say.
 */
const BELIEVED_MS = 250

interface FoundKey {
  readonly entry: Uint8Array
  readonly record: KeyRecord
  /** On the monotonic clock, in milliseconds. */
  readAt: number
}

/**
 * Keys in the database of a data directory: the first 8 bytes of the digest → the digest and the record as JSON with a
 * checksum. A key that this process made or revoked counts at once, what another one revoked for a quarter of a second
 * more.
 */
export class DatabaseKeyStore implements KeyStore {
  readonly #database: SystemDatabase
  /** What was found before, by digest: what is read anew is compared with it to the byte. */
  readonly #found = new Map<string, FoundKey>()

  constructor(database: SystemDatabase) {
    this.#database = database
  }

  find(digest: Uint8Array): KeyRecord | null | Promise<KeyRecord | null> {
    if (digest.length !== DIGEST_BYTES) return null
    const id = Buffer.from(digest.buffer, digest.byteOffset, DIGEST_BYTES).toString('latin1')
    const known = this.#found.get(id)
    const now = performance.now()
    if (known !== undefined && now - known.readAt < BELIEVED_MS) return known.record
    try {
      return this.#find(digest, id, now)
    } catch (error) {
      // A process that ends alone, or begins after a kill, has the file for a moment.
      if (isBusy(error)) return this.#reading(() => this.#find(digest, id, now))
      throw unavailable(error)
    }
  }

  list(): Promise<readonly KeyRecord[]> {
    return this.#reading(() =>
      this.#entries()
        .map(({ record }) => record)
        .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)),
    )
  }

  /** How many there are, and how many of them cannot be read. */
  check(): Promise<{ readonly keys: number; readonly damaged: number }> {
    return this.#reading(() => {
      const keys = this.#database.statement('SELECT count(*) AS keys FROM keys').get()!.keys as number
      return { keys, damaged: keys - this.#entries().length }
    })
  }

  add(record: KeyRecord, digest: Uint8Array): Promise<void> {
    return this.#change(() => this.#add({ record, digest }))
  }

  revoke(idOrName: string): Promise<KeyRecord | null> {
    return this.#change(() => {
      const entry = findKey(this.#entries(), idOrName)
      if (entry === undefined) return null
      if (entry.record.revokedAt !== null) return entry.record
      const record = { ...entry.record, revokedAt: Date.now() * 1_000 }
      this.#put(record, entry.digest)
      return record
    })
  }

  rotate(idOrName: string, replacement: NewKey, oldExpiresAt: number): Promise<Rotation | null> {
    return this.#change(() => {
      const entry = findKey(this.#entries(), idOrName)
      const rotation = entry === undefined ? null : rotated(entry.record, replacement.record, oldExpiresAt)
      if (rotation === null) return null
      this.#put(rotation.old, entry!.digest)
      this.#add({ record: rotation.replacement, digest: replacement.digest })
      return rotation
    })
  }

  noteUses(uses: ReadonlyMap<string, number>): Promise<void> {
    return this.#change(() => {
      for (const { record, digest } of this.#entries()) {
        const usedAt = uses.get(record.id) ?? 0
        if (usedAt > (record.lastUsedAt ?? 0)) this.#put({ ...record, lastUsedAt: usedAt }, digest)
      }
    })
  }

  firstStartKeysMade(): Promise<boolean> {
    return this.#reading(() => this.#keysMade())
  }

  addFirstStartKeys(keys: readonly NewKey[]): Promise<boolean> {
    return this.#change(() => {
      if (this.#keysMade()) return false
      for (const key of keys) this.#add(key)
      return true
    })
  }

  /** The same object as long as the entry is the same. */
  #find(digest: Uint8Array, id: string, now: number): KeyRecord | null {
    const row = this.#database
      .statement('SELECT entry FROM keys WHERE place = ?')
      .get(digest.subarray(0, PLACE_BYTES))
    const entry = row?.entry
    const isOne =
      entry instanceof Uint8Array &&
      entry.length >= DIGEST_BYTES &&
      timingSafeEqual(entry.subarray(0, DIGEST_BYTES), digest)
    if (!isOne) {
      this.#found.delete(id)
      return null
    }
    const known = this.#found.get(id)
    if (known !== undefined && Buffer.compare(known.entry, entry) === 0) {
      known.readAt = now
      return known.record
    }
    const record = readRecord(entry, digest.subarray(0, PLACE_BYTES))
    if (record === null) {
      this.#found.delete(id)
      return null
    }
    if (this.#found.size >= REMEMBERED_KEYS) this.#found.clear()
    this.#found.set(id, { entry, record, readAt: now })
    return record
  }

  /** Where the row that says it is damaged, keys say it, too: no others are made then. */
  #keysMade(): boolean {
    const said = this.#database.statement('SELECT value FROM meta WHERE name = ?').get(KEYS_MADE)
    return said !== undefined || this.#database.statement('SELECT 1 FROM keys LIMIT 1').get() !== undefined
  }

  /** Inside a change. */
  #add({ record, digest }: NewKey): void {
    if (digest.length !== DIGEST_BYTES) throw new TidemarkError('BUG', { what: 'a digest has 32 bytes' })
    const taken = this.#entries().some(
      (entry) => entry.record.name === record.name && entry.record.revokedAt === null,
    )
    if (taken) throw new TidemarkError('KEY_EXISTS', { name: record.name })
    this.#put(record, digest)
    this.#database.statement("INSERT OR REPLACE INTO meta VALUES (?, 'true')").run(KEYS_MADE)
  }

  #put(record: KeyRecord, digest: Uint8Array): void {
    const entry = Buffer.concat([digest, Buffer.from(encodeRecord(digest, record))])
    this.#database
      .statement('INSERT OR REPLACE INTO keys VALUES (?, ?)')
      .run(digest.subarray(0, PLACE_BYTES), entry)
  }

  #entries(): { readonly record: KeyRecord; readonly digest: Uint8Array }[] {
    const entries: { readonly record: KeyRecord; readonly digest: Uint8Array }[] = []
    for (const { place, entry } of this.#database.statement('SELECT place, entry FROM keys').all()) {
      const record = entry instanceof Uint8Array ? readRecord(entry, place) : null
      if (record !== null) entries.push({ record, digest: (entry as Uint8Array).slice(0, DIGEST_BYTES) })
    }
    return entries
  }

  #reading<T>(work: () => T): Promise<T> {
    return this.#database.read(work).catch(throwUnavailable)
  }

  #change<T>(work: () => T): Promise<T> {
    const changed = this.#database.change(work).finally(() => {
      for (const found of this.#found.values()) found.readAt = Number.NEGATIVE_INFINITY
    })
    return changed.catch(throwUnavailable)
  }
}

/** `null` for an entry that is damaged, or stands where it is not found: it opens nothing. */
function readRecord(entry: Uint8Array, place: unknown): KeyRecord | null {
  const bytes = Buffer.from(entry.buffer, entry.byteOffset, entry.length)
  if (!(place instanceof Uint8Array) || Buffer.compare(bytes.subarray(0, PLACE_BYTES), place) !== 0)
    return null
  const record = decodeRecord(
    bytes.subarray(0, DIGEST_BYTES),
    bytes.toString('utf8', DIGEST_BYTES),
    'id',
  ) as KeyRecord | null
  const isRecord =
    typeof record?.id === 'string' &&
    typeof record.name === 'string' &&
    (record.scope === 'read' || record.scope === 'write') &&
    (record.historians === null || Array.isArray(record.historians)) &&
    isTimeOrNull(record.expiresAt) &&
    isTimeOrNull(record.revokedAt) &&
    isTimeOrNull(record.lastUsedAt ?? null)
  return isRecord ? record : null
}

function isTimeOrNull(value: unknown): boolean {
  return value === null || typeof value === 'number'
}

function throwUnavailable(error: unknown): never {
  throw isSqlite(error) ? unavailable(error) : error
}

function unavailable(error: unknown): TidemarkError {
  return new TidemarkError('KEYS_UNAVAILABLE', { reason: reasonOf(error) }, { cause: error })
}
