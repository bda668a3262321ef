import type { CallContext, TagRange } from '../../historian/contract.ts'
import type { RemoteChange } from '../../historian/remote/change.ts'
import { instantFromUs } from '../../time/instant.ts'
import { DELETED, groupByTime, MAX_RANGES, type PointTable } from './point-table.ts'
import { INSERT_ATTEMPTS } from './point-writer.ts'
import type { QuerySettings } from './server-settings.ts'
import type { VersionClock } from './version-clock.ts'
import { markSql, type OtherProcesses } from './version-marks.ts'

/**
 * Deletes points by rows that say so, each with a version above that of the point: the points are gone for every reader
 * as soon as the rows are there, whatever is merged when, and stay gone. What such rows take on the disk is not given
 * back.
 */
export class Deletions {
  readonly #points: PointTable
  readonly #others: OtherProcesses
  readonly #clock: VersionClock
  readonly #settings: QuerySettings

  constructor(points: PointTable, others: OtherProcesses, clock: VersionClock, settings: QuerySettings) {
    this.#points = points
    this.#others = others
    this.#clock = clock
    this.#settings = settings
  }

  /** How many points each range has, one that lies in several for the first; without `dryRun` they are deleted. */
  async delete(
    ranges: readonly TagRange[],
    dryRun: boolean,
    change: RemoteChange,
  ): Promise<readonly number[]> {
    const chunks = disjoint(ranges)
    const found = await this.#points.count(
      chunks.map(({ range }) => range),
      change,
    )
    const counts = ranges.map(() => 0)
    chunks.forEach(({ owner }, i) => {
      counts[owner]! += found[i]!
    })
    const filled = chunks.filter((_, i) => found[i]! > 0).map(({ range }) => range)
    if (dryRun || filled.length === 0) return counts
    await this.#others.look(change)
    const version = this.#clock.take()
    await this.#markVersion(version, change)
    for (let from = 0; from < filled.length; from += MAX_RANGES) {
      await this.#markPoints(filled.slice(from, from + MAX_RANGES), version, change)
    }
    return counts
  }

  /** First, and in an insert of its own: with a quorum 18.16 refuses two blocks that one statement makes. */
  async #markVersion(version: bigint, context: CallContext): Promise<void> {
    const { servers, table } = this.#points
    const settings = this.#settings
    const sql = markSql(table, this.#clock.process, version)
    await servers.execute('delete', sql, context, { settings, attempts: INSERT_ATTEMPTS })
  }

  async #markPoints(ranges: readonly TagRange[], version: bigint, change: RemoteChange): Promise<void> {
    const { servers, table } = this.#points
    const conditions = groupByTime(ranges).map(({ condition }) => `(${condition})`)
    await servers.insert(
      change,
      'delete',
      `INSERT INTO ${table} (tag, time, value, status, version) ` +
        `SELECT tag, time, toFloat64(0), toUInt8(${DELETED}), greatest(toUInt64(${version}), version + 1) ` +
        `FROM ${table} FINAL WHERE (${conditions.join(' OR ')}) AND status < ${DELETED}`,
      // It may be more than a block.
      { settings: this.#settings, isWhole: false, attempts: INSERT_ATTEMPTS },
    )
  }
}

interface Piece {
  readonly range: TagRange
  /** Index of the range that it counts for. */
  readonly owner: number
}

/** The ranges without what lies in an earlier one. */
export function disjoint(ranges: readonly TagRange[]): readonly Piece[] {
  const taken = new Map<string, { from: number; to: number }[]>()
  const chunks: Piece[] = []
  ranges.forEach(({ tag, from, to }, owner) => {
    const before = taken.getOrInsertComputed(tag, () => [])
    let at: number = from
    for (const other of before) {
      if (at >= to) break
      if (other.to <= at || other.from >= to) continue
      if (other.from > at)
        chunks.push({ range: { tag, from: instantFromUs(at), to: instantFromUs(other.from) }, owner })
      at = Math.max(at, other.to)
    }
    if (at < to) chunks.push({ range: { tag, from: instantFromUs(at), to }, owner })
    if (from >= to) return
    // Kept in order, so that the walk above sees them from left to right.
    before.push({ from, to })
    before.sort((a, b) => a.from - b.from)
  })
  return chunks
}
