import type { CallContext } from '../../historian/contract.ts'
import { DELETED } from './point-table.ts'
import type { Servers } from './servers.ts'
import { MONTH_US, type Tables } from './tables.ts'
import type { VersionClock } from './version-clock.ts'

/**
 * Tag of the rows that mark versions: each insert of points and each deletion brings one with its own version, at a
 * time that is the number of its process, so that merging leaves one for each. They stand where every file of the
 * server begins, and are found by the index whatever else is stored. To reads they are deleted points of a tag that
 * nobody asks for.
 */
export const MARK_TAG = 0

/**
 * Times of the marks of an insert: one, or with partitions one in each that the insert has points in, so that it makes
 * no file more.
 */
export function markTimes(times: Float64Array, process: number, hasPartitions: boolean): Float64Array {
  if (!hasPartitions) return Float64Array.of(process)
  const months = new Set<number>()
  for (const time of times) months.add(Math.trunc(time / MONTH_US))
  // Partition 0 lies on both sides of 1970, and those before it end where they are counted from.
  return Float64Array.from(months, (month) => month * MONTH_US + (month < 0 ? -process : process))
}

/** Inserts one mark: for rows that the server itself makes from others. */
export function markSql(table: string, process: number, version: bigint): string {
  return `INSERT INTO ${table} (tag, time, value, status, version) SELECT toUInt64(${MARK_TAG}), toInt64(${process}), toFloat64(0), toUInt8(${DELETED}), toUInt64(${version})`
}

/**
 * What other processes in front of the same tables have done. It is asked once before each change of points: whatever
 * was acknowledged before the change began is outweighed by it, also when the clock of this machine is behind.
 */
export class OtherProcesses {
  readonly #servers: Servers
  readonly #tables: Tables
  readonly #clock: VersionClock
  /** Whether versions were looked for among all points, because there were no marks. */
  #isSeeded = false

  constructor(servers: Servers, tables: Tables, clock: VersionClock) {
    this.#servers = servers
    this.#tables = tables
    this.#clock = clock
  }

  /** Has the clock go on above every version of a point. Gives a text that is another one once any tag was deleted. */
  async look(context: CallContext): Promise<string> {
    const rows = await this.#servers.read(
      'metadata',
      'SELECT toUInt8(0) AS what_, count() AS count_, groupBitXor(cityHash64(id, version)) AS hash_, max(version) AS version_ ' +
        `FROM ${this.#tables.tags} WHERE deleted = 1 UNION ALL ` +
        'SELECT toUInt8(1) AS what_, count() AS count_, toUInt64(0) AS hash_, max(version) AS version_ ' +
        `FROM ${this.#tables.points} WHERE tag = ${MARK_TAG}`,
      { what_: 'number', count_: 'number', hash_: 'bigint', version_: 'bigint' },
      context,
    )
    let deletions = ''
    for (let i = 0; i < rows.rows; i++) {
      this.#clock.meet(rows.version_[i]!)
      if (rows.what_[i] === 0) deletions = `${rows.count_[i]} ${rows.hash_[i]}`
      else if (rows.count_[i] === 0) await this.#seed(context)
    }
    return deletions
  }

  /** Points without any mark: none are there, or an earlier version of Tidemark wrote them. */
  async #seed(context: CallContext): Promise<void> {
    if (this.#isSeeded) return
    const rows = await this.#servers.read(
      'metadata',
      `SELECT max(version) AS version_ FROM ${this.#tables.points}`,
      { version_: 'bigint' },
      context,
    )
    this.#clock.meet(rows.version_[0] ?? 0n)
    this.#isSeeded = true
  }
}
