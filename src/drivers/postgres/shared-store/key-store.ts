import { timingSafeEqual } from 'node:crypto'
import { type KeyRecord, type KeyStore, type NewKey, type Rotation, rotated } from '../../../config/keys.ts'
import { TidemarkError } from '../../../errors/tidemark-error.ts'
import type { Row, Session } from '../session.ts'
import type { StoreConnection } from './connection.ts'
import { KeyCache } from './key-cache.ts'

const DIGEST_BYTES = 32
/** The beginning of the digest that finds a row; the rest is compared here, in constant time. */
const PREFIX_BYTES = 8

const COLUMNS = 'id, name, scope, historians, created_at, expires_at, revoked_at, last_used_at'

const UNAVAILABLE = 'KEYS_UNAVAILABLE'

/**
 * Keys in PostgreSQL. A key that was found is believed for just under a second, counted from before the server was
 * asked, so that one that was revoked anywhere stops working within a second; one that was not found is asked for every
 * time.
 */
export class PostgresKeyStore implements KeyStore {
  readonly #connection: StoreConnection
  readonly #cache: KeyCache

  constructor(connection: StoreConnection) {
    this.#connection = connection
    this.#cache = new KeyCache((digests) => this.#findAll(digests))
  }

  async find(digest: Uint8Array): Promise<KeyRecord | null> {
    return digest.length === DIGEST_BYTES ? this.#cache.find(digest) : null
  }

