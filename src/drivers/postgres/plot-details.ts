import type { CallContext, PlotQuery } from '../../historian/contract.ts'
import { type ChartColumn, isMiddleUnknown } from '../../historian/remote/chart-column.ts'
import { bigints, integers, Parameters, texts } from './parameters.ts'
import type { Places } from './places.ts'
import { keyJoin, type Relation, selectPoints } from './relation.ts'
import type { Reader } from './server.ts'

/** What the server said of one column of one query. */
export interface FoundColumn {
  said: ChartColumn | null
  /** Whether two good points of it, one after the other, are too far apart. */
  hasGap: boolean
  /** Times of the points before such gaps, as far as they are needed. */
  gapsAfter: readonly number[]
}

/** The columns that hold points, by the index of the query and their own. */
export type FoundColumns = ReadonlyMap<number, Map<number, FoundColumn>>

type Indexed = PlotQuery & { readonly n: number }

interface Question {
  readonly n: number
  readonly tag: string
  readonly column: FoundColumn
}

/**
 * What cannot be said of a column without knowing its extremes: of three good points the one between the others, and
 * the first gap after each point that is given. One statement for all columns of which one of these is needed.
 */
export async function readDetails(
  reader: Reader,
  places: Places,
  group: readonly Indexed[],
  found: FoundColumns,
  context: CallContext,
): Promise<void> {
  const columns = group.flatMap(({ n, tag }) =>
    Array.from(found.get(n)!.values(), (column) => ({ tag, column })),
  )
  const questions: readonly Question[] = columns
    .filter(({ column }) => column.hasGap || isMiddleUnknown(column.said!))
    .map((question, n) => ({ ...question, n }))
  if (questions.length === 0) return
  const parameters = new Parameters()
  const gap = group[0]!.maxGapUs
  const parts: string[] = []
  for (const [relation, asked] of places.group(questions)) {
    const saids = asked.map(({ item }) => item.column.said!)
    const q = [
      parameters.add(integers(asked.map(({ item }) => item.n)), 'integer[]'),
      parameters.add(texts(asked.map(({ tag }) => tag)), 'text[]'),
      parameters.add(bigints(saids.map(({ firstGoodTime }) => firstGoodTime)), 'bigint[]'),
      parameters.add(bigints(saids.map(({ minTime }) => minTime)), 'bigint[]'),
      parameters.add(bigints(saids.map(({ maxTime }) => maxTime)), 'bigint[]'),
      parameters.add(bigints(saids.map(({ lastGoodTime }) => lastGoodTime)), 'bigint[]'),
    ]
    parts.push(detailSelect(relation, `${q}`, gap === undefined ? 'NULL' : parameters.add(gap, 'bigint')))
  }
  const rows = await reader.read('plots', context, (session) =>
    session.query(parts.join('\nUNION ALL\n'), parameters.values),
  )
  for (const [n, us, value, ...gaps] of rows) {
    const { column } = questions[Number(n)]!
    const said = column.said!
    // There is none where several rows of an existing table lie in one microsecond.
    if (isMiddleUnknown(said) && value !== null)
      column.said = { ...said, middle: { time: Number(us), value: Number(value) } }
    column.gapsAfter = [...new Set(gaps.filter((time) => time !== null).map(Number))]
  }
}

/** Good points from the first to the last of a column, each with the next one. */
function detailSelect(relation: Relation, q: string, gap: string): string {
  const { time, timeColumn, value } = relation
  const points = selectPoints(relation, {
    columns: `${time.us(timeColumn)} AS us, ${time.comparable(timeColumn)} AS at, ${value} AS value`,
    conditions: [time.atOrAfter(timeColumn, 'q.first'), time.before(timeColumn, '(q.last + 1)')],
    order: 'asc',
    limit: null,
    onlyGood: true,
  })
  const isGap = `s.next_us - s.us > ${gap}`
  const gapFrom = (since: string) => `min(s.us) FILTER (WHERE ${isGap} AND s.us >= ${since})`
  return `SELECT q.n, c.* FROM unnest(${q}) AS q(n, tag, first, least, greatest, last) ${keyJoin(relation)}
    CROSS JOIN LATERAL (
      SELECT min(s.us) FILTER (WHERE s.us > q.first), min(s.value) FILTER (WHERE s.us > q.first AND s.us < q.last),
        ${gapFrom('q.first')}, ${gapFrom('q.least')}, ${gapFrom('q.greatest')}
      FROM (
        SELECT r.us, r.value, lead(r.us) OVER (ORDER BY r.at) AS next_us FROM (${points}) AS r
      ) AS s
    ) AS c`
}
