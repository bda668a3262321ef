import type { CallContext, PlotQuery } from '../../historian/contract.ts'
import { addChartColumn, type ChartColumn } from '../../historian/remote/chart-column.ts'
import { GappedPlot } from '../../historian/remote/gapped-plot.ts'
import { PlotSampler } from '../../series/plot.ts'
import type { PlotPoints } from '../../series/reads.ts'
import { pack, unpackBigints, unpackDoubles } from './packed.ts'
import { bigints, integers, texts } from './parameters.ts'
import type { Places } from './places.ts'
import { type FoundColumn, type FoundColumns, readDetails } from './plot-details.ts'
import { keyJoin, type Relation, selectPoints } from './relation.ts'
import type { Server } from './server.ts'
import type { Row } from './session.ts'
import { Union } from './union.ts'
import { boundsOf, gridName } from './windows.ts'

/**
 * What the server says of the points `s` of a column: counts, and the times and values of the first, last, least and
 * greatest good point. Pairs are compared by what comes first in them: a time, which a double holds exactly, or a value
 * and then the earlier time.
 */
const GOOD = 'FILTER (WHERE s.good)'
const US = 's.us::double precision'
const COLUMNS = [
  'count(*)::double precision',
  `(count(*) ${GOOD})::double precision`,
  `min(${US})`,
  `(min(ARRAY[${US}, s.value]) ${GOOD})[1]`,
  `(min(ARRAY[${US}, s.value]) ${GOOD})[2]`,
  `(max(ARRAY[${US}, s.value]) ${GOOD})[1]`,
  `(max(ARRAY[${US}, s.value]) ${GOOD})[2]`,
  `(min(ARRAY[s.value, ${US}]) ${GOOD})[1]`,
  `(min(ARRAY[s.value, ${US}]) ${GOOD})[2]`,
  `(max(ARRAY[s.value, -${US}]) ${GOOD})[1]`,
  `-(max(ARRAY[s.value, -${US}]) ${GOOD})[2]`,
  `min(${US}) FILTER (WHERE NOT s.good)`,
]
/** Places of COLUMNS. */
const [
  COUNT,
  NUM_GOOD,
  FIRST_TIME,
  FIRST_GOOD,
  FIRST,
  LAST_GOOD,
  LAST,
  MIN,
  MIN_TIME,
  MAX,
  MAX_TIME,
  FIRST_BAD,
] = COLUMNS.keys()

type Indexed = PlotQuery & { readonly n: number }

/** Points of charts; one statement for all queries of the same columns, and one more where it leaves a question. */
export async function readPlots(
  server: Server,
  places: Places,
  queries: readonly PlotQuery[],
  context: CallContext,
): Promise<readonly PlotPoints[]> {
  const results: PlotPoints[] = []
  const groups = Map.groupBy(
    queries.map((query, n) => ({ ...query, n })),
    ({ edges, maxGapUs }) => `${gridName(edges)} ${maxGapUs ?? ''}`,
  )
  await server.forEachGroup(groups.values(), context, (group, limited) =>
    server.snapshot('plots', limited, async (reader) => {
      const found = new Map(group.map(({ n }) => [n, new Map<number, FoundColumn>()]))
      await reader.read('plots', limited, (session) => {
        const union = new Union()
        addColumns(union, places, group, found)
        addGaps(union, places, group, found)
        return union.run(session)
      })
      await readDetails(reader, places, group, found, limited)
      for (const query of group) results[query.n] = plotOf(query, found.get(query.n)!)
    }),
  )
  return results
}

function addColumns(union: Union, places: Places, group: readonly Indexed[], found: FoundColumns): void {
  const { parameters } = union
  const edges = parameters.add(bigints(group[0]!.edges), 'bigint[]')
  const take = ([n, columns, ...packed]: Row) => {
    const at = unpackBigints(columns!)
    const values = packed.map((one) => unpackDoubles(one))
    at.forEach((column, i) => {
      const said = chartColumn(Float64Array.from(values, (one) => one[i]!))
      columnOf(found, n!, column - 1).said = said
    })
  }
  for (const [relation, asked] of places.group(group)) {
    const q = [
      parameters.add(integers(asked.map(({ item }) => item.n)), 'integer[]'),
      parameters.add(texts(asked.map(({ tag }) => tag)), 'text[]'),
    ]
    union.add(columnsSelect(relation, `${q}`, edges), 1 + COLUMNS.length, take)
  }
}

