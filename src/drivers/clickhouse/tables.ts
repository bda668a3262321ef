import type { CallContext } from '../../historian/contract.ts'
import type { DriverLog } from '../../historian/driver.ts'
import { withTimeLimit } from '../../historian/remote/time-limit.ts'
import { unavailable } from '../../historian/remote/unavailable.ts'
import type { ClickhouseConfig } from './config.ts'
import { quoteName, quoteText } from './quote.ts'
import { ServerSettings } from './server-settings.ts'
import type { Servers } from './servers.ts'

interface Table {
  readonly name: string
  /** Columns and their types, in the order in which they are made. */
  readonly columns: Readonly<Record<string, string>>
  /** How columns are compressed, where the servers can. */
  readonly codecs: Readonly<Record<string, string>>
  readonly orderBy: string
  readonly partitionBy: string | null
}

const POINTS = {
  tag: 'UInt64',
  time: 'Int64',
  value: 'Float64',
  status: 'UInt8',
  version: 'UInt64',
} as const

const TAGS = {
  id: 'UInt64',
  name: 'String',
  description: 'String',
  hasDescription: 'UInt8',
  units: 'String',
  hasUnits: 'UInt8',
  stepped: 'UInt8',
  maxGap: 'String',
  states: 'String',
  deleted: 'UInt8',
  version: 'UInt64',
} as const

/**
 * Columns that tables of earlier versions do not have: they are added, or read as empty where nothing may be changed.
 */
const ADDED: ReadonlySet<string> = new Set(['maxGap', 'states'])

/**
 * Differences, then ZSTD: of what sensors send, times and values come to a seventh of what the default takes, and to
 * less than with DoubleDelta and Gorilla (docs/historians/clickhouse.md).
 */
const POINT_CODECS = {
  tag: 'ZSTD(1)',
  time: 'Delta, ZSTD(1)',
  value: 'Delta, ZSTD(1)',
  status: 'ZSTD(1)',
  version: 'Delta, ZSTD(1)',
} as const

/** Rows between two marks of the index: a tenth of the default, since most reads want a few points of many tags. */
const GRANULARITY = 1_024

/** Calendar months of microseconds before 1970 and far ahead, which dates of the server do not reach: mean months. */
export const MONTH_US = 2_629_746_000_000

interface Lacking {
  readonly table: string
  readonly column: string
  readonly type: string
}

/** The tables of one historian: their names in SQL, and that they are there and as they should be. */
export class Tables {
  /** What reads and writes name: the table itself, or the Distributed one over its shards. */
  readonly points: string
  readonly tags: string
  readonly #historian: string
  readonly #config: ClickhouseConfig
  readonly #servers: Servers
  readonly #log: DriverLog
  #ready: Promise<void> | null = null
  #lacking: readonly Lacking[] = []

  constructor(historian: string, config: ClickhouseConfig, servers: Servers, log: DriverLog) {
    this.#historian = historian
    this.#config = config
    this.#servers = servers
    this.#log = log
    this.points = this.#qualified('points')
    this.tags = this.#qualified('tags')
  }

