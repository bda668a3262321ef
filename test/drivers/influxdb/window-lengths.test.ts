import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { InfluxHistorian } from '../../../src/drivers/influxdb/driver.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import { WindowAggregator } from '../../../src/series/aggregate.ts'
import { evenEdges } from '../../../src/time/grid.ts'
import { END_INSTANT, type Instant, MIN_INSTANT, US_PER_DAY } from '../../../src/time/instant.ts'
import { at, points } from '../../contract/points.ts'
import { foundInflux, InfluxServer } from '../../servers/influxdb.ts'
import { context, openInflux } from './subject.ts'

const YEAR = 365 * US_PER_DAY
/** Of the nanoseconds of these, doubles are off by more than half a microsecond. */
const EARLY = MIN_INSTANT + 1_234_567_915
const LATE = END_INSTANT - 64

describe('windows of any length, anywhere between 1700 and 2200', { skip: foundInflux.skip }, () => {
  let server: InfluxServer
  let historian: InfluxHistorian
  const stored = points(
    ...[MIN_INSTANT, MIN_INSTANT + 1, MIN_INSTANT + 5].map((time, i) => [time, i + 1] as const),
    ...[EARLY, EARLY + 2, EARLY + 7].map((time, i) => [time, 5 + i] as const),
    ...Array.from(
      { length: 60 },
      (_, i) => [MIN_INSTANT + (i + 1) * 8 * YEAR, 10 + i, i % 7 === 3 ? 1 : 0] as const,
    ),
    ...[LATE, LATE + 1, LATE + 5].map((time, i) => [time, 90 + i] as const),
    ...[END_INSTANT - 6, END_INSTANT - 2, END_INSTANT - 1].map((time, i) => [time, 100 + i] as const),
  )
  before(async () => {
    server = await InfluxServer.start(['plant'])
    ;({ historian } = await openInflux(server, 'plant'))
    await historian.write(writeBatch([{ tag: 'T', points: stored }], true), context)
  })
  after(async () => {
    await historian.close()
    await server.stop()
  })

  const even = (from: number, to: number, count: number) => evenEdges(from as Instant, to as Instant, count)
  const cases: readonly (readonly [title: string, edges: Float64Array])[] = [
    ['all of it', Float64Array.of(MIN_INSTANT, END_INSTANT)],
    [
      'longer than 292 years, and the rest',
      Float64Array.of(MIN_INSTANT, MIN_INSTANT + 300 * YEAR, END_INSTANT),
    ],
    ...[2, 3, 5, 7, 20, 30, 100].map(
      (count) => [`all of it in ${count} parts`, even(MIN_INSTANT, END_INSTANT, count)] as const,
    ),
    ['the first microseconds', even(MIN_INSTANT, MIN_INSTANT + 8, 8)],
    ['the first microseconds, in two', even(MIN_INSTANT, MIN_INSTANT + 8, 4)],
    ['microseconds of 1700', even(EARLY, EARLY + 10, 10)],
    ['microseconds of 1700, in twos', even(EARLY, EARLY + 10, 5)],
    ['microseconds of 2199', even(LATE, LATE + 8, 8)],
    ['microseconds of 2199, in twos', even(LATE, LATE + 8, 4)],
    ['the last microseconds', even(END_INSTANT - 8, END_INSTANT, 8)],
    ['the last microseconds, in threes', even(END_INSTANT - 9, END_INSTANT, 3)],
  ]
  for (const [title, edges] of cases) {
    test(title, async () => {
      const aggregates = ['count', 'numGood', 'min', 'max', 'sum', 'first', 'last', 'median'] as const
      const windows = new WindowAggregator(edges, aggregates)
      windows.add(stored)
      const query = { tag: 'T', edges, aggregates, stepped: false, holdUntil: at(0) }
      const before = historian.client.statementsSent
      const [found] = await historian.readAggregates([query], context)
      assert.deepEqual(found, windows.finish())
      assert.ok(historian.client.statementsSent - before <= 1 + 3 * 30)
    })
  }
})
