import type { BoundingValues, CallContext, PointQuery, TagRange } from '../../historian/contract.ts'
import { makeColumns, type PointColumns, STATUS_BAD, STATUS_OK } from '../../series/columns.ts'
import { interpolate } from '../../series/interpolate.ts'
import type { SignalShape } from '../../series/reads.ts'
import { pack, unpackBigints, unpackDoubles, unpackIntegers } from './packed.ts'
import { bigints, booleans, integers, Parameters, texts } from './parameters.ts'
import type { Places } from './places.ts'
import { keyJoin, pointColumns, type Relation, selectPoints } from './relation.ts'
import type { Reader, Server } from './server.ts'

/** One raw point for each query, all of them in one statement. */
export function readPoints(
  reader: Reader,
  places: Places,
  queries: readonly PointQuery[],
  context: CallContext,
): Promise<PointColumns> {
  return reader.read('points', context, async (session) => {
    const found = makeColumns(queries.length)
    found.times.fill(Number.NaN)
    found.values.fill(Number.NaN)
    const parameters = new Parameters()
    const parts: string[] = []
    for (const [relation, asked] of places.group(queries.map((query, n) => ({ ...query, n })))) {
      const q = [
        parameters.add(integers(asked.map(({ item }) => item.n)), 'integer[]'),
        parameters.add(texts(asked.map(({ tag }) => tag)), 'text[]'),
        parameters.add(booleans(asked.map(({ item }) => isBackward(item))), 'boolean[]'),
        parameters.add(bigints(asked.map(({ item }) => boundOf(item))), 'bigint[]'),
      ]
      const columns = pointColumns(relation)
      const { time, timeColumn } = relation
      const side = (condition: string, bound: string, order: 'asc' | 'desc') =>
        selectPoints(relation, { columns, conditions: [condition, bound], order, limit: '1' })
      parts.push(`SELECT q.n, s.us, s.value, s.good FROM unnest(${q}) AS q(n, tag, backward, bound) ${keyJoin(relation)}
        CROSS JOIN LATERAL (
          (${side('q.backward', time.before(timeColumn, 'q.bound'), 'desc')}) UNION ALL
          (${side('NOT q.backward', time.atOrAfter(timeColumn, 'q.bound'), 'asc')})
        ) AS s`)
    }
    if (parts.length === 0) return found
    for (const [n, us, value, good] of await session.query(parts.join('\nUNION ALL\n'), parameters.values)) {
      const at = Number(n)
      const number = value === null ? Number.NaN : Number(value)
      found.times[at] = Number(us)
      found.values[at] = Number.isFinite(number) ? number : Number.NaN
      found.statuses[at] = good === 't' ? STATUS_OK : STATUS_BAD
    }
    return found
  })
}

function isBackward({ find }: PointQuery): boolean {
  return find === 'before' || find === 'before-or-at'
}

/** Instants are whole: at or before one is before the next. */
function boundOf({ find, at }: PointQuery): number {
  return find === 'before-or-at' || find === 'after' ? at + 1 : at
}

/** Exact counts of points, each up to the cap. */
export function countPoints(
  server: Server,
  places: Places,
  ranges: readonly TagRange[],
  cap: number,
  context: CallContext,
): Promise<readonly number[]> {
  return server.read('count', context, async (session) => {
    const counts = new Array<number>(ranges.length).fill(0)
    const parameters = new Parameters()
    const parts: string[] = []
    for (const [relation, asked] of places.group(ranges.map((range, n) => ({ ...range, n })))) {
      const q = [
        parameters.add(integers(asked.map(({ item }) => item.n)), 'integer[]'),
        parameters.add(texts(asked.map(({ tag }) => tag)), 'text[]'),
        parameters.add(bigints(asked.map(({ item }) => item.from)), 'bigint[]'),
        parameters.add(bigints(asked.map(({ item }) => item.to)), 'bigint[]'),
      ]
      const { time, timeColumn } = relation
      const points = selectPoints(relation, {
        columns: '1',
        conditions: [time.atOrAfter(timeColumn, 'q.lo'), time.before(timeColumn, 'q.hi')],
        order: 'asc',
        limit: parameters.add(cap, 'bigint'),
      })
      parts.push(`SELECT q.n, c.count FROM unnest(${q}) AS q(n, tag, lo, hi) ${keyJoin(relation)}
        CROSS JOIN LATERAL (SELECT count(*) FROM (${points}) AS s) AS c`)
    }
    if (parts.length === 0) return counts
    for (const [n, count] of await session.query(parts.join('\nUNION ALL\n'), parameters.values)) {
      counts[Number(n)] = Number(count)
    }
    return counts
  })
}

/** Tags with the times at which something is asked of each. */
export interface TimesQuery {
  readonly tag: string
  /** Ascending, distinct. */
  readonly times: Float64Array
}

/** How much of the bounding values is needed: for a value, those are left out that cannot change it. */
export type BoundingUse = 'both' | SignalShape

/**
 * Good points at or before, and at or after, each of the times: two look-ups in the index a time. Queries that share
 * their times are joined into one statement.
 */
