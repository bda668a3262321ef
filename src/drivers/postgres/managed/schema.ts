import type { CallContext } from '../../../historian/contract.ts'
import { unavailable } from '../../../historian/remote/unavailable.ts'
import type { Server } from '../server.ts'
import type { Session } from '../session.ts'
import { literal } from '../text.ts'
import type { ManagedTables } from './layout.ts'

/** What the server has besides PostgreSQL; it decides how the table of points is laid out when it is made. */
export interface Extensions {
  readonly timescaledb: boolean
  readonly citus: boolean
}

/**
 * Makes or alters the tables, one list of statements for each version, in order. What was released stays as it is: a change
 * is a new entry at the end.
 */
const MIGRATIONS: readonly ((tables: ManagedTables, extensions: Extensions) => readonly string[])[] = [
  ({ tags, points }, extensions) => {
    // Citus distributes identity columns of bigint only; elsewhere four bytes a point are worth saving.
    const id = extensions.citus ? 'bigint' : 'integer'
    return [
      `CREATE TABLE ${tags} (
        id ${id} GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name text COLLATE "C" NOT NULL UNIQUE,
        description text,
        units text,
        stepped boolean NOT NULL DEFAULT false
      )`,
      // In this order no space is lost between the columns. Time is microseconds since 1970, status 0 for OK and 1 for BAD.
      `CREATE TABLE ${points} (
        time bigint NOT NULL,
        value double precision NOT NULL,
        tag_id ${id} NOT NULL,
        status smallint NOT NULL,
        PRIMARY KEY (tag_id, time)
      )`,
      ...distribution({ tags, points }, extensions),
    ]
  },
]

/** The version that this Tidemark makes and reads. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** A chunk of a hypertable holds a week. */
const CHUNK_US = 7 * 86_400 * 1_000_000

/** How the tables are spread, where an extension can do that. */
export function distribution(
  { tags, points }: Pick<ManagedTables, 'tags' | 'points'>,
  { timescaledb, citus }: Extensions,
): readonly string[] {
  if (timescaledb) {
    return [
      `SELECT create_hypertable(${literal(points)}, 'time', chunk_time_interval => ${CHUNK_US}, create_default_indexes => false)`,
    ]
  }
  if (citus) {
    return [
      `SELECT create_reference_table(${literal(tags)})`,
      `SELECT create_distributed_table(${literal(points)}, 'tag_id')`,
    ]
  }
  return []
}

/** Any number, the same in every Tidemark: "tide". */
export const LOCK_CLASS = 0x74696465

/**
 * Sees to it that the tables are there in the version wanted. Any number of processes may do so at once: one makes them, under a
 * lock, and the others wait for it. HISTORIAN_UNAVAILABLE when a newer Tidemark made them, or when they are missing
 * and may not be made.
 */
export async function ensureSchema(
  server: Server,
  tables: ManagedTables,
  { historian, mayChange }: { readonly historian: string; readonly mayChange: boolean },
  context: CallContext,
): Promise<void> {
  const version = await server.read('schema', context, (session) => readVersion(session, tables))
  if (version > SCHEMA_VERSION) {
    throw unavailable(
      historian,
      `its tables were made by a newer tidemark (version ${version}, this one knows ${SCHEMA_VERSION})`,
    )
  }
  if (version === SCHEMA_VERSION) return
  if (!mayChange) {
    throw unavailable(
      historian,
      'it has no tables yet, or old ones, and writable: false keeps them from being made',
    )
  }
  const lock = `SELECT pg_advisory_xact_lock(${LOCK_CLASS}, 0)`
  await server.change('schema', `BEGIN ISOLATION LEVEL READ COMMITTED; ${lock}`, context, async (session) => {
    // The version is looked at anew: another process may have been faster.
    const found = await readVersion(session, tables)
    if (found >= SCHEMA_VERSION) return
    const extensions = await readExtensions(session)
    if (found === 0) {
      if (!(await schemaExists(session, tables))) await session.query(`CREATE SCHEMA ${tables.schema}`)
      await session.query(`CREATE TABLE ${tables.version} (version integer NOT NULL)`)
      await session.query(`INSERT INTO ${tables.version} VALUES (0)`)
    }
    for (const migration of MIGRATIONS.slice(found)) {
      for (const statement of migration(tables, extensions)) await session.query(statement)
    }
    await session.query(`UPDATE ${tables.version} SET version = $1::integer`, [SCHEMA_VERSION])
  })
}

/** 0 when there are no tables. */
async function readVersion(session: Session, { version, schemaName }: ManagedTables): Promise<number> {
  // Read from the catalogue itself: to_regclass may remember from before we waited for the lock that there was none.
  const exists = await session.query(
    `SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
      WHERE n.nspname = $1::text AND c.relname = 'tidemark_schema'`,
    [schemaName],
  )
  if (exists.length === 0) return 0
  const [row] = await session.query(`SELECT version FROM ${version}`)
  return Number(row?.[0] ?? 0)
}

// CREATE SCHEMA IF NOT EXISTS asks for the right to make schemas even where the schema is there.
async function schemaExists(session: Session, { schemaName }: ManagedTables): Promise<boolean> {
  const rows = await session.query('SELECT 1 FROM pg_namespace WHERE nspname = $1::text', [schemaName])
  return rows.length > 0
}

async function readExtensions(session: Session): Promise<Extensions> {
  const rows = await session.query(
    `SELECT extname FROM pg_extension WHERE extname IN ('timescaledb', 'citus')`,
  )
  const names = rows.map(([name]) => name)
  return { timescaledb: names.includes('timescaledb'), citus: names.includes('citus') }
}
