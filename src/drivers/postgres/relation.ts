import type { TimeColumn } from './time-column.ts'

/**
 * A table of points as reads see it, made by Tidemark or not: SQL fragments, in which `p` is the table of points and
 * `k.key` what stands for the tag in it. Everything in them comes from this driver and its configuration, quoted; tags,
 * times and values of calls are parameters.
 */
export interface Relation {
  /** Table or sub-query, to stand before `AS p`. */
  readonly from: string
  /**
   * Sub-select of the one row with `key` for the tag `q.tag` (a text), or no row for one that does not exist; `null`
   * when the tag's name itself is the key.
   */
  readonly key: string | null
  /** Condition for the rows of a tag, given the key; `null` where all rows are the one tag's. */
  readonly ofKey: ((key: string) => string) | null
  /** The column, quoted, with its table: `p."time"`. */
  readonly timeColumn: string
  readonly time: TimeColumn
  /** `double precision`; NULL or not finite only where `good` is false. */
  readonly value: string
  /** Boolean, never NULL: the point is not BAD. */
  readonly good: string
  /** Conditions that every row must meet to be a point. */
  readonly where: readonly string[]
  /** Ordering that decides which of several rows with the same time is the point; `null` where there is only one. */
  readonly newestFirst: string | null
}

/** Where a query's tag is: the relation and the text that `q.tag` has there. */
export interface Place {
  readonly relation: Relation
  readonly tag: string
}

/** SQL of the look-up of a tag's key, to stand after `FROM ... AS q`. */
export function keyJoin({ key }: Relation): string {
  return key === null ? '' : `CROSS JOIN LATERAL (${key}) AS k`
}

export interface Selection {
  /** Expressions over `p`, each with its name. */
  readonly columns: string
  readonly conditions: readonly string[]
  readonly order: 'asc' | 'desc'
  /** A number's expression; `null` for all rows. */
  readonly limit: string | null
}

/** The columns that most selections want: `us`, `value` and `good`. */
export function pointColumns({ time, timeColumn, value, good }: Relation): string {
  return `${time.us(timeColumn)} AS us, ${value} AS value, ${good} AS good`
}

/**
 * SQL of the points of the tag `q.tag` that meet conditions, one for each time; with a limit the first ones in order of
 * time. Which of several is the point of a time is decided before `onlyGood` looks at it. Conditions on the time are of
 * whole microseconds.
 */
export function selectPoints(
  relation: Relation,
  selection: Selection & { readonly onlyGood?: boolean },
): string {
  const { from, ofKey, time, timeColumn, newestFirst, good } = relation
  const { columns, order, limit, onlyGood = false } = selection
  const key = relation.key === null ? 'q.tag' : 'k.key'
  const rows = [...(ofKey === null ? [] : [ofKey(key)]), ...relation.where, ...selection.conditions]
  const bounded = limit === null ? '' : ` LIMIT ${limit}`
  if (newestFirst === null && !time.isFiner) {
    const conditions = onlyGood ? [...rows, good] : rows
    // An order that nobody sees would only narrow the server's choice of plans.
    const ordered = limit === null ? '' : ` ORDER BY ${timeColumn} ${order}${bounded}`
    return `SELECT ${columns} FROM ${from} AS p${where(conditions)}${ordered}`
  }
  const newest = newestFirst === null ? '' : ` ORDER BY ${timeColumn} ${order}, ${newestFirst}`
  const single = `SELECT ${newest === '' ? '' : `DISTINCT ON (${timeColumn}) `}p.* FROM ${from} AS p${where(rows)}${newest}`
  const ordered = limit === null ? '' : ` ORDER BY ${timeColumn} ${order}${bounded}`
  const points = time.isFiner ? lastOfMicroseconds(single, relation, order) : single
  const conditions = [...(time.isFiner ? [`p.${LAST}`] : []), ...(onlyGood ? [good] : [])]
  return `SELECT ${columns} FROM (${points}) AS p${where(conditions)}${ordered}`
}

const LAST = 'tidemark_last'

/**
 * Adds to rows whether no other one comes after them in their microsecond. The window has the order of the selection,
 * so that the index gives both, and a limited selection ends as early as without.
 */
function lastOfMicroseconds(rows: string, { time, timeColumn }: Relation, order: Selection['order']): string {
  const next = `${order === 'asc' ? 'lead' : 'lag'}(${timeColumn}) OVER (ORDER BY ${timeColumn} ${order})`
  return `SELECT p.*, ${time.us(next)} IS DISTINCT FROM ${time.us(timeColumn)} AS ${LAST} FROM (${rows}) AS p`
}

function where(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
}
