import { TidemarkError } from '../../../errors/tidemark-error.ts'
import type { CallContext } from '../../../historian/contract.ts'
import { reasonIn, unavailable } from '../../../historian/remote/unavailable.ts'
import type { Server } from '../server.ts'
import type { Session } from '../session.ts'
import { literal } from '../text.ts'
import type { ManagedTables } from './layout.ts'

/** What the server has besides PostgreSQL; it decides how the table of points is laid out when it is made. */
export interface Extensions {
  readonly timescaledb: boolean
  readonly citus: boolean
}

/** What a migration looks at before it says what is to be done. */
interface Found {
  readonly extensions: Extensions
  /** Whether the points' `tag_id` is an `integer`, as version 1 made it. */
  readonly hasNarrowIds: boolean
  /** Bytes that the points take, as far as they are in the one table. */
  readonly pointBytes: number
}

/** Widening a column writes the whole table anew while nobody can use it: beyond this that is left to its owner. */
const MOST_REWRITTEN_BYTES = 256 * 1024 ** 2

/**
 * Makes or alters the tables, one list of statements for each version, in order. What was released gives the same
 * tables for ever: a change is a new entry at the end.
 */
const MIGRATIONS: readonly ((tables: ManagedTables, found: Found) => readonly string[])[] = [
  ({ tags, points }, { extensions }) => {
    return [
      `CREATE TABLE ${tags} (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name text COLLATE "C" NOT NULL UNIQUE,
        description text,
        units text,
        stepped boolean NOT NULL DEFAULT false
      )`,
      // In this order no space is lost between the columns. Time is microseconds since 1970, status 0 for OK and 1 for
      // BAD.
      `CREATE TABLE ${points} (
        time bigint NOT NULL,
        value double precision NOT NULL,
        tag_id bigint NOT NULL,
        status smallint NOT NULL,
        PRIMARY KEY (tag_id, time)
      )`,
      ...distribution({ tags, points }, extensions),
    ]
  },
  // Version 1 counted tags in an `integer`, and each change of metadata took a number, used or not.
  ({ tags, points }, { extensions, hasNarrowIds, pointBytes }) => {
    if (!hasNarrowIds) return []
    // A hypertable that compresses cannot be altered, and its size is that of its chunks.
    const isRewritten = !extensions.timescaledb && pointBytes <= MOST_REWRITTEN_BYTES
    return [`ALTER TABLE ${tags} ALTER COLUMN id TYPE bigint`, ...(isRewritten ? [widening(points)] : [])]
  },
  // A duration text, and a JSON object of names by number.
  ({ tags }) => [`ALTER TABLE ${tags} ADD COLUMN max_gap text, ADD COLUMN states text`],
]

/** Gives the points room for any number of tags. */
function widening(points: string): string {
  return `ALTER TABLE ${points} ALTER COLUMN tag_id TYPE bigint`
}

/** The version that this Tidemark makes and reads. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** The oldest version that is read as it is, where nothing may be changed. */
const READABLE_VERSION = 1

/** Time for all of it; each statement before was given less, and the table of points may have to be written anew. */
const MIGRATION_SECONDS = 3_600
/** Who waits to alter a table keeps everybody after him waiting, too: the next call tries again. */
const LOCK_MS = 3_000

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
 * Sees to it that the tables are there in the version wanted. Any number of processes may do so at once: one makes
 * them, under a lock, and the others wait for it. HISTORIAN_UNAVAILABLE when a newer Tidemark made them, or when they
 * are missing and may not be made.
 * @returns the version of the tables; an older one that can be read where they may not be changed
 */
