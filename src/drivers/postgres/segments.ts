import { type PointColumns, STATUS_BAD, STATUS_OK } from '../../series/columns.ts'
import type { SignalShape } from '../../series/reads.ts'
import type { SegmentSums } from '../../series/signal-feeder.ts'
import { pack, unpackDoubles, unpackIntegers } from './packed.ts'
import { bigints, integers, texts } from './parameters.ts'
import type { Places } from './places.ts'
import { keyJoin, pointColumns, type Relation, selectPoints } from './relation.ts'
import type { Row } from './session.ts'
import type { Union } from './union.ts'
import { boundsOf } from './windows.ts'

/** Integrals, how long the signal is zero, changes between zero and not zero, and rises. */
export type SumName = 'integral' | 'zeroUs' | 'transitions' | 'rises'

/** What is wanted of the points between two edges that follow each other: a cell. */
export interface Wanted {
  /** Good points and how long there is no value between them: `good` of what is found. */
  readonly segments: boolean
  /** What else of them; others are 0. */
  readonly sums: readonly SumName[]
  /** How long a point of any status is the last one: `runs` of what is found. */
  readonly runs: boolean
}

/** Good points of a cell and the segments between them. */
export interface GoodCell extends SegmentSums {
  readonly transitions: number
  readonly rises: number
}

/** Points of any status of a cell. */
export interface RunCell {
  readonly firstTime: number
  readonly lastTime: number
  readonly isLastGood: boolean
  /** From good points to the next point of any status in the cell. */
  readonly goodUs: number
}

/** What the server found of one tag: cells that hold such points, by their index, and the points beside all of them. */
export interface CellSums {
  good: ReadonlyMap<number, GoodCell>
  runs: ReadonlyMap<number, RunCell>
  /** The last good point before the first edge; the last point before it where that one is BAD; in time order. */
  before: PointColumns
  /** The first good point at or after the last edge. */
  after: { readonly time: number; readonly value: number } | null
}

/** Which cells of which tags: queries of the same shape, by the index of their result. */
export interface CellQuery {
  readonly queries: readonly { readonly tag: string; readonly n: number }[]
  /** Ascending instants; at least two. */
  readonly edges: Float64Array
  readonly shape: SignalShape
  readonly wanted: Wanted
}

/**
 * Adds the selections for cells. Only what lies inside of a cell is summed up by the server: what goes from one to the
 * next follows from their first and last points.
 */
export function addCells(
  union: Union,
  places: Places,
  { queries, edges, shape, wanted }: CellQuery,
  results: ReadonlyMap<number, CellSums>,
): void {
  const placed = places.group(queries)
  // A parameter that no selection has is an error.
  if (placed.size === 0) return
  const { parameters } = union
  const edgesParameter = parameters.add(bigints(edges), 'bigint[]')
  const hasGaps = wanted.segments && shape.maxGapUs !== undefined
  const gap = hasGaps ? parameters.add(shape.maxGapUs, 'bigint') : null
  const sums = Object.entries({ ...ENDS, ...sumsOf(shape.stepped, gap, wanted.sums) })
  for (const [relation, asked] of placed) {
    const q = [
      parameters.add(integers(asked.map(({ item }) => item.n)), 'integer[]'),
      parameters.add(texts(asked.map(({ tag }) => tag)), 'text[]'),
    ].join(', ')
    const add = (points: CellPoints, named: readonly Sum[], take: (result: CellSums, row: Row) => void) => {
      const select = cellSelect(relation, q, edgesParameter, points, named)
      union.add(select, 2 + named.length, (row) => take(resultOf(results, row), row))
    }
    if (wanted.segments) {
      add(GOOD_POINTS, sums, (result, row) => {
        result.good = goodCells(row, sums)
      })
    }
    if (wanted.runs) {
      add(ALL_POINTS, RUN_SUMS, (result, row) => {
        result.runs = runCells(row)
      })
    }
    union.add(besideSelect(relation, q, edgesParameter), 7, (row) => {
      Object.assign(resultOf(results, row), besideOf(row))
    })
  }
}

/** Queries with the same name can share their selections. */
export function shapeName({ stepped, holdUntil, maxGapUs }: SignalShape): string {
  return `${stepped} ${holdUntil} ${maxGapUs ?? ''}`
}

export function noCells(): CellSums {
  return { good: new Map(), runs: new Map(), before: columnsOf([]), after: null }
}

