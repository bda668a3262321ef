import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTag } from '../../../grammar/parser.ts'
import { type Instant, instantFromUs, MIN_INSTANT, US_PER_DAY, US_PER_HOUR } from '../../../time/instant.ts'
import { parseTimeZone } from '../../../time/zone.ts'
import { SIGNATURES } from '../../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../../graph/array-source.fixture.ts'
import { seriesOf } from '../../graph/series.fixture.ts'

const ZONE = parseTimeZone('Europe/Oslo')!
const OPS = ['COUNT', 'NUMGOOD', 'NUMBAD', 'SUM', 'STDDEV', 'AVG', 'MIN', 'MAX', 'DIFF']
const HOURS = [0, 0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 3.25]

/** All that is read of a window over points at an instant, half an hour and two hours behind it. */
async function readsFrom(first: Instant, call: string, stepped: boolean, pushDowns: 'all' | 'none') {
  const at = (hours: number): Instant => instantFromUs(first + hours * US_PER_HOUR)
  const rows: readonly Row[] = [
    [at(0), 5],
    [at(0.5), 3],
    [at(2), 8],
  ]
  const source = new ArraySource(new Map([['T', columnsOf(rows)]]))
  const context = { source, now: at(48), zone: ZONE, range: { from: at(0), to: at(4) } }
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: at(48), zone: ZONE }
  const series = seriesOf(parseTag(`calc/${call}`, options), context, ({ name }) =>
    storedTag(name, stepped, pushDowns),
  )
  const times = Float64Array.from(HOURS.flatMap((hours) => [at(hours), at(hours) + 1]))
  const values = await series.valuesAt(times)
  const cost = costOf(
    series.estimate([
      { kind: 'values', from: at(0), to: instantFromUs(times.at(-1)!), count: times.length, key: 1 },
    ]),
    source,
  )
  assert.ok(source.crossed <= cost, `${call}: ${source.crossed} crossed, ${cost} were planned`)
  const edges = Float64Array.of(at(0), at(1.25), at(4))
  const { points } = await series.rawPoints({ from: at(0), to: at(4), order: 'asc', limit: 100 })
  return {
    values: [...values],
    aggregates: await series.aggregates(edges, ['timeAvg', 'min', 'max']),
    raw: [[...points.times].map((time) => time - first), [...points.values], [...points.statuses]],
  }
}

for (const op of OPS) {
  test(`${op} over a window has the points of the first accepted instant as those of any other`, async () => {
    for (const window of ['1h', 'PT1H30M', '1d']) {
      for (const stepped of [false, true]) {
        for (const pushDowns of ['all', 'none'] as const) {
          const call = `SLIDINGAGG(h/T, ${op}, ${window})`
          const other = await readsFrom(
            instantFromUs(MIN_INSTANT + 400 * US_PER_DAY),
            call,
            stepped,
            pushDowns,
          )
          const found = await readsFrom(MIN_INSTANT, call, stepped, pushDowns)
          assert.deepEqual(found, other, `${call} ${stepped} ${pushDowns}`)
        }
      }
    }
  })
}
