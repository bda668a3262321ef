import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTag } from '../../../grammar/parser.ts'
import { END_INSTANT, instantFromUs, MIN_INSTANT, US_PER_DAY, US_PER_HOUR } from '../../../time/instant.ts'
import { parseTimeZone } from '../../../time/zone.ts'
import { SIGNATURES } from '../../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../../graph/array-source.fixture.ts'
import { seriesOf } from '../../graph/series.fixture.ts'

const OSLO = parseTimeZone('Europe/Oslo')!
const START = Date.parse('2023-01-01T00:00:00Z') * 1000
const YEAR = { from: instantFromUs(START), to: instantFromUs(START + 365 * US_PER_DAY) }
/** A point each hour, of value 2. */
const HOURLY = Array.from({ length: 365 * 24 }, (_, i): Row => [START + i * US_PER_HOUR, 2])

function make(calculation: string, range: typeof YEAR, pushDowns: 'all' | 'none') {
  const source = new ArraySource(new Map([['T', columnsOf(HOURLY)]]))
  const now = YEAR.to
  const options = { signatures: SIGNATURES, defaultHistorian: null, now, zone: OSLO }
  const tree = parseTag(`calc/${calculation}`, options)
  const context = { source, now, zone: OSLO, range }
  return { source, series: seriesOf(tree, context, ({ name }) => storedTag(name, true, pushDowns)) }
}

for (const pushDowns of ['all', 'none'] as const) {
  for (const [window, windows] of [
    ['8h, 1h, 22:00', 1095],
    ['1d, 1h, 06:00', 365],
    ['1w, 1h, sunday 06:00', 53],
    ['1mo, 1h, 15 06:00', 12],
  ] as const) {
    test(`totals of a year with ${window} add up, and cost what was estimated (${pushDowns})`, async () => {
      const { source, series } = make(`WINDOWAGG(h/T, TOTAL, ${window})`, YEAR, pushDowns)
      const { points } = await series.rawPoints({ ...YEAR, order: 'asc', limit: 2_000 })
      const need = { kind: 'raw', ...YEAR, order: 'asc', count: 2_000, isPage: true } as const
      const cost = costOf(series.estimate([need]), source)
      assert.equal(points.times.length, windows)
      assert.ok(source.crossed <= cost, `${source.crossed} crossed, ${cost} estimated`)
      const inner = points.values.slice(0, -1).reduce((sum, value) => sum + value, 0)
      const hours = (points.times.at(-1)! - points.times[0]!) / US_PER_HOUR
      assert.ok(Math.abs(inner - 2 * hours) < 1e-6, `${inner} in ${hours} h`)
    })
  }
}

test('anchored windows go on to the first and the last accepted instant', async () => {
  const range = { from: MIN_INSTANT, to: instantFromUs(END_INSTANT - 1) }
  const { series } = make('WINDOWAGG(h/T, SUM, 1y, 10-01 06:00)', range, 'all')
  const { points } = await series.rawPoints({ ...range, order: 'asc', limit: 1_000 })
  // The gas years that begin in October 2022 and in October 2023.
  assert.equal(points.times.length, 2)
  assert.equal(
    points.values.reduce((sum, value) => sum + value, 0),
    2 * HOURLY.length,
  )
})

test('windows of centuries, which begin or end where doubles are not a microsecond apart, come to an end', async () => {
  const range = { from: MIN_INSTANT, to: instantFromUs(END_INSTANT - 1) }
  for (const order of ['asc', 'desc'] as const) {
    for (const window of ['290y', '300y', '500y']) {
      const { series } = make(`WINDOWAGG(h/T, SUM, ${window}, 06:00)`, range, 'all')
      const { points } = await series.rawPoints({ ...range, order, limit: 3 })
      assert.deepEqual([...points.values], [2 * HOURLY.length], `${window} ${order}`)
    }
  }
})

test('windows of centuries are the same read in either direction, without an anchor, too', async () => {
  const range = { from: MIN_INSTANT, to: instantFromUs(END_INSTANT - 1) }
  for (const days of [100_000, 105_000, 120_000, 150_000]) {
    const read = async (order: 'asc' | 'desc') => {
      const { series } = make(`WINDOWAGG(h/T, COUNT, ${days}d)`, range, 'all')
      const { times, values } = (await series.rawPoints({ ...range, order, limit: 10 })).points
      const rows = Array.from(times, (time, i) => [time, values[i]])
      return order === 'asc' ? rows : rows.reverse()
    }
    const rows = await read('asc')
    assert.equal(rows[0]![0], MIN_INSTANT)
    assert.deepEqual(await read('desc'), rows, `${days} days`)
  }
})