export async function ensureSchema(
  server: Server,
  tables: ManagedTables,
  { historian, mayChange }: { readonly historian: string; readonly mayChange: boolean },
  context: CallContext,
): Promise<number> {
  const version = await server.read('schema', context, (session) => readVersion(session, tables))
  if (version > SCHEMA_VERSION) {
    throw unavailable(
      historian,
      `its tables were made by a newer tidemark (version ${version}, this one knows ${SCHEMA_VERSION})`,
    )
  }
  if (version === SCHEMA_VERSION || (!mayChange && version >= READABLE_VERSION)) return version
  if (!mayChange) {
    throw unavailable(historian, 'it has no tables yet, and writable: false keeps them from being made')
  }
  const lock = `SELECT pg_advisory_xact_lock(${LOCK_CLASS}, 0)`
  const begin = `BEGIN ISOLATION LEVEL READ COMMITTED; ${lock}; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${LOCK_MS}`
  const making = server.change(
    'schema',
    begin,
    context,
    (session) => bringUpToDate(session, tables),
    MIGRATION_SECONDS,
  )
  await making.catch((error: unknown) => {
    // What is not known is not about points, and is looked at again by the next call.
    const isUnknown = error instanceof TidemarkError && error.code === 'WRITE_OUTCOME_UNKNOWN'
    throw isUnknown ? unavailable(historian, reasonIn(error, historian), error) : error
  })
  return SCHEMA_VERSION
}

async function bringUpToDate(session: Session, tables: ManagedTables): Promise<void> {
  // The version is looked at anew: another process may have been faster.
  const found = await readVersion(session, tables)
  if (found >= SCHEMA_VERSION) return
  if (found === 0) {
    if (!(await schemaExists(session, tables))) await session.query(`CREATE SCHEMA ${tables.schema}`)
    await session.query(`CREATE TABLE ${tables.version} (version integer NOT NULL)`)
    await session.query(`INSERT INTO ${tables.version} VALUES (0)`)
  }
  for (const migration of MIGRATIONS.slice(found)) {
    const statements = migration(tables, await look(session, tables))
    for (const statement of statements) await session.query(statement)
  }
  await session.query(`UPDATE ${tables.version} SET version = $1::integer`, [SCHEMA_VERSION])
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

async function look(session: Session, tables: ManagedTables): Promise<Found> {
  const extensions = await readExtensions(session)
  const [row] = await session.query(
    `SELECT a.atttypid = 'integer'::regtype, pg_relation_size(c.oid) FROM pg_class AS c
      JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_attribute AS a ON a.attrelid = c.oid
      WHERE n.nspname = $1::text AND c.relname = 'points' AND a.attname = 'tag_id'`,
    [tables.schemaName],
  )
  return { extensions, hasNarrowIds: row?.[0] === 't', pointBytes: Number(row?.[1] ?? 0) }
}

async function readExtensions(session: Session): Promise<Extensions> {
  const rows = await session.query(
    `SELECT extname FROM pg_extension WHERE extname IN ('timescaledb', 'citus')`,
  )
  const names = rows.map(([name]) => name)
  return { timescaledb: names.includes('timescaledb'), citus: names.includes('citus') }
}

/** Numbers of tags from which on somebody should widen the points' column: half of what an `integer` holds. */
const MANY_IDS = 2 ** 30

/** What somebody should look at in the tables or their server, `null` for nothing. */
export async function readTrouble(session: Session, { tags, points }: ManagedTables): Promise<string | null> {
  const [row] = await session.query(
    `SELECT current_setting('fsync') = 'off',
      (SELECT atttypid = 'integer'::regtype FROM pg_attribute
        WHERE attrelid = ${literal(points)}::regclass AND attname = 'tag_id') AND (SELECT max(id) FROM ${tags}) > $1::bigint`,
    [MANY_IDS],
  )
  const found = [
    row?.[0] === 't' ? 'its server is set to fsync = off: a power cut may take acknowledged writes' : null,
    row?.[1] === 't' ? `its points have room for few further tags: see docs/historians/postgres.md` : null,
  ].filter((reason) => reason !== null)
  return found.length === 0 ? null : found.join('; ')
}