  async list(): Promise<readonly KeyRecord[]> {
    const { keys } = this.#connection.tables
    const rows = await this.#connection.read(UNAVAILABLE, (session) =>
      session.query(`SELECT ${COLUMNS} FROM ${keys} ORDER BY created_at, id`),
    )
    return rows.map(recordOf).filter((record) => record !== null)
  }

  async add(record: KeyRecord, digest: Uint8Array): Promise<void> {
    await this.#connection.change(UNAVAILABLE, (session) => this.#add(session, { record, digest }))
  }

  async revoke(idOrName: string): Promise<KeyRecord | null> {
    const { keys } = this.#connection.tables
    if (idOrName.includes('\0')) return null
    const revoked = await this.#connection.change(UNAVAILABLE, async (session) => {
      const rows = await session.query(
        `UPDATE ${keys} SET revoked_at = coalesce(revoked_at, $2::bigint) WHERE id = (
          SELECT id FROM ${keys} WHERE id = $1::text OR (name = $1::text AND revoked_at IS NULL)
            ORDER BY id = $1::text DESC LIMIT 1
        ) RETURNING ${COLUMNS}`,
        [idOrName, Date.now() * 1_000],
      )
      return rows[0] === undefined ? null : recordOf(rows[0])
    })
    this.#cache.forget()
    return revoked
  }

  async rotate(idOrName: string, replacement: NewKey, oldExpiresAt: number): Promise<Rotation | null> {
    const { keys } = this.#connection.tables
    if (idOrName.includes('\0')) return null
    const rotation = await this.#connection.change(UNAVAILABLE, async (session) => {
      const [row] = await session.query(
        `SELECT ${COLUMNS} FROM ${keys} WHERE id = $1::text OR (name = $1::text AND revoked_at IS NULL)
          ORDER BY id = $1::text DESC LIMIT 1`,
        [idOrName],
      )
      const found = row === undefined ? null : recordOf(row)
      const both = found === null ? null : rotated(found, replacement.record, oldExpiresAt)
      if (both === null) return null
      await session.query(`UPDATE ${keys} SET name = $2::text, expires_at = $3::bigint WHERE id = $1::text`, [
        both.old.id,
        both.old.name,
        both.old.expiresAt,
      ])
      await this.#add(session, { record: both.replacement, digest: replacement.digest })
      return both
    })
    this.#cache.forget()
    return rotation
  }

  async noteUses(uses: ReadonlyMap<string, number>): Promise<void> {
    const { keys } = this.#connection.tables
    await this.#connection.change(UNAVAILABLE, (session) =>
      session.query(
        `UPDATE ${keys} SET last_used_at = used.at
          FROM unnest($1::text[], $2::bigint[]) AS used (id, at)
          WHERE ${keys}.id = used.id AND coalesce(last_used_at, 0) < used.at`,
        [[...uses.keys()], [...uses.values()]],
      ),
    )
  }

  async firstStartKeysMade(): Promise<boolean> {
    return this.#connection.read(UNAVAILABLE, (session) => this.#keysMade(session))
  }

  async addFirstStartKeys(keys: readonly NewKey[]): Promise<boolean> {
    return this.#connection.change(UNAVAILABLE, async (session) => {
      if (await this.#keysMade(session)) return false
      for (const key of keys) await this.#add(session, key)
      return true
    })
  }

  async #keysMade(session: Session): Promise<boolean> {
    const [row] = await session.query(`SELECT keys_made FROM ${this.#connection.tables.store}`)
    // A store without its row is damaged: that nobody ever made a key cannot be known.
    return row?.[0] !== 'f'
  }

  async #add(session: Session, { record, digest }: NewKey): Promise<void> {
    if (digest.length !== DIGEST_BYTES) throw new TidemarkError('BUG', { what: 'a digest has 32 bytes' })
    const { keys, store } = this.#connection.tables
    const { id, name, scope, historians, createdAt, expiresAt, revokedAt } = record
    const taken = await session.query(
      `SELECT 1 FROM ${keys} WHERE name = $1::text AND revoked_at IS NULL LIMIT 1`,
      [name],
    )
    if (taken.length > 0) throw new TidemarkError('KEY_EXISTS', { name })
    await session.query(
      `INSERT INTO ${keys} (digest, ${COLUMNS})
        VALUES ($1::bytea, $2::text, $3::text, $4::text, $5::text, $6::bigint, $7::bigint, $8::bigint, NULL)`,
      [
        Buffer.from(digest),
        id,
        name,
        scope,
        historians === null ? null : JSON.stringify(historians),
        createdAt,
        expiresAt,
        revokedAt,
      ],
    )
    await session.query(`UPDATE ${store} SET keys_made = true`)
  }

  /** The key of each digest, in one query. */
  async #findAll(digests: readonly Uint8Array[]): Promise<readonly (KeyRecord | null)[]> {
    const { keys } = this.#connection.tables
    const prefixes = digests.map((digest) => `\\x${hex(digest.subarray(0, PREFIX_BYTES))}`)
    const rows = await this.#connection.read(UNAVAILABLE, (session) =>
      session.query(
        `SELECT encode(digest, 'hex'), ${COLUMNS} FROM ${keys}
          WHERE substring(digest, 1, ${PREFIX_BYTES}) = ANY($1::bytea[])`,
        [prefixes],
      ),
    )
    const byPrefix = Map.groupBy(rows, ([digest]) => digest!.slice(0, 2 * PREFIX_BYTES))
    return digests.map((digest) => {
      const row = byPrefix
        .get(hex(digest.subarray(0, PREFIX_BYTES)))
        ?.find(([stored]) => isSame(Buffer.from(stored!, 'hex'), digest))
      return row === undefined ? null : recordOf(row.slice(1))
    })
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
}

function isSame(stored: Uint8Array, digest: Uint8Array): boolean {
  return stored.length === digest.length && timingSafeEqual(stored, digest)
}

/** `null` for a row that somebody spoilt: it opens nothing. */
function recordOf([
  id,
  name,
  scope,
  historians,
  createdAt,
  expiresAt,
  revokedAt,
  lastUsedAt,
]: Row): KeyRecord | null {
  if (scope !== 'read' && scope !== 'write') return null
  const names = historians === null ? null : namesIn(historians!)
  if (historians !== null && names === null) return null
  return {
    id: id!,
    name: name!,
    scope,
    historians: names,
    createdAt: Number(createdAt),
    expiresAt: expiresAt === null ? null : Number(expiresAt),
    revokedAt: revokedAt === null ? null : Number(revokedAt),
    ...(lastUsedAt !== null && { lastUsedAt: Number(lastUsedAt) }),
  }
}

function namesIn(text: string): readonly string[] | null {
  try {
    const names: unknown = JSON.parse(text)
    return Array.isArray(names) && names.every((name) => typeof name === 'string') ? names : null
  } catch {
    return null
  }
}