function resultOf(results: ReadonlyMap<number, CellSums>, [n]: Row): CellSums {
  return results.get(Number(n))!
}

/**
 * Aggregates over the points `s` of a cell, each with the next one in time: its cell `next_w`, `next_us` and
 * `next_value`. A segment belongs to the cell that both of its points lie in. The next one of a cell's last point is
 * the first of another: that says it at the least cost.
 */
const IN_CELL = 's.next_w = s.w'
const LAST = 's.next_w IS DISTINCT FROM s.w'
const LENGTH = '(s.next_us - s.us)'

/** A name and its SQL, a number. */
type Sum = readonly [name: string, sql: string]

const TIMES = {
  firstTime: 'min(s.us)::double precision',
  lastTime: 'max(s.us)::double precision',
}
const ENDS = {
  ...TIMES,
  last: `max(s.value) FILTER (WHERE ${LAST})`,
  nextFirst: `max(s.next_value) FILTER (WHERE ${LAST})`,
}

function sumOf(sql: string, ...conditions: readonly string[]): string {
  return `coalesce(sum((${sql})::double precision) FILTER (WHERE ${[IN_CELL, ...conditions].join(' AND ')}), 0)`
}

function sumsOf(stepped: boolean, gap: string | null, names: readonly SumName[]) {
  const near = gap === null ? [] : [`${LENGTH} <= ${gap}`]
  const covered = gap === null ? LENGTH : `least(${LENGTH}, ${gap})`
  const sums: { readonly [name in SumName]: string } = {
    integral: stepped
      ? sumOf(`${covered} * s.value`)
      : // Halved first: the sum of two large values can leave the range of doubles, their halves cannot.
        sumOf(`${LENGTH} * (s.value / 2 + s.next_value / 2)`, ...near),
    zeroUs: stepped
      ? sumOf(covered, 's.value = 0')
      : sumOf(LENGTH, 's.value = 0', 's.next_value = 0', ...near),
    transitions: sumOf('1', '(s.value = 0) <> (s.next_value = 0)'),
    // A fall is a restart at 0.
    rises: sumOf('CASE WHEN s.next_value >= s.value THEN s.next_value - s.value ELSE s.next_value END'),
  }
  const gapUs = sumOf(stepped ? `${LENGTH} - ${gap}` : LENGTH, `${LENGTH} > ${gap}`)
  return { ...Object.fromEntries(names.map((name) => [name, sums[name]])), ...(gap !== null && { gapUs }) }
}

const RUN_SUMS: readonly Sum[] = Object.entries({
  ...TIMES,
  isLastGood: `(bool_or(s.good) FILTER (WHERE ${LAST}))::integer::double precision`,
  goodUs: sumOf(LENGTH, 's.good'),
})

interface CellPoints {
  readonly onlyGood: boolean
  readonly column: (relation: Relation) => string
  /** Of the next point, beside its time. */
  readonly next: string
}

const GOOD_POINTS: CellPoints = {
  onlyGood: true,
  column: ({ value }) => `${value} AS value`,
  next: 'lead(r.value) OVER o AS next_value, ',
}
const ALL_POINTS: CellPoints = { onlyGood: false, column: ({ good }) => `${good} AS good`, next: '' }

/**
 * Points are walked once, in the order of the index; a window of one ordering alone keeps few of them in memory. The
 * first column is the value of the first point.
 */
function cellSelect(
  relation: Relation,
  q: string,
  edges: string,
  { onlyGood, column, next }: CellPoints,
  sums: readonly Sum[],
): string {
  const { time, timeColumn, value } = relation
  const selection = {
    conditions: [
      time.atOrAfter(timeColumn, `(${edges})[1]`),
      time.before(timeColumn, `(${edges})[array_length(${edges}, 1)]`),
    ],
    order: 'asc',
    onlyGood,
  } as const
  const points = selectPoints(relation, {
    ...selection,
    columns: [
      `width_bucket(${time.comparable(timeColumn)}, ${boundsOf(relation, edges)}) AS w`,
      `${time.comparable(timeColumn)} AS at`,
      `${time.us(timeColumn)} AS us`,
      column(relation),
    ].join(', '),
    limit: null,
  })
  const first = selectPoints(relation, { ...selection, columns: `${value} AS value`, limit: '1' })
  const named = sums.map(([, sql], index) => `${sql} AS a${index}`)
  const packed = sums.map((_, index) => pack(`float8send(coalesce(x.a${index}, 'NaN'))`))
  return `SELECT q.n, f.value::text, c.* FROM unnest(${q}) AS q(n, tag) ${keyJoin(relation)}
    CROSS JOIN LATERAL (
      SELECT ${[pack('int4send(x.w)'), ...packed].join(', ')} FROM (
        SELECT s.w, ${named.join(', ')} FROM (
          SELECT t.*, width_bucket(t.next_us, ${edges}) AS next_w FROM (
            SELECT r.*, ${next}lead(r.us) OVER o AS next_us FROM (${points}) AS r WINDOW o AS (ORDER BY r.at)
          ) AS t
        ) AS s GROUP BY s.w
      ) AS x
    ) AS c LEFT JOIN LATERAL (${first}) AS f ON true`
}

