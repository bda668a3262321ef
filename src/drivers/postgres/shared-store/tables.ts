import { randomUUID } from 'node:crypto'
import type { CallContext } from '../../../historian/contract.ts'
import { unavailable } from '../../../historian/remote/unavailable.ts'
import { LOCK_CLASS } from '../managed/schema.ts'
import type { Server } from '../server.ts'
import type { Session } from '../session.ts'
import { identifier } from '../text.ts'

/** Names of the store's tables, quoted and with their schema. */
export interface StoreTables {
  readonly schemaName: string
  readonly schema: string
  /** One row: version of the tables, and the state of keys and aliases. Every change locks it. */
  readonly store: string
  readonly keys: string
  readonly aliases: string
}

const STORE = 'tidemark_store'

/** They may stand in the schema of a managed historian: the names differ. */
export function storeTables(schemaName: string): StoreTables {
  const schema = identifier(schemaName)
  return {
    schemaName,
    schema,
    store: `${schema}.${STORE}`,
    keys: `${schema}.tidemark_keys`,
    aliases: `${schema}.tidemark_aliases`,
  }
}

/**
 * Makes or alters the tables, one list of statements for each version, in order. What was released stays as it is: a
 * change is a new entry at the end.
 */
const MIGRATIONS: readonly ((tables: StoreTables) => readonly string[])[] = [
  ({ store, keys, aliases }) => [
    `CREATE TABLE ${store} (
      version integer NOT NULL,
      identity text NOT NULL,
      keys_made boolean NOT NULL,
      aliases_change bigint NOT NULL,
      aliases_forgotten bigint NOT NULL
    )`,
    // The identity tells these tables from others that are put in their place: changes are counted anew there.
    `INSERT INTO ${store} VALUES (1, '${randomUUID()}', false, 0, 0)`,
    `CREATE TABLE ${keys} (
      id text COLLATE "C" PRIMARY KEY,
      digest bytea NOT NULL UNIQUE,
      name text COLLATE "C" NOT NULL,
      scope text NOT NULL,
      historians text,
      created_at bigint NOT NULL,
      expires_at bigint,
      revoked_at bigint
    )`,
    `CREATE UNIQUE INDEX tidemark_keys_name ON ${keys} (name) WHERE revoked_at IS NULL`,
    `CREATE INDEX tidemark_keys_digest ON ${keys} (substring(digest, 1, 8))`,
    // An alias without a tag was deleted: the row stays for a while, so that those who remember the alias learn of it.
    `CREATE TABLE ${aliases} (
      name text COLLATE "C" PRIMARY KEY,
      tag text,
      description text,
      units text,
      change bigint NOT NULL UNIQUE
    )`,
    `CREATE INDEX tidemark_aliases_deleted ON ${aliases} (change) WHERE tag IS NULL`,
  ],
  ({ keys }) => [`ALTER TABLE ${keys} ADD COLUMN last_used_at bigint`],
]

const VERSION = MIGRATIONS.length

/**
 * Sees to it that the tables are there in the version wanted: any number of processes may do so at once, and one makes
 * them. HISTORIAN_UNAVAILABLE when a newer Tidemark made them, or when the user may not make them.
 * @param name of the store in errors
 */
export async function ensureStoreTables(
  server: Server,
  tables: StoreTables,
  name: string,
  context: CallContext,
): Promise<void> {
  const version = await server.read('schema', context, (session) => readVersion(session, tables))
  if (version > VERSION) {
    const reason = `its tables were made by a newer tidemark (version ${version}, this one knows ${VERSION})`
    throw unavailable(name, reason)
  }
  if (version === VERSION) return
  const begin = `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(${LOCK_CLASS}, 0)`
  await server.change('schema', begin, context, async (session) => {
    // The version is looked at anew: another process may have been faster.
    const found = await readVersion(session, tables)
    if (found >= VERSION) return
    if (found === 0) await makeSchema(session, tables)
    for (const migration of MIGRATIONS.slice(found)) {
      for (const statement of migration(tables)) await session.query(statement)
    }
    await session.query(`UPDATE ${tables.store} SET version = $1::integer`, [VERSION])
  })
}

/** 0 when there are no tables. */
async function readVersion(session: Session, { schemaName, store }: StoreTables): Promise<number> {
  const exists = await session.query(
    `SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
      WHERE n.nspname = $1::text AND c.relname = $2::text`,
    [schemaName, STORE],
  )
  if (exists.length === 0) return 0
  const [row] = await session.query(`SELECT version FROM ${store}`)
  return Number(row?.[0] ?? 0)
}

// CREATE SCHEMA IF NOT EXISTS asks for the right to make schemas even where the schema is there.
async function makeSchema(session: Session, { schemaName, schema }: StoreTables): Promise<void> {
  const rows = await session.query('SELECT 1 FROM pg_namespace WHERE nspname = $1::text', [schemaName])
  if (rows.length === 0) await session.query(`CREATE SCHEMA ${schema}`)
}
