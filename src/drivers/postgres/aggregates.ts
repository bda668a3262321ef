import type { AggregateQuery, CallContext } from '../../historian/contract.ts'
import type { AggregateColumns, AggregateName } from '../../series/aggregate-names.ts'
import { timeAverages } from '../../series/integrate.ts'
import { readIntegrals } from './integrals.ts'
import { pack, unpackDoubles, unpackIntegers } from './packed.ts'
import { bigints, integers, Parameters, texts } from './parameters.ts'
import type { Places } from './places.ts'
import { aggregatesFromPoints, leavesDoubles } from './raw-fallback.ts'
import { keyJoin, type Relation, selectPoints } from './relation.ts'
import type { Server } from './server.ts'

type PointAggregate = Exclude<AggregateName, 'timeAvg'>

/**
 * Over the rows `s` of a window: `value`, `good`, `us`, and `base`, a value of the range. Squares are of differences from the base:
 * of values far from 0 they would lose their digits.
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
}

function variance(): string {
  const good = 'FILTER (WHERE s.good)'
  return `CASE WHEN count(*) ${good} = 1 THEN 0 ELSE var_samp(s.value - s.base) ${good} END`
}

const COUNTS: ReadonlySet<AggregateName> = new Set(['count', 'numGood', 'numBad'])

/** Aggregates over windows; one statement for all queries of the same windows and aggregates, one more for time averages. */
export async function readAggregates(
  server: Server,
  places: Places,
  queries: readonly AggregateQuery[],
  context: CallContext,
): Promise<readonly AggregateColumns[]> {
  const results = queries.map(({ edges, aggregates }) => emptyColumns(edges.length - 1, aggregates))
  const indexed = queries.map((query, n) => ({ ...query, n }))
  const averaged = indexed.filter(({ aggregates }) => aggregates.includes('timeAvg'))
  const groups = Map.groupBy(
    indexed.filter(({ aggregates }) => aggregates.some((name) => name !== 'timeAvg')),
    ({ aggregates, edges }) => `${aggregates} ${gridName(edges)}`,
  )
  await Promise.all([
    ...Array.from(groups.values(), (group) => readGroup(server, places, group, results, context)),
    readTimeAverages(server, places, averaged, results, context),
  ])
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
  const { edges } = group[0]!
  const names = group[0]!.aggregates.filter((name) => name !== 'timeAvg')
  try {
    await server.read('aggregates', context, async (session) => {
      const parameters = new Parameters()
      const parts: string[] = []
      const edgesParameter = parameters.add(bigints(edges), 'bigint[]')
      for (const [relation, asked] of places.group(group)) {
        const q = [
          parameters.add(integers(asked.map(({ item }) => item.n)), 'integer[]'),
          parameters.add(texts(asked.map(({ tag }) => tag)), 'text[]'),
        ]
        parts.push(windowsSelect(relation, `${q}`, edgesParameter, names))
      }
      if (parts.length === 0) return
      for await (const rows of session.stream(parts.join('\nUNION ALL\n'), parameters.values, 16)) {
        for (const [n, windows, ...columns] of rows) {
          const at = unpackIntegers(windows!)
          for (const [index, name] of names.entries()) {
            put(results[Number(n)]![name]!, at, unpackDoubles(columns[index]!))
          }
        }
      }
    })
  } catch (error) {
    if (!leavesDoubles(error)) throw error
    for (const query of group) {
      Object.assign(results[query.n]!, await aggregatesFromPoints(server, places, query, names, context))
    }
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
      ...(needs('first', 'last') ? [`${time.us(timeColumn)} AS us`] : []),
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

/** The edges as the column's own type, worked out once for the statement. */
function boundsOf({ time }: Relation, edges: string): string {
  if (time.bound('x') === 'x') return edges
  return `(SELECT array_agg(${time.bound('e.at')} ORDER BY e.i) FROM unnest(${edges}) WITH ORDINALITY AS e(at, i))`
}

async function readTimeAverages(
  server: Server,
  places: Places,
  queries: readonly Indexed[],
  results: readonly AggregateColumns[],
  context: CallContext,
): Promise<void> {
  if (queries.length === 0) return
  const spans = new Map<Float64Array, readonly [Float64Array, Float64Array]>()
  const asked = queries.map(({ tag, edges, stepped, holdUntil }) => {
    const [starts, ends] = spans.getOrInsertComputed(edges, () => [edges.subarray(0, -1), edges.subarray(1)])
    return { tag, starts, ends, stepped, holdUntil }
  })
  const integrals = await readIntegrals(server, places, asked, context)
  for (const [index, { n }] of queries.entries()) results[n]!.timeAvg!.set(timeAverages(integrals[index]!))
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

const gridNames = new WeakMap<Float64Array, number>()
let nextGrid = 1

/** The same array gets the same name: labels of a call share their windows. */
export function gridName(edges: Float64Array): number {
  return gridNames.getOrInsertComputed(edges, () => nextGrid++)
}
