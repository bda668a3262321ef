import type { CallContext, TagRange } from '../../historian/contract.ts'
import { makeColumns, type PointColumns, sliceColumns } from '../../series/columns.ts'
import { quoteInt } from './quote.ts'
import type { Servers } from './servers.ts'
import type { Tables } from './tables.ts'
import { tagId } from './tag-id.ts'

/** Status of a row that says that its point was deleted; OK and BAD are those of src/series/columns.ts. */
export const DELETED = 2

/** What the index alone tells of the rows of a range: all versions of each point count, and deleted ones too. */
export interface RangeStats {
  readonly rows: number
  /** NaN without rows. */
  readonly firstTime: number
  readonly lastTime: number
  /** Whether each row is a point of its own: nothing in the range was overwritten or deleted, as far as is known. */
  readonly plain: boolean
}

const NO_ROWS: RangeStats = { rows: 0, firstTime: Number.NaN, lastTime: Number.NaN, plain: true }

/** Ranges whose conditions stand in one query. */
export const MAX_RANGES = 200

/**
 * Rows of points as they are stored, some of them versions of the same point. What reads have in common: which rows
 * belong to ranges, how many they are, and taking the last version of each.
 */
export class PointTable {
  readonly table: string
  readonly servers: Servers
  /** Whether rows can be distinguished by the file they are in: only where the table is on the server itself. */
  readonly #isLocal: boolean

  constructor(servers: Servers, tables: Tables, isLocal: boolean) {
    this.servers = servers
    this.table = tables.points
    this.#isLocal = isLocal
  }

  /** What there is in each range, in one query for all. */
  async stats(ranges: readonly TagRange[], context: CallContext): Promise<readonly RangeStats[]> {
    const found: RangeStats[] = ranges.map(() => NO_ROWS)
    for (let from = 0; from < ranges.length; from += MAX_RANGES) {
      context.signal.throwIfAborted()
      const slice = ranges.slice(from, from + MAX_RANGES)
      const groups = groupByTime(slice)
      const part = this.#isLocal ? ', _part' : ''
      const rows = await this.servers.read(
        'read',
        groups
          .map(
            (group, number) =>
              `SELECT toUInt32(${number}) AS group_, tag, count() AS rows_, min(time) AS first_, max(time) AS last_, ` +
              `countIf(status = ${DELETED}) AS deleted_ FROM ${this.table} WHERE ${group.condition} ` +
              `GROUP BY tag${part}`,
          )
          .join(' UNION ALL '),
        {
          group_: 'number',
          tag: 'bigint',
          rows_: 'number',
          first_: 'number',
          last_: 'number',
          deleted_: 'number',
        },
        context,
      )
      const parts = new Map<string, Part[]>()
      for (let i = 0; i < rows.rows; i++) {
        const key = `${rows.group_[i]} ${rows.tag[i]}`
        parts
          .getOrInsertComputed(key, () => [])
          .push({
            rows: rows.rows_[i]!,
            first: rows.first_[i]!,
            last: rows.last_[i]!,
            hasDeleted: rows.deleted_[i]! > 0,
          })
      }
      groups.forEach(({ members }, number) => {
        for (const index of members) {
          const own = parts.get(`${number} ${tagId(slice[index]!.tag).text}`)
          if (own !== undefined) found[from + index] = this.#together(own)
        }
      })
    }
    return found
  }

  /**
   * The points of ranges, the last version of each, in time order; deleted ones are left out. For ranges that are known
   * to be small: all rows come at once.
   */
  async points(ranges: readonly TagRange[], context: CallContext): Promise<readonly PointColumns[]> {
    const found: PointColumns[] = []
    for (let from = 0; from < ranges.length; from += MAX_RANGES) {
      context.signal.throwIfAborted()
      const slice = ranges.slice(from, from + MAX_RANGES)
      const conditions = groupByTime(slice).map(({ condition }) => `(${condition})`)
      const rows = await this.servers.read(
        'read',
        `SELECT tag, time, value, status FROM ${this.table} WHERE ${conditions.join(' OR ')} ORDER BY tag, time, version`,
        { tag: 'bigint', time: 'number', value: 'number', status: 'number' },
        context,
      )
      const spans = spansOf(rows.tag)
      for (const { tag, from: start, to } of slice) {
        const span = spans.get(tagId(tag).text)
        found.push(span === undefined ? makeColumns(0) : lastVersions(rows, span.start, span.end, start, to))
      }
    }
    return found
  }

