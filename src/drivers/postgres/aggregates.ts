import type { AggregateQuery, CallContext } from '../../historian/contract.ts'
import { takesSignal } from '../../series/aggregate.ts'
import {
  type AggregateColumns,
  type AggregateName,
  FIRST_AGGREGATE_NAMES,
  type FirstAggregateName,
} from '../../series/aggregate-names.ts'
import { pack, unpackDoubles, unpackIntegers } from './packed.ts'
import { bigints, integers, texts } from './parameters.ts'
import type { Places } from './places.ts'
import { aggregatesFromPoints, leavesDoubles } from './raw-fallback.ts'
import { keyJoin, type Relation, selectPoints } from './relation.ts'
import { aggregatesFromCells } from './segment-fold.ts'
import { addCells, type CellSums, noCells, type SumName, shapeName } from './segments.ts'
import type { Server } from './server.ts'
import type { Row } from './session.ts'
import { Union } from './union.ts'
import { boundsOf, gridName } from './windows.ts'

/**
 * What `readAggregates` computes; further ones follow from these. Some of them follow from integrals or values too, and
 * are named so that all of a label are of one state of the tables.
 */
export const SERVER_AGGREGATES = [
  ...FIRST_AGGREGATE_NAMES,
  'total',
  'increase',
  'startBound',
  'endBound',
  'deltaBounds',
  'minTime',
  'maxTime',
  'durationGood',
  'durationBad',
  'coverage',
  'numTransitions',
  'durationZero',
  'durationNonZero',
] as const satisfies readonly AggregateName[]

type PointAggregate = Exclude<FirstAggregateName, 'timeAvg'> | 'minTime' | 'maxTime'

/**
 * Over the rows `s` of a window: `value`, `good`, `us`, and `base`, a value of the range. Squares are of differences
 * from the base: of values far from 0 they would lose their digits.
 */
const SQL: { readonly [name in PointAggregate]: string } = {
  min: 'min(s.value) FILTER (WHERE s.good)',
  max: 'max(s.value) FILTER (WHERE s.good)',
  avg: 'avg(s.value) FILTER (WHERE s.good)',
  median: 'percentile_cont(0.5) WITHIN GROUP (ORDER BY s.value) FILTER (WHERE s.good)',
  variance: variance(),
  stdDev: `sqrt(${variance()})`,
  // The least and greatest of pairs: what is compared first is the time, which a double holds exactly.
  first: '(min(ARRAY[s.us::double precision, s.value]) FILTER (WHERE s.good))[2]',
  last: '(max(ARRAY[s.us::double precision, s.value]) FILTER (WHERE s.good))[2]',
  sum: 'sum(s.value) FILTER (WHERE s.good)',
  range: 'max(s.value) FILTER (WHERE s.good) - min(s.value) FILTER (WHERE s.good)',
  count: 'count(*)::double precision',
  numGood: '(count(*) FILTER (WHERE s.good))::double precision',
  numBad: '(count(*) FILTER (WHERE NOT s.good))::double precision',
  // Of equal values the earlier time decides.
  minTime: '(min(ARRAY[s.value, s.us::double precision]) FILTER (WHERE s.good))[2]',
  maxTime: '-(max(ARRAY[s.value, -s.us::double precision]) FILTER (WHERE s.good))[2]',
}

function variance(): string {
  const good = 'FILTER (WHERE s.good)'
  return `CASE WHEN count(*) ${good} = 1 THEN 0 ELSE var_samp(s.value - s.base) ${good} END`
}

const COUNTS: ReadonlySet<AggregateName> = new Set(['count', 'numGood', 'numBad'])

/**
 * Aggregates over windows; one statement for all queries of the same windows and aggregates, so that those of a query
 * are of one state of the tables.
 */
export async function readAggregates(
  server: Server,
  places: Places,
  queries: readonly AggregateQuery[],
  context: CallContext,
): Promise<readonly AggregateColumns[]> {
  const results = queries.map(({ edges, aggregates }) => emptyColumns(edges.length - 1, aggregates))
  const groups = Map.groupBy(
    queries.map((query, n) => ({ ...query, n })),
    ({ aggregates, edges }) => `${aggregates} ${gridName(edges)}`,
  )
  await server.forEachGroup(groups.values(), context, (group, limited) =>
    readGroup(server, places, group, results, limited),
  )
  return results
}

type Indexed = AggregateQuery & { readonly n: number }

async function readGroup(
  server: Server,
  places: Places,
  group: readonly Indexed[],
  results: readonly AggregateColumns[],
  context: CallContext,
): Promise<void> {
  const all = group[0]!.aggregates
  const names = all.filter((name): name is PointAggregate => name in SQL)
  const folded = all.filter((name) => !(name in SQL))
  try {
    const cells = await server.read('aggregates', context, async (session) => {
      const union = new Union()
      if (names.length > 0) addWindows(union, places, group, names, results)
      const found = folded.length > 0 ? addCellsOf(union, places, group, folded) : null
      await union.run(session)
      return found
    })
    if (cells === null) return
    for (const query of group)
      Object.assign(results[query.n]!, aggregatesFromCells(query, folded, cells.get(query.n)!))
  } catch (error) {
    if (!leavesDoubles(error)) throw error
    for (const query of group) {
      await server.snapshot('aggregates', context, async (reader) => {
        Object.assign(results[query.n]!, await aggregatesFromPoints(reader, places, query, all, context))
      })
    }
  }
}

