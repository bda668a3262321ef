import type { Intervals } from '../calc/consumers/intervals.ts'
import type { GapPage } from '../series/gaps.ts'
import { createInstantFormatter } from '../time/format.ts'
import type { TimeZone } from '../time/zone.ts'
import { aggregateColumns, aggregateFields, rangeColumns } from './answer-aggregates.ts'
import type { Chunk } from './answer-points.ts'
import type { BufferPool } from './buffer-pool.ts'
import type { ShownAggregates } from './requests/asked-aggregates.ts'

/** INTERVALS as an array of objects, each with the aggregates of the other tag where there is one. */
export function* intervalRows(
  { from, to, openStart, openEnd }: Intervals,
  aggregates: ShownAggregates | null,
  zone: TimeZone,
): Generator<string> {
  const format = createInstantFormatter(zone)
  const fieldsOf = aggregates === null ? null : aggregateFields(aggregates, zone)
  yield '['
  for (let i = 0; i < from.length; i++) {
    const range = `"from":"${format(from[i]!)}","to":"${format(to[i]!)}"`
    const open = `"openStart":${openStart[i] === 1},"openEnd":${openEnd[i] === 1}`
    const beside = fieldsOf === null ? '' : `,"aggregates":{${range}${fieldsOf(i)}}`
    yield `${i === 0 ? '' : ','}{${range},${open}${beside}}`
  }
  yield ']'
}

/** Intervals are given as they are, whatever the range. */
const WHOLE = { first: false, last: false }

/** INTERVALS as columns; times are epoch milliseconds. */
export function* intervalColumns(
  { from, to, openStart, openEnd }: Intervals,
  aggregates: ShownAggregates | null,
  pool: BufferPool,
): Generator<Chunk> {
  yield '{'
  yield* rangeColumns(from, to, pool)
  yield `,"openStart":[${booleans(openStart)}],"openEnd":[${booleans(openEnd)}]`
  if (aggregates !== null) {
    yield ',"aggregates":'
    yield* aggregateColumns(from, to, aggregates, WHOLE, pool)
  }
  yield '}'
}

/** GAPS as an array of objects. */
export function* gapRows({ from, to, bad }: GapPage, zone: TimeZone): Generator<string> {
  const format = createInstantFormatter(zone)
  yield '['
  for (let i = 0; i < from.length; i++) {
    const kind = bad[i] === 1 ? 'bad' : 'missing'
    yield `${i === 0 ? '' : ','}{"from":"${format(from[i]!)}","to":"${format(to[i]!)}","kind":"${kind}"}`
  }
  yield ']'
}

/** GAPS as columns; times are epoch milliseconds. */
export function* gapColumns({ from, to, bad }: GapPage, pool: BufferPool): Generator<Chunk> {
  yield '{'
  yield* rangeColumns(from, to, pool)
  yield `,"kind":[${Array.from(bad, (isBad) => (isBad === 1 ? '"bad"' : '"missing"')).join(',')}]}`
}

function booleans(flags: Uint8Array): string {
  return Array.from(flags, (flag) => flag === 1).join(',')
}