function besideSelect(relation: Relation, q: string, edges: string): string {
  const { time, timeColumn } = relation
  const columns = pointColumns(relation)
  const before = {
    columns,
    conditions: [time.before(timeColumn, `(${edges})[1]`)],
    order: 'desc',
    limit: '1',
  } as const
  const after = {
    columns,
    conditions: [time.atOrAfter(timeColumn, `(${edges})[array_length(${edges}, 1)]`)],
    order: 'asc',
    limit: '1',
    onlyGood: true,
  } as const
  return `SELECT q.n, b.us::text, b.value::text, l.us::text, l.value::text, l.good::text, a.us::text, a.value::text
    FROM unnest(${q}) AS q(n, tag) ${keyJoin(relation)}
    LEFT JOIN LATERAL (${selectPoints(relation, { ...before, onlyGood: true })}) AS b ON true
    LEFT JOIN LATERAL (${selectPoints(relation, before)}) AS l ON true
    LEFT JOIN LATERAL (${selectPoints(relation, after)}) AS a ON true`
}

type BesidePoint = readonly [time: number, value: number, status: number]

function besideOf([, goodUs, goodValue, lastUs, lastValue, isGood, afterUs, afterValue]: Row) {
  const before: BesidePoint[] = []
  if (goodUs !== null) before.push([Number(goodUs), Number(goodValue), STATUS_OK])
  if (lastUs !== null && isGood === 'false') {
    before.push([Number(lastUs), lastValue === null ? Number.NaN : Number(lastValue), STATUS_BAD])
  }
  return {
    before: columnsOf(before),
    after: afterUs === null ? null : { time: Number(afterUs), value: Number(afterValue) },
  }
}

function columnsOf(rows: readonly BesidePoint[]): PointColumns {
  return {
    times: Float64Array.from(rows, ([time]) => time),
    values: Float64Array.from(rows, ([, value]) => value),
    statuses: Uint8Array.from(rows, ([, , status]) => status),
  }
}

function goodCells([, value, cells, ...packed]: Row, sums: readonly Sum[]): Map<number, GoodCell> {
  let first = Number(value)
  return byCell(cells!, sums, packed, (of) => {
    const cell = {
      firstTime: of('firstTime'),
      lastTime: of('lastTime'),
      first,
      last: of('last'),
      integral: of('integral'),
      zeroUs: of('zeroUs'),
      gapUs: of('gapUs'),
      transitions: of('transitions'),
      rises: of('rises'),
    }
    first = of('nextFirst')
    return cell
  })
}

function runCells([, , cells, ...packed]: Row): Map<number, RunCell> {
  return byCell(cells!, RUN_SUMS, packed, (of) => ({
    firstTime: of('firstTime'),
    lastTime: of('lastTime'),
    isLastGood: of('isLastGood') === 1,
    goodUs: of('goodUs'),
  }))
}

/** Cells by their index, ascending; a sum that was not wanted is 0. */
function byCell<Cell>(
  cells: string | null,
  sums: readonly Sum[],
  packed: readonly (string | null)[],
  cellOf: (of: (name: string) => number) => Cell,
): Map<number, Cell> {
  const indexes = unpackIntegers(cells)
  const columns = new Map(sums.map(([name], column) => [name, unpackDoubles(packed[column]!)]))
  const order = Array.from(indexes.keys()).sort((a, b) => indexes[a]! - indexes[b]!)
  return new Map(order.map((i) => [indexes[i]! - 1, cellOf((name) => columns.get(name)?.[i] ?? 0)]))
}