export async function readBoundingValues(
  reader: Reader,
  places: Places,
  queries: readonly (TimesQuery & { readonly use: BoundingUse })[],
  context: CallContext,
): Promise<readonly BoundingValues[]> {
  return reader.read('boundingValues', context, async (session) => {
    const results = queries.map(({ times }) => noBoundingValues(times.length))
    const parameters = new Parameters()
    const timesParameters = new Map<Float64Array, string>()
    const parts: string[] = []
    for (const [relation, asked] of places.group(queries.map((query, n) => ({ ...query, n })))) {
      const groups = Map.groupBy(asked, ({ item }) => `${timesId(item.times, timesParameters, parameters)}`)
      for (const [times, group] of groups) {
        for (const sameUse of Map.groupBy(group, ({ item }) => useName(item.use)).values()) {
          const q = [
            parameters.add(integers(sameUse.map(({ item }) => item.n)), 'integer[]'),
            parameters.add(texts(sameUse.map(({ tag }) => tag)), 'text[]'),
          ]
          const needed = neededAfter(sameUse[0]!.item.use, parameters)
          parts.push(boundingSelect(relation, `${q}`, times, needed))
        }
      }
    }
    if (parts.length === 0) return results
    for await (const rows of session.stream(parts.join('\nUNION ALL\n'), parameters.values, 16)) {
      for (const [n, indexes, beforeTimes, beforeValues, afterTimes, afterValues] of rows) {
        const result = results[Number(n)]!
        const at = unpackIntegers(indexes!)
        place(result.beforeTimes, at, withGaps(unpackBigints(beforeTimes!)))
        place(result.beforeValues, at, unpackDoubles(beforeValues!))
        place(result.afterTimes, at, withGaps(unpackBigints(afterTimes!)))
        place(result.afterValues, at, unpackDoubles(afterValues!))
      }
    }
    return results
  })
}

/** Values at given times; the server finds the bounding values, the line between them is drawn here. */
export async function readInterpolated(
  server: Server,
  places: Places,
  queries: readonly (TimesQuery & SignalShape)[],
  context: CallContext,
): Promise<readonly Float64Array[]> {
  const asked = queries.map(({ tag, times, stepped, holdUntil }) => ({
    tag,
    times,
    use: { stepped, holdUntil },
  }))
  const found = await readBoundingValues(server, places, asked, context)
  return queries.map((query, index) => interpolate(found[index]!, query.times, query))
}

/** No instant has this number: it stands for "no point" in a packed column. */
const NOWHERE = Number.MIN_SAFE_INTEGER - 1

function boundingSelect(relation: Relation, q: string, times: string, neededAfter: string): string {
  const { time, timeColumn, value } = relation
  const columns = `${time.us(timeColumn)} AS us, ${value} AS value`
  const before = selectPoints(relation, {
    columns,
    conditions: [time.before(timeColumn, '(g.at + 1)')],
    order: 'desc',
    limit: '1',
    onlyGood: true,
  })
  const after = selectPoints(relation, {
    columns,
    conditions: [time.atOrAfter(timeColumn, 'g.at'), neededAfter],
    order: 'asc',
    limit: '1',
    onlyGood: true,
  })
  const packedTime = (side: string) => pack(`int8send(coalesce(${side}.us, ${NOWHERE}))`)
  const packedValue = (side: string) => pack(`float8send(coalesce(${side}.value, 'NaN'))`)
  return `SELECT q.n, c.* FROM unnest(${q}) AS q(n, tag) ${keyJoin(relation)}
    CROSS JOIN LATERAL (
      SELECT ${pack('int4send(g.i::integer)')}, ${packedTime('b')}, ${packedValue('b')}, ${packedTime('a')}, ${packedValue('a')}
      FROM unnest(${times}) WITH ORDINALITY AS g(at, i)
      LEFT JOIN LATERAL (${before}) AS b ON true
      LEFT JOIN LATERAL (${after}) AS a ON true
    ) AS c`
}

/**
 * Condition under which the point after has to be looked up. A value at a good point's time is that point's; a stepped
 * signal needs to know of a point after only where what is held might end.
 */
function neededAfter(use: BoundingUse, parameters: Parameters): string {
  if (use === 'both') return 'true'
  const notAtPoint = 'b.us IS NOT NULL AND b.us <> g.at'
  return use.stepped ? `${notAtPoint} AND g.at > ${parameters.add(use.holdUntil, 'bigint')}` : notAtPoint
}

function useName(use: BoundingUse): string {
  return use === 'both' ? use : `${use.stepped} ${use.holdUntil}`
}

/** The parameter of an array of times, once for each array. */
function timesId(times: Float64Array, known: Map<Float64Array, string>, parameters: Parameters): string {
  return known.getOrInsertComputed(times, () => parameters.add(bigints(times), 'bigint[]'))
}

function noBoundingValues(length: number) {
  const nothing = () => new Float64Array(length).fill(Number.NaN)
  return {
    beforeTimes: nothing(),
    beforeValues: nothing(),
    afterTimes: nothing(),
    afterValues: nothing(),
  }
}

function place(column: Float64Array, at: Int32Array, found: Float64Array): void {
  for (let i = 0; i < at.length; i++) column[at[i]! - 1] = found[i]!
}

function withGaps(times: Float64Array): Float64Array {
  for (let i = 0; i < times.length; i++) if (times[i] === NOWHERE) times[i] = Number.NaN
  return times
}