function columnsSelect(relation: Relation, q: string, edges: string): string {
  const { time, timeColumn, value, good } = relation
  const first = `(${edges})[1]`
  const last = `(${edges})[array_length(${edges}, 1)]`
  const points = selectPoints(relation, {
    columns: `width_bucket(${time.comparable(timeColumn)}, ${boundsOf(relation, edges)}) AS w, ${value} AS value, ${good} AS good, ${time.us(timeColumn)} AS us`,
    conditions: [time.atOrAfter(timeColumn, first), time.before(timeColumn, last)],
    order: 'asc',
    limit: null,
  })
  const columns = COLUMNS.map((sql, index) => `${sql} AS a${index}`)
  const packed = COLUMNS.map((_, index) => pack(`float8send(coalesce(x.a${index}, 'NaN'))`))
  return `SELECT x.n, ${[pack('int8send(x.w::bigint)'), ...packed].join(', ')} FROM (
      SELECT s.n, s.w, ${columns.join(', ')} FROM (
        SELECT q.n, r.* FROM unnest(${q}) AS q(n, tag) ${keyJoin(relation)}
        CROSS JOIN LATERAL (${points}) AS r
      ) AS s GROUP BY s.n, s.w
    ) AS x GROUP BY x.n`
}

/** Adds the selection of the columns in which good points are too far apart. */
function addGaps(union: Union, places: Places, group: readonly Indexed[], found: FoundColumns): void {
  const { edges, maxGapUs } = group[0]!
  if (maxGapUs === undefined) return
  const { parameters } = union
  const edgesParameter = parameters.add(bigints(edges), 'bigint[]')
  const gap = parameters.add(maxGapUs, 'bigint')
  for (const [relation, asked] of places.group(group)) {
    const q = [
      parameters.add(integers(asked.map(({ item }) => item.n)), 'integer[]'),
      parameters.add(texts(asked.map(({ tag }) => tag)), 'text[]'),
    ]
    union.add(gappedSelect(relation, `${q}`, edgesParameter, gap), 1, ([n, columns]) => {
      for (const column of unpackBigints(columns!)) columnOf(found, n!, column - 1).hasGap = true
    })
  }
}

function gappedSelect(relation: Relation, q: string, edges: string, gap: string): string {
  const { time, timeColumn } = relation
  const points = selectPoints(relation, {
    columns: [
      `width_bucket(${time.comparable(timeColumn)}, ${boundsOf(relation, edges)}) AS w`,
      `${time.comparable(timeColumn)} AS at`,
      `${time.us(timeColumn)} AS us`,
    ].join(', '),
    conditions: [
      time.atOrAfter(timeColumn, `(${edges})[1]`),
      time.before(timeColumn, `(${edges})[array_length(${edges}, 1)]`),
    ],
    order: 'asc',
    limit: null,
    onlyGood: true,
  })
  return `SELECT q.n, c.* FROM unnest(${q}) AS q(n, tag) ${keyJoin(relation)}
    CROSS JOIN LATERAL (
      SELECT ${pack('int8send(x.w::bigint)')} FROM (
        SELECT DISTINCT s.w FROM (
          SELECT r.w, r.us, lead(r.us) OVER (ORDER BY r.at) AS next_us FROM (${points}) AS r
        ) AS s WHERE s.next_us - s.us > ${gap} AND width_bucket(s.next_us, ${edges}) = s.w
      ) AS x
    ) AS c`
}

function columnOf(found: FoundColumns, n: string, column: number): FoundColumn {
  return found
    .get(Number(n))!
    .getOrInsertComputed(column, () => ({ said: null, hasGap: false, gapsAfter: [] }))
}

function plotOf(
  { edges, stepped, maxGapUs }: PlotQuery,
  found: ReadonlyMap<number, FoundColumn>,
): PlotPoints {
  const columns = [...found].sort(([a], [b]) => a - b).map(([, column]) => column)
  if (maxGapUs !== undefined) {
    const plot = new GappedPlot(edges, stepped, maxGapUs)
    for (const { said, gapsAfter } of columns) plot.add({ ...said!, gaps: gapsAfter })
    return plot.finish()
  }
  const plot = new PlotSampler(edges)
  for (const { said } of columns) addChartColumn(plot, said!)
  return plot.finish()
}

/** What the server said, by names. */
function chartColumn(values: Float64Array): ChartColumn {
  return {
    count: values[COUNT!]!,
    numGood: values[NUM_GOOD!]!,
    firstTime: values[FIRST_TIME!]!,
    firstGoodTime: values[FIRST_GOOD!]!,
    first: values[FIRST!]!,
    lastGoodTime: values[LAST_GOOD!]!,
    last: values[LAST!]!,
    min: values[MIN!]!,
    max: values[MAX!]!,
    minTime: values[MIN_TIME!]!,
    maxTime: values[MAX_TIME!]!,
    firstBadTime: values[FIRST_BAD!]!,
  }
}
