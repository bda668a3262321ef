import type { CallContext, IntegralQuery } from '../../historian/contract.ts'
import type { Integrals } from '../../series/reads.ts'
import { pack, unpackDoubles, unpackIntegers } from './packed.ts'
import { bigints, integers, Parameters, texts } from './parameters.ts'
import type { Places } from './places.ts'
import { integralsFromPoints, leavesDoubles } from './raw-fallback.ts'
import { keyJoin, pointColumns, type Relation, selectPoints } from './relation.ts'
import type { Server } from './server.ts'

/** Integrals over spans; one statement for all queries of the same spans and shape. */
export async function readIntegrals(
  server: Server,
  places: Places,
  queries: readonly IntegralQuery[],
  context: CallContext,
): Promise<readonly Integrals[]> {
  const results = queries.map(({ starts }) => ({
    integrals: new Float64Array(starts.length),
    coveredUs: new Float64Array(starts.length),
  }))
  const names = new Map<Float64Array, number>()
  const nameOf = (times: Float64Array) => names.getOrInsertComputed(times, () => names.size)
  const groups = Map.groupBy(
    queries.map((query, n) => ({ ...query, n })),
    ({ starts, ends, stepped, holdUntil }) => `${nameOf(starts)} ${nameOf(ends)} ${stepped} ${holdUntil}`,
  )
  await Promise.all(
    Array.from(groups.values(), (group) => readGroup(server, places, group, results, context)),
  )
  return results
}

type Indexed = IntegralQuery & { readonly n: number }

async function readGroup(
  server: Server,
  places: Places,
  group: readonly Indexed[],
  results: readonly Integrals[],
  context: CallContext,
): Promise<void> {
  const { starts, ends, stepped, holdUntil } = group[0]!
  const { edges, spanOf } = piecesOf(starts, ends)
  if (edges.length < 2) return
  try {
    await server.read('integrals', context, async (session) => {
      const parameters = new Parameters()
      const shape = {
        edges: parameters.add(bigints(edges), 'bigint[]'),
        holdUntil: parameters.add(holdUntil, 'bigint'),
        stepped,
      }
      const parts: string[] = []
      for (const [relation, asked] of places.group(group)) {
        const q = [
          parameters.add(integers(asked.map(({ item }) => item.n)), 'integer[]'),
          parameters.add(texts(asked.map(({ tag }) => tag)), 'text[]'),
        ]
        parts.push(integralSelect(relation, `${q}`, shape))
      }
      if (parts.length === 0) return
      for await (const rows of session.stream(parts.join('\nUNION ALL\n'), parameters.values, 16)) {
        for (const [n, pieces, areas, covered] of rows) {
          const at = unpackIntegers(pieces!)
          const area = unpackDoubles(areas!)
          const length = unpackDoubles(covered!)
          for (let i = 0; i < at.length; i++) {
            const span = spanOf[at[i]! - 1]!
            if (span < 0) continue
            results[Number(n)]!.integrals[span] = area[i]!
            results[Number(n)]!.coveredUs[span] = length[i]!
          }
        }
      }
    })
  } catch (error) {
    if (!leavesDoubles(error)) throw error
    for (const query of group) {
      const { integrals, coveredUs } = await integralsFromPoints(server, places, query, context)
      results[query.n]!.integrals.set(integrals)
      results[query.n]!.coveredUs.set(coveredUs)
    }
  }
}

/** Spans and the gaps between them as pieces that join; a gap belongs to span -1. Empty spans are left out. */
function piecesOf(starts: Float64Array, ends: Float64Array) {
  const edges: number[] = []
  const spanOf: number[] = []
  for (let span = 0; span < starts.length; span++) {
    const start = starts[span]!
    const end = ends[span]!
    if (end <= start) continue
    const last = edges.at(-1)
    if (last === undefined) edges.push(start)
    else if (last < start) {
      spanOf.push(-1)
      edges.push(start)
    }
    spanOf.push(span)
    edges.push(end)
  }
  return { edges, spanOf }
}

/**
 * From each good point to the next the signal is a straight segment; the last one holds. A segment is cut at the edges of the
 * pieces that it touches, which most lie in one of, and its parts are added up by piece. The good points beside the first and
 * last edge belong to it.
 */
function integralSelect(
  relation: Relation,
  q: string,
  {
    edges,
    holdUntil,
    stepped,
  }: { readonly edges: string; readonly holdUntil: string; readonly stepped: boolean },
): string {
  const { time, timeColumn } = relation
  const first = `(${edges})[1]`
  const pieces = `(array_length(${edges}, 1) - 1)`
  const last = `(${edges})[array_length(${edges}, 1)]`
  const points = (conditions: readonly string[], order: 'asc' | 'desc', limit: string | null) =>
    `(${selectPoints(relation, { columns: pointColumns(relation), conditions, order, limit, onlyGood: true })})`
  const good = [
    points([time.before(timeColumn, `(${first} + 1)`)], 'desc', '1'),
    points([time.atOrAfter(timeColumn, `(${first} + 1)`), time.before(timeColumn, last)], 'asc', null),
    points([time.atOrAfter(timeColumn, last)], 'asc', '1'),
  ].join(' UNION ALL ')
  const valueAt = (at: string) =>
    stepped ? 'c.v1' : `(c.v1 + (c.v2 - c.v1) * ((${at} - c.t1)::double precision / (c.t2 - c.t1)))`
  return `SELECT q.n, z.* FROM unnest(${q}) AS q(n, tag) ${keyJoin(relation)}
    CROSS JOIN LATERAL (
      SELECT ${pack('int4send(y.w)')}, ${pack('float8send(y.area)')}, ${pack('float8send(y.covered)')} FROM (
        SELECT c.w, sum((c.upto - c.since) * (${valueAt('c.since')} / 2 + ${valueAt('c.upto')} / 2)) AS area,
          sum((c.upto - c.since)::double precision) AS covered
        FROM (
          SELECT b.*, greatest(b.t1, (${edges})[b.w]) AS since, least(b.t2, (${edges})[b.w + 1]) AS upto FROM (
            SELECT a.*, generate_series(
              greatest(width_bucket(a.t1, ${edges}), 1), least(width_bucket(a.t2 - 1, ${edges}), ${pieces})) AS w
            FROM (
              SELECT g.us AS t1, g.value AS v1, coalesce(lead(g.us) OVER o, ${holdUntil}) AS t2, coalesce(lead(g.value) OVER o, g.value) AS v2
              FROM (${good}) AS g WINDOW o AS (ORDER BY g.us)
            ) AS a WHERE a.t2 > a.t1
          ) AS b
        ) AS c GROUP BY c.w
      ) AS y
    ) AS z`
}
