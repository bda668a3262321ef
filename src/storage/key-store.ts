import { timingSafeEqual } from 'node:crypto'
import type { KeyRecord, KeyStore, NewKey } from '../config/keys.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { Bytes, Meta, Root, Store } from './environment.ts'
import { META } from './names.ts'

const DIGEST_BYTES = 32
/** So many records are kept as they were read. */
const REMEMBERED_RECORDS = 100
/** The beginning of the digest that finds an entry; the rest is compared in constant time. */
const KEY_BYTES = 8

/**
 * Keys in lmdb: the first 8 bytes of the digest → the digest and the record as JSON. A look-up reads the newest state, so that
 * what another process revoked stops working with the next turn of the event loop.
 */
export class LmdbKeyStore implements KeyStore {
  readonly #root: Root
  readonly #meta: Meta
  readonly #keys: Store
  /** How entries read that were found before; what is found now is compared with them to the byte. */
  readonly #read = new Map<number, { readonly entry: Bytes; readonly record: KeyRecord | null }>()

  constructor(root: Root, meta: Meta, keys: Store) {
    this.#root = root
    this.#meta = meta
    this.#keys = keys
  }

  find(digest: Uint8Array): KeyRecord | null {
    if (digest.length !== DIGEST_BYTES) return null
    const entry = this.#keys.getBinary(digest.subarray(0, KEY_BYTES))
    if (entry === undefined || entry.length < DIGEST_BYTES) return null
    return timingSafeEqual(entry.subarray(0, DIGEST_BYTES), digest) ? this.#recordOf(entry) : null
  }

  /** The same object as long as the entry is the same. */
  #recordOf(entry: Bytes): KeyRecord | null {
    const place = entry[0]! + entry[1]! * 2 ** 8 + entry[2]! * 2 ** 16
    const read = this.#read.get(place)
    if (read !== undefined && Buffer.compare(read.entry, entry) === 0) return read.record
    const record = readRecord(entry)
    if (this.#read.size >= REMEMBERED_RECORDS) this.#read.clear()
    this.#read.set(place, { entry, record })
    return record
  }

  async list(): Promise<readonly KeyRecord[]> {
    return this.#entries()
      .map(({ record }) => record)
      .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
  }

  async add(record: KeyRecord, digest: Uint8Array): Promise<void> {
    await this.#root.childTransaction(() => this.#add({ record, digest }))
  }

  async revoke(idOrName: string): Promise<KeyRecord | null> {
    return this.#root.childTransaction(() => {
      const entries = this.#entries()
      const entry =
        entries.find(({ record }) => record.id === idOrName) ??
        entries.find(({ record }) => record.name === idOrName && record.revokedAt === null)
      if (entry === undefined) return null
      if (entry.record.revokedAt !== null) return entry.record
      const record = { ...entry.record, revokedAt: Date.now() * 1_000 }
      this.#put(record, entry.digest)
      return record
    })
  }

  async firstStartKeysMade(): Promise<boolean> {
    return this.#keysMade()
  }

  async addFirstStartKeys(keys: readonly NewKey[]): Promise<boolean> {
    return this.#root.childTransaction(() => {
      if (this.#keysMade()) return false
      for (const key of keys) this.#add(key)
      return true
    })
  }

  #keysMade(): boolean {
    return this.#meta.get(META.keysMade) === true
  }

  /** Inside a transaction. */
  #add({ record, digest }: NewKey): void {
    if (digest.length !== DIGEST_BYTES) throw new TidemarkError('BUG', { what: 'a digest has 32 bytes' })
    const taken = this.#entries().some(
      (entry) => entry.record.name === record.name && entry.record.revokedAt === null,
    )
    if (taken) throw new TidemarkError('KEY_EXISTS', { name: record.name })
    this.#put(record, digest)
    this.#meta.put(META.keysMade, true)
  }

  #put(record: KeyRecord, digest: Uint8Array): void {
    this.#keys.put(
      digest.subarray(0, KEY_BYTES),
      Buffer.concat([digest, Buffer.from(JSON.stringify(record))]),
    )
  }

  #entries(): { readonly record: KeyRecord; readonly digest: Uint8Array }[] {
    const entries: { readonly record: KeyRecord; readonly digest: Uint8Array }[] = []
    for (const { value } of this.#keys.getRange({})) {
      const record = readRecord(value)
      if (record !== null) entries.push({ record, digest: Uint8Array.from(value.subarray(0, DIGEST_BYTES)) })
    }
    return entries
  }
}

/** `null` for an entry that is damaged: it opens nothing. */
export function readRecord(entry: Bytes): KeyRecord | null {
  try {
    const text = Buffer.from(entry.buffer, entry.byteOffset, entry.length).toString('utf8', DIGEST_BYTES)
    const record = JSON.parse(text) as KeyRecord
    const isRecord =
      typeof record.id === 'string' &&
      typeof record.name === 'string' &&
      (record.scope === 'read' || record.scope === 'write') &&
      (record.historians === null || Array.isArray(record.historians)) &&
      isTimeOrNull(record.expiresAt) &&
      isTimeOrNull(record.revokedAt)
    return isRecord ? record : null
  } catch {
    return null
  }
}

function isTimeOrNull(value: unknown): boolean {
  return value === null || typeof value === 'number'
}
