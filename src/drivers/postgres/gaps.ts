import type { CallContext, GapsQuery } from '../../historian/contract.ts'
import type { GapPage } from '../../series/gaps.ts'
import { pack, unpackBigints, unpackIntegers } from './packed.ts'
import { bigints, integers, texts } from './parameters.ts'
import type { Places } from './places.ts'
import { keyJoin, type Relation, selectPoints } from './relation.ts'
import type { Server } from './server.ts'
import type { Row } from './session.ts'
import { Union } from './union.ts'

/** A gap, as the server finds it. */
interface Gap {
  readonly from: number
  readonly to: number
  readonly bad: boolean
}

/**
 * Times without a good point, of all queries in one statement: the server compares each good point with the one before
 * it, and the last one with the end of the range.
 */
export function readGaps(
  server: Server,
  places: Places,
  queries: readonly GapsQuery[],
  context: CallContext,
): Promise<readonly GapPage[]> {
  return server.read('gaps', context, async (session) => {
    const found = new Map<number, Gap[]>()
    const union = new Union()
    const take = ([n, starts, ends, bads]: Row) => {
      const to = unpackBigints(ends!)
      const bad = unpackIntegers(bads!)
      const gaps = Array.from(unpackBigints(starts!), (from, i) => ({ from, to: to[i]!, bad: bad[i]! === 1 }))
      found.set(Number(n), gaps)
    }
    for (const [relation, asked] of places.group(queries.map((query, n) => ({ ...query, n })))) {
      const { parameters } = union
      const q = [
        parameters.add(integers(asked.map(({ item }) => item.n)), 'integer[]'),
        parameters.add(texts(asked.map(({ tag }) => tag)), 'text[]'),
        parameters.add(bigints(asked.map(({ item }) => item.from)), 'bigint[]'),
        parameters.add(bigints(asked.map(({ item }) => item.to)), 'bigint[]'),
        parameters.add(bigints(asked.map(({ item }) => item.longerThanUs)), 'bigint[]'),
        // One more than wanted tells whether there are more.
        parameters.add(bigints(asked.map(({ item }) => item.limit + 1)), 'bigint[]'),
      ]
      union.add(gapSelect(relation, `${q}`), 4, take)
    }
    await union.run(session)
    return queries.map((query, n) => pageOf(query, found.get(n) ?? withoutPoints(query)))
  })
}

/**
 * The gaps before good points, as far as the limit allows, and the one after the last. Whether a point lies inside of a
 * gap, which can only be BAD, is a step into the index for each gap, and so is the last good point.
 */
function gapSelect(relation: Relation, q: string): string {
  const { time, timeColumn } = relation
  const range = [time.atOrAfter(timeColumn, 'q.lo'), time.before(timeColumn, 'q.hi')]
  const us = `${time.us(timeColumn)} AS us`
  const good = selectPoints(relation, {
    columns: `${us}, ${time.comparable(timeColumn)} AS at`,
    conditions: range,
    order: 'asc',
    limit: null,
    onlyGood: true,
  })
  const last = selectPoints(relation, {
    columns: us,
    conditions: range,
    order: 'desc',
    limit: '1',
    onlyGood: true,
  })
  const inside = selectPoints(relation, {
    columns: us,
    conditions: [
      time.atOrAfter(timeColumn, 'coalesce(x.good_us + 1, q.lo)'),
      time.before(timeColumn, 'x.upto'),
    ],
    order: 'asc',
    limit: '1',
  })
  return `SELECT q.n, c.* FROM unnest(${q}) AS q(n, tag, lo, hi, longer, most) ${keyJoin(relation)}
    CROSS JOIN LATERAL (
      SELECT ${pack('int8send(coalesce(x.good_us, q.lo))')}, ${pack('int8send(x.upto)')},
        ${pack('int4send((b.us IS NOT NULL)::integer)')}
      FROM (
        (SELECT d.good_us, d.us AS upto FROM (
          SELECT g.us, lag(g.us) OVER (ORDER BY g.at) AS good_us FROM (${good}) AS g
        ) AS d WHERE d.us - coalesce(d.good_us, q.lo) > q.longer ORDER BY d.us LIMIT q.most)
        UNION ALL
        SELECT e.good_us, q.hi FROM (SELECT max(l.us) AS good_us FROM (${last}) AS l) AS e
        WHERE q.hi - coalesce(e.good_us, q.lo) > q.longer
      ) AS x LEFT JOIN LATERAL (${inside}) AS b ON true
    ) AS c`
}

/** A tag that no table has a row of is not answered. */
function withoutPoints({ from, to, longerThanUs }: GapsQuery): readonly Gap[] {
  return to - from > longerThanUs ? [{ from, to, bad: false }] : []
}

/** @param found in any order */
function pageOf({ limit }: GapsQuery, found: readonly Gap[]): GapPage {
  const gaps = found.toSorted((a, b) => a.from - b.from).slice(0, limit)
  return {
    from: Float64Array.from(gaps, (gap) => gap.from),
    to: Float64Array.from(gaps, (gap) => gap.to),
    bad: Uint8Array.from(gaps, (gap) => Number(gap.bad)),
    more: found.length > limit,
  }
}