  /** Resolves when the tables are there, made if need be; looks once, and again after a failure or `forget`. */
  async ready(context: CallContext): Promise<void> {
    context.signal.throwIfAborted()
    if (this.#ready === null) {
      // Not by the signal of this call: others wait for the same.
      const never = new AbortController()
      const ready = withTimeLimit(this.#historian, PREPARE_SECONDS, never, (own) => this.#prepare(own))
      this.#ready = ready
      ready.catch(() => {
        if (this.#ready === ready) this.#ready = null
      })
    }
    await aborting(this.#ready, context.signal)
  }

  /** Whether the table of tags does not have a column, because it is of an earlier version and may not be changed. */
  lacks(column: string): boolean {
    return this.#lacking.some((lacking) => lacking.column === column)
  }

  /** The tables are looked at anew at the next call. */
  forget(): void {
    this.#ready = null
  }

  #qualified(name: string): string {
    return `${quoteName(this.#config.database)}.${quoteName(this.#config.tablePrefix + name)}`
  }

  #tables(): readonly Table[] {
    const { tablePrefix, partitionBy } = this.#config
    const local = this.#config.cluster === undefined ? '' : '_local'
    return [
      {
        name: `${tablePrefix}points${local}`,
        columns: POINTS,
        codecs: POINT_CODECS,
        orderBy: '(tag, time)',
        partitionBy: partitionBy === 'month' ? `intDiv(time, ${MONTH_US})` : null,
      },
      {
        name: `${tablePrefix}tags${local}`,
        columns: TAGS,
        codecs: {},
        orderBy: '(id, name)',
        partitionBy: null,
      },
    ]
  }

  async #prepare(context: CallContext): Promise<void> {
    await this.#learnSettings(context)
    if (await this.#check(context)) {
      await this.#addColumns(context)
      return
    }
    const { cluster, database, writable } = this.#config
    if (!writable) throw unavailable(this.#historian, `its tables are missing in the database ${database}`)
    const on = cluster === undefined ? '' : ` ON CLUSTER ${quoteName(cluster)}`
    // Servers of the cluster that are down make their tables when they come back, from the list of statements.
    const waits = cluster === undefined ? {} : { distributed_ddl_task_timeout: DDL_SECONDS }
    const run = (sql: string) => this.#servers.execute('schema', sql, context, { settings: waits })
    await run(`CREATE DATABASE IF NOT EXISTS ${quoteName(database)}${on}`)
    const { hasCodecs, ofTables } = this.#servers.settings
    const settings = Object.entries({ index_granularity: GRANULARITY, ...ofTables })
      .map(([setting, value]) => `${setting} = ${value}`)
      .join(', ')
    for (const table of this.#tables()) {
      const columns = columnsOf(table, hasCodecs ? table.codecs : {})
      const name = `${quoteName(database)}.${quoteName(table.name)}`
      const engine =
        cluster === undefined
          ? 'ReplacingMergeTree(version)'
          : `ReplicatedReplacingMergeTree(${quoteText(`/clickhouse/tables/{shard}/${database}/${table.name}`)}, '{replica}', version)`
      const partition = table.partitionBy === null ? '' : ` PARTITION BY ${table.partitionBy}`
      await run(
        `CREATE TABLE IF NOT EXISTS ${name}${on} (${columns}) ENGINE = ${engine}${partition} ` +
          `ORDER BY ${table.orderBy} SETTINGS ${settings}`,
      )
      if (cluster === undefined) continue
      const whole = `${quoteName(database)}.${quoteName(table.name.replace(/_local$/, ''))}`
      const key = table.columns === POINTS ? 'tag' : 'id'
      await run(
        `CREATE TABLE IF NOT EXISTS ${whole}${on} (${columnsOf(table, {})}) ENGINE = ` +
          `Distributed(${quoteName(cluster)}, ${quoteName(database)}, ${quoteName(table.name)}, ${key})`,
      )
    }
    this.#log.info({ historian: this.#historian, database }, 'made the tables of a ClickHouse historian')
    if (!(await this.#check(context))) {
      throw unavailable(this.#historian, `its tables are missing in the database ${database}`)
    }
  }

  async #addColumns(context: CallContext): Promise<void> {
    const { cluster, database, writable } = this.#config
    if (this.#lacking.length === 0 || !writable) return
    const on = cluster === undefined ? '' : ` ON CLUSTER ${quoteName(cluster)}`
    const waits = cluster === undefined ? {} : { distributed_ddl_task_timeout: DDL_SECONDS }
    let failure: unknown = null
    for (const { table, column, type } of this.#lacking) {
      const name = `${quoteName(database)}.${quoteName(table)}`
      const sql = `ALTER TABLE ${name}${on} ADD COLUMN ${column} ${type}`
      // Another process may be faster, which makes an error of it.
      await this.#servers.execute('schema', sql, context, { settings: waits }).catch((error: unknown) => {
        failure = error
      })
    }
    await this.#check(context)
    if (this.#lacking.length === 0) return
    const names = this.#lacking.map(({ table, column }) => `${column} of ${table}`).join(', ')
    throw unavailable(this.#historian, `columns could not be added: ${names}`, failure)
  }

  async #learnSettings(context: CallContext): Promise<void> {
    const asked = ServerSettings.asked.map(quoteText).join(', ')
    const found = await this.#servers.read(
      'schema',
      `SELECT name FROM system.settings WHERE name IN (${asked}) ` +
        `UNION ALL SELECT name FROM system.merge_tree_settings WHERE name IN (${asked})`,
      { name: 'text' },
      context,
    )
    this.#servers.settings.learn(found.name)
  }

  /** Whether all tables are there; HISTORIAN_UNAVAILABLE when one of them is another than expected. */
  async #check(context: CallContext): Promise<boolean> {
    const { database } = this.#config
    const found = await this.#servers.read(
      'schema',
      `SELECT table, name, type FROM system.columns WHERE database = ${quoteText(database)}`,
      { table: 'text', name: 'text', type: 'text' },
      context,
    )
    const types = new Map<string, Map<string, string>>()
    found.table.forEach((table, i) => {
      types.getOrInsertComputed(table, () => new Map()).set(found.name[i]!, found.type[i]!)
    })
    const wanted = this.#tables()
    const lacking: Lacking[] = []
    const missing = wanted.filter(({ name }) => !types.has(name) || !types.has(name.replace(/_local$/, '')))
    for (const { name, columns } of wanted) {
      for (const table of new Set([name, name.replace(/_local$/, '')])) {
        const there = types.get(table)
        if (there === undefined) continue
        for (const [column, type] of Object.entries(columns)) {
          const actual = there.get(column)
          if (actual === type) continue
          if (actual === undefined && ADDED.has(column)) {
            lacking.push({ table, column, type })
            continue
          }
          const what = actual === undefined ? 'is missing' : `is of type ${actual.slice(0, 60)}`
          throw unavailable(
            this.#historian,
            `column ${column} of its table ${table} ${what}, and ${type} is expected`,
          )
        }
      }
    }
    this.#lacking = lacking
    if (missing.length > 0) return false
    await this.#checkEngines(wanted, context)
    return true
  }

  /** Any other engine would keep points twice, or lose which one is the last. */
  async #checkEngines(tables: readonly Table[], context: CallContext): Promise<void> {
    const { database } = this.#config
    const found = await this.#servers.read(
      'schema',
      `SELECT name, engine FROM system.tables WHERE database = ${quoteText(database)}`,
      { name: 'text', engine: 'text' },
      context,
    )
    for (const { name } of tables) {
      const engine = found.engine[found.name.indexOf(name)] ?? ''
      if (!engine.endsWith('ReplacingMergeTree')) {
        throw unavailable(
          this.#historian,
          `its table ${name} has the engine ${engine.slice(0, 60)}, and a ReplacingMergeTree is expected`,
        )
      }
    }
  }
}

/** How long a statement waits for all servers of a cluster. */
const DDL_SECONDS = 20
const PREPARE_SECONDS = 60

function columnsOf({ columns }: Table, codecs: Readonly<Record<string, string>>): string {
  return Object.entries(columns)
    .map(([name, type]) => (name in codecs ? `${name} ${type} CODEC(${codecs[name]})` : `${name} ${type}`))
    .join(', ')
}

/** The promise's outcome, or the signal's reason as soon as it is aborted. */
async function aborting<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = () => reject(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