/** Cells are windows, cut at the instant until which the last point counts. */
function addCellsOf(
  union: Union,
  places: Places,
  group: readonly Indexed[],
  names: readonly AggregateName[],
): ReadonlyMap<number, CellSums> {
  const found = new Map(group.map(({ n }) => [n, noCells()]))
  const has = (...wanted: readonly AggregateName[]) => wanted.some((name) => names.includes(name))
  const sums: readonly SumName[] = [
    ...(has('timeAvg', 'total') ? (['integral'] as const) : []),
    ...(has('durationZero', 'durationNonZero') ? (['zeroUs'] as const) : []),
    ...(has('numTransitions') ? (['transitions'] as const) : []),
    ...(has('increase') ? (['rises'] as const) : []),
  ]
  const wanted = {
    segments: takesSignal(names) || has('numTransitions'),
    sums,
    runs: has('durationGood', 'durationBad'),
  }
  for (const queries of Map.groupBy(group, shapeName).values()) {
    const shape = queries[0]!
    const edges = cutAt(shape.edges, shape.holdUntil)
    addCells(union, places, { queries, edges, shape, wanted }, found)
  }
  return found
}

function cutAt(edges: Float64Array, time: number): Float64Array {
  if (time <= edges[0]! || time >= edges.at(-1)! || edges.includes(time)) return edges
  const cut = new Float64Array(edges.length + 1).fill(time)
  cut.set(edges)
  return cut.sort()
}

function addWindows(
  union: Union,
  places: Places,
  group: readonly Indexed[],
  names: readonly PointAggregate[],
  results: readonly AggregateColumns[],
): void {
  const { parameters } = union
  const edges = parameters.add(bigints(group[0]!.edges), 'bigint[]')
  const take = ([n, windows, ...columns]: Row) => {
    const at = unpackIntegers(windows!)
    for (const [index, name] of names.entries()) {
      put(results[Number(n)]![name]!, at, unpackDoubles(columns[index]!))
    }
  }
  for (const [relation, asked] of places.group(group)) {
    const q = [
      parameters.add(integers(asked.map(({ item }) => item.n)), 'integer[]'),
      parameters.add(texts(asked.map(({ tag }) => tag)), 'text[]'),
    ]
    union.add(windowsSelect(relation, `${q}`, edges, names), 1 + names.length, take)
  }
}

function windowsSelect(
  relation: Relation,
  q: string,
  edges: string,
  names: readonly PointAggregate[],
): string {
  const { time, timeColumn, value, good } = relation
  const first = `(${edges})[1]`
  const last = `(${edges})[array_length(${edges}, 1)]`
  const conditions = [time.atOrAfter(timeColumn, first), time.before(timeColumn, last)]
  const needs = (...wanted: readonly PointAggregate[]) => wanted.some((name) => names.includes(name))
  const points = selectPoints(relation, {
    columns: [
      `width_bucket(${time.comparable(timeColumn)}, ${boundsOf(relation, edges)}) AS w`,
      `${value} AS value`,
      `${good} AS good`,
      ...(needs('first', 'last', 'minTime', 'maxTime') ? [`${time.us(timeColumn)} AS us`] : []),
    ].join(', '),
    conditions,
    order: 'asc',
    limit: null,
  })
  const base = selectPoints(relation, {
    columns: `${value} AS base`,
    conditions,
    order: 'asc',
    limit: '1',
    onlyGood: true,
  })
  const withBase = needs('variance', 'stdDev') ? `LEFT JOIN LATERAL (${base}) AS f ON true` : ''
  const baseColumn = withBase === '' ? '' : ', f.base'
  const aggregated = names.map((name, index) => `${SQL[name]} AS a${index}`)
  const packed = names.map((_, index) => pack(`float8send(coalesce(x.a${index}, 'NaN'))`))
  return `SELECT x.n, ${[pack('int4send(x.w)'), ...packed].join(', ')} FROM (
      SELECT s.n, s.w, ${aggregated.join(', ')} FROM (
        SELECT q.n, r.*${baseColumn} FROM unnest(${q}) AS q(n, tag) ${keyJoin(relation)}
        ${withBase}
        CROSS JOIN LATERAL (${points}) AS r
      ) AS s GROUP BY s.n, s.w
    ) AS x GROUP BY x.n`
}

function emptyColumns(windows: number, names: readonly AggregateName[]): AggregateColumns {
  return Object.fromEntries(
    names.map((name) => [name, new Float64Array(windows).fill(COUNTS.has(name) ? 0 : Number.NaN)]),
  )
}

function put(column: Float64Array, windows: Int32Array, values: Float64Array): void {
  for (let i = 0; i < windows.length; i++)
    column[windows[i]! - 1] = Number.isFinite(values[i]!) ? values[i]! : Number.NaN
}
