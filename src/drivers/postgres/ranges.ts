import type { CallContext, RangeQuery, RangeResult } from '../../historian/contract.ts'
import {
  concatColumns,
  makeColumns,
  NO_POINTS,
  type PointColumns,
  STATUS_BAD,
  STATUS_OK,
  sliceColumns,
} from '../../series/columns.ts'
import { pack, unpackBigints, unpackDoubles } from './packed.ts'
import { bigints, integers, Parameters, texts } from './parameters.ts'
import type { Places } from './places.ts'
import { keyJoin, pointColumns, selectPoints } from './relation.ts'
import type { Reader } from './server.ts'
import type { Row, Session } from './session.ts'

/** Points in a row of the answer. */
const PACK_POINTS = 4096
/** Above so many points that may come, rows are fetched through a cursor. */
const CURSOR_ABOVE = 50_000
/** Rows fetched at a time: 32,768 points. */
const ROWS_PER_FETCH = 8

/** The raw points of each range, in one statement. */
export async function readRanges(
  reader: Reader,
  places: Places,
  queries: readonly RangeQuery[],
  context: CallContext,
): Promise<readonly RangeResult[]> {
  return reader.read('ranges', context, async (session) => {
    const chunks: PointColumns[][] = queries.map(() => [])
    const { text, values } = rangeStatement(places, queries)
    if (text === '') return queries.map(() => ({ points: NO_POINTS, more: false }))
    const mostPoints = queries.reduce((sum, { limit }) => sum + limit, 0)
    for await (const rows of rowsOf(session, text, values, mostPoints > CURSOR_ABOVE)) {
      for (const row of rows) chunks[Number(row[0])]!.push(chunkOf(row))
    }
    return queries.map((query, index) => resultOf(chunks[index]!, query))
  })
}

function rangeStatement(places: Places, queries: readonly RangeQuery[]) {
  const parameters = new Parameters()
  const parts: string[] = []
  for (const order of ['asc', 'desc'] as const) {
    const wanted = queries.map((query, n) => ({ ...query, n })).filter((query) => query.order === order)
    for (const [relation, asked] of places.group(wanted)) {
      const q = [
        parameters.add(integers(asked.map(({ item }) => item.n)), 'integer[]'),
        parameters.add(texts(asked.map(({ tag }) => tag)), 'text[]'),
        parameters.add(bigints(asked.map(({ item }) => item.from)), 'bigint[]'),
        parameters.add(bigints(asked.map(({ item }) => item.to)), 'bigint[]'),
        // One more than wanted tells whether there are more.
        parameters.add(bigints(asked.map(({ item }) => item.limit + 1)), 'bigint[]'),
      ]
      const { time, timeColumn } = relation
      const points = selectPoints(relation, {
        columns: pointColumns(relation),
        conditions: [time.atOrAfter(timeColumn, 'q.lo'), time.before(timeColumn, 'q.hi')],
        order,
        limit: 'q.most',
      })
      parts.push(`SELECT q.n, c.* FROM unnest(${q}) AS q(n, tag, lo, hi, most) ${keyJoin(relation)}
        CROSS JOIN LATERAL (
          SELECT ${pack('int8send(s.us)')}, ${pack("float8send(coalesce(s.value, 'NaN'))")},
            array_agg(s.us) FILTER (WHERE NOT s.good)
          FROM (SELECT r.*, row_number() OVER () - 1 AS i FROM (${points}) AS r) AS s
          GROUP BY s.i / ${PACK_POINTS}
        ) AS c`)
    }
  }
  return { text: parts.join('\nUNION ALL\n'), values: parameters.values }
}

async function* rowsOf(session: Session, text: string, values: readonly unknown[], many: boolean) {
  if (many) yield* session.stream(text, values, ROWS_PER_FETCH)
  else yield await session.query(text, values)
}

function chunkOf([, packedTimes, packedValues, badTimes]: Row): PointColumns {
  const times = unpackBigints(packedTimes!)
  const values = unpackDoubles(packedValues!)
  const statuses = new Uint8Array(times.length)
  if (badTimes !== null) {
    const bad = new Set(badTimes!.slice(1, -1).split(',').map(Number))
    for (let i = 0; i < times.length; i++) if (bad.has(times[i]!)) statuses[i] = STATUS_BAD
  }
  return withoutInfinity({ times, values, statuses })
}

/** A value that is no finite number is none; the point is BAD already. */
function withoutInfinity(points: PointColumns): PointColumns {
  const { values } = points
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i]!)) values[i] = Number.NaN
  return points
}

function resultOf(chunks: readonly PointColumns[], { order, limit }: RangeQuery): RangeResult {
  const sign = order === 'asc' ? 1 : -1
  const all = concatColumns([...chunks].sort((a, b) => sign * (a.times[0]! - b.times[0]!)))
  const points = inOrder(all, sign) ? all : sortedOnce(all, sign)
  const more = all.times.length > limit
  return { points: more ? sliceColumns(points, 0, limit) : points, more }
}

function inOrder({ times }: PointColumns, sign: number): boolean {
  for (let i = 1; i < times.length; i++) if (sign * (times[i]! - times[i - 1]!) <= 0) return false
  return true
}

/**
 * Rows come in order from the index nearly always; the server does not promise it for rows inside a packed one. Of
 * several at one instant, which only local times of existing tables have that no clock showed, the last is kept.
 */
function sortedOnce(points: PointColumns, sign: number): PointColumns {
  const order = Array.from(points.times.keys()).sort(
    (a, b) => points.times[a]! - points.times[b]! || sign * (a - b),
  )
  const kept = order.filter((at, i) => points.times[at] !== points.times[order[i + 1] ?? -1])
  if (sign < 0) kept.reverse()
  const sorted = makeColumns(kept.length)
  kept.forEach((at, i) => {
    sorted.times[i] = points.times[at]!
    sorted.values[i] = points.values[at]!
    sorted.statuses[i] = points.statuses[at] === STATUS_OK ? STATUS_OK : STATUS_BAD
  })
  return sorted
}