  /** How many points each range has: each once, without deleted ones. */
  async count(ranges: readonly TagRange[], context: CallContext): Promise<readonly number[]> {
    const counts: number[] = ranges.map(() => 0)
    for (let from = 0; from < ranges.length; from += MAX_RANGES) {
      context.signal.throwIfAborted()
      const slice = ranges.slice(from, from + MAX_RANGES)
      const groups = groupByTime(slice)
      const rows = await this.servers.read(
        'read',
        groups
          .map(
            ({ condition }, number) =>
              `SELECT toUInt32(${number}) AS group_, tag, count() AS points_ FROM ${this.table} FINAL ` +
              `WHERE ${condition} AND status < ${DELETED} GROUP BY tag`,
          )
          .join(' UNION ALL '),
        { group_: 'number', tag: 'bigint', points_: 'number' },
        context,
      )
      const found = new Map<string, number>()
      for (let i = 0; i < rows.rows; i++) found.set(`${rows.group_[i]} ${rows.tag[i]}`, rows.points_[i]!)
      groups.forEach(({ members }, number) => {
        for (const index of members) {
          counts[from + index] = found.get(`${number} ${tagId(slice[index]!.tag).text}`) ?? 0
        }
      })
    }
    return counts
  }

  #together(parts: readonly Part[]): RangeStats {
    const sorted = parts.toSorted((a, b) => a.first - b.first)
    // The driver writes no point twice into one file, so two versions of a point are in files that overlap.
    const apart = sorted.every((part, i) => i === 0 || part.first > sorted[i - 1]!.last)
    return {
      rows: parts.reduce((sum, part) => sum + part.rows, 0),
      firstTime: sorted[0]!.first,
      lastTime: Math.max(...parts.map(({ last }) => last)),
      plain: this.#isLocal && apart && parts.every(({ hasDeleted }) => !hasDeleted),
    }
  }
}

interface Part {
  readonly rows: number
  readonly first: number
  readonly last: number
  readonly hasDeleted: boolean
}

/** Ranges of the same time, with the condition that finds their rows; `members` are indexes of the ranges. */
export interface TimeGroup {
  readonly condition: string
  readonly members: readonly number[]
}

/** Joins the ranges of the same time: mostly all of a call, and a list of tags is cheap to look for. */
export function groupByTime(ranges: readonly TagRange[]): readonly TimeGroup[] {
  const groups = new Map<string, number[]>()
  ranges.forEach(({ from, to }, index) => {
    groups.getOrInsertComputed(`${from} ${to}`, () => []).push(index)
  })
  return Array.from(groups.values(), (members) => {
    const { from, to } = ranges[members[0]!]!
    const ids = new Set(members.map((index) => tagId(ranges[index]!.tag).text))
    return { members, condition: rangeCondition(ids, from, to) }
  })
}

/** Rows of tags in [from, to). */
export function rangeCondition(ids: Iterable<string>, from: number, to: number): string {
  return `tag IN (${[...ids].join(', ')}) AND time >= ${quoteInt(from)} AND time < ${quoteInt(to)}`
}

interface Span {
  readonly start: number
  readonly end: number
}

/** Where the rows of each tag stand; rows of a tag stand together. */
function spansOf(tags: BigUint64Array): ReadonlyMap<string, Span> {
  const spans = new Map<string, Span>()
  // Two words instead of a bigint: a comparison for each of many thousand rows.
  const words = new Uint32Array(tags.buffer, tags.byteOffset, tags.length * 2)
  let start = 0
  for (let i = 1; i <= tags.length; i++) {
    const goesOn =
      i < tags.length && words[2 * i] === words[2 * start] && words[2 * i + 1] === words[2 * start + 1]
    if (goesOn) continue
    spans.set(String(tags[start]), { start, end: i })
    start = i
  }
  return spans
}

interface Rows {
  readonly time: Float64Array
  readonly value: Float64Array
  readonly status: Float64Array
}

/**
 * Of rows in the order of time and version, those of [from, to), the last version of each time, without deleted ones.
 */
function lastVersions(
  { time, value, status }: Rows,
  start: number,
  end: number,
  from: number,
  to: number,
): PointColumns {
  const points = makeColumns(end - start)
  let length = 0
  for (let i = start; i < end; i++) {
    const at = time[i]!
    if (at < from || at >= to) continue
    if (i + 1 < end && time[i + 1] === at) continue
    if (status[i] === DELETED) continue
    points.times[length] = at
    points.values[length] = value[i]!
    points.statuses[length] = status[i]!
    length++
  }
  return length === end - start ? points : sliceColumns(points, 0, length)
}
