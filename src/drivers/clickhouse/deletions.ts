import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { CallContext, TagRange } from '../../historian/contract.ts'
import { outcomeUnknown } from '../../historian/remote/unavailable.ts'
import { instantFromUs } from '../../time/instant.ts'
import { isUntouched } from './errors.ts'
import { DELETED, groupByTime, MAX_RANGES, type PointTable } from './point-table.ts'
import { INSERT_ATTEMPTS } from './point-writer.ts'
import type { QuerySettings } from './servers.ts'
import type { VersionClock } from './version-clock.ts'

/**
 * Deletes points by rows that say so, each with a version above that of the point: the points are gone for every reader as
 * soon as the rows are there, whatever is merged when, and stay gone. What such rows take on the disk is not given back.
 */
export class Deletions {
  readonly #historian: string
  readonly #points: PointTable
  readonly #clock: VersionClock
  readonly #settings: QuerySettings

  constructor(historian: string, points: PointTable, clock: VersionClock, settings: QuerySettings) {
    this.#historian = historian
    this.#points = points
    this.#clock = clock
    this.#settings = settings
  }

  /** How many points each range has, one that lies in several for the first; without `dryRun` they are deleted. */
  async delete(
    ranges: readonly TagRange[],
    dryRun: boolean,
    context: CallContext,
  ): Promise<readonly number[]> {
    const pieces = disjoint(ranges)
    const found = await this.#points.count(
      pieces.map(({ range }) => range),
      context,
    )
    const counts = ranges.map(() => 0)
    pieces.forEach(({ owner }, i) => {
      counts[owner]! += found[i]!
    })
    if (dryRun) return counts
    const filled = pieces.filter((_, i) => found[i]! > 0).map(({ range }) => range)
    for (let from = 0; from < filled.length; from += MAX_RANGES) {
      await this.#mark(filled.slice(from, from + MAX_RANGES), context)
    }
    return counts
  }

  async #mark(ranges: readonly TagRange[], context: CallContext): Promise<void> {
    const { servers, table } = this.#points
    const conditions = groupByTime(ranges).map(({ condition }) => `(${condition})`)
    const version = this.#clock.take(1)
    try {
      await servers.change(
        'delete',
        `INSERT INTO ${table} (tag, time, value, status, version) ` +
          `SELECT tag, time, toFloat64(0), toUInt8(${DELETED}), greatest(toUInt64(${version}), version + 1) ` +
          `FROM ${table} FINAL WHERE (${conditions.join(' OR ')}) AND status < ${DELETED}`,
        context,
        { settings: this.#settings, attempts: INSERT_ATTEMPTS },
      )
    } catch (error) {
      if (!(error instanceof TidemarkError) || isUntouched(error, false)) throw error
      throw outcomeUnknown(this.#historian, error)
    }
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
  const pieces: Piece[] = []
  ranges.forEach(({ tag, from, to }, owner) => {
    const before = taken.getOrInsertComputed(tag, () => [])
    let at: number = from
    for (const other of before) {
      if (at >= to) break
      if (other.to <= at || other.from >= to) continue
      if (other.from > at)
        pieces.push({ range: { tag, from: instantFromUs(at), to: instantFromUs(other.from) }, owner })
      at = Math.max(at, other.to)
    }
    if (at < to) pieces.push({ range: { tag, from: instantFromUs(at), to }, owner })
    if (from >= to) return
    // Kept in order, so that the walk above sees them from left to right.
    before.push({ from, to })
    before.sort((a, b) => a.from - b.from)
  })
  return pieces
}
