import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTag } from '../../../grammar/parser.ts'
import { type Instant, instantFromUs } from '../../../time/instant.ts'
import { UTC } from '../../../time/zone.ts'
import { SIGNATURES } from '../../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../../graph/array-source.fixture.ts'
import { seriesOf, type TestSeries } from '../../graph/series.fixture.ts'

/** Points within a second. */
const MANY = 25_000
const SECOND = 1_000_000
const at = (seconds: number): Instant => instantFromUs(seconds * SECOND)

function make(calculation: string, rows: readonly Row[]): { series: TestSeries; source: ArraySource } {
  const source = new ArraySource(new Map([['A', columnsOf(rows)]]))
  const context = { source, now: at(100), zone: UTC, range: { from: at(50), to: at(60) } }
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: at(100), zone: UTC }
  const tree = parseTag(`calc/${calculation}`, options)
  return { source, series: seriesOf(tree, context, ({ name }) => storedTag(name, false, 'none')) }
}

const burst: readonly Row[] = [
  ...Array.from({ length: MANY }, (_, i): Row => [i * 10, i % 3]),
  [55 * SECOND, 1],
  [70 * SECOND, 1],
]

async function timeAverage({ series, source }: { series: TestSeries; source: ArraySource }): Promise<number> {
  const edges = Float64Array.of(at(50), at(60))
  const found = await series.aggregates(edges, ['timeAvg'])
  const need = { key: 1, count: 1, from: at(50), to: at(60), names: ['timeAvg'] } as const
  const cost = costOf(series.estimate([{ kind: 'aggregates', ...need }]), source)
  assert.ok(source.crossed <= cost, `${source.crossed} crossed, ${cost} were planned`)
  return found.timeAvg![0]!
}

test('a window of many points before a gap is read, and estimated', async () => {
  // A line from all of them at the last one to nothing just before 55 s, and one from 1 there to nothing at 70 s.
  const from = (MANY * 5) / (55 - (10 * (MANY - 1)) / SECOND)
  const expected = (from / 2 + (1 + 2 / 3) / 2) / 2
  const value = await timeAverage(make('SLIDINGAGG(h/A, COUNT, 1s)', burst))
  assert.ok(Math.abs(value - expected) < 1e-9 * expected, `${value} is ${expected}`)
})

test('the same window is read where the range begins within it', async () => {
  const { series, source } = make('SLIDINGAGG(h/A, COUNT, 1m)', burst)
  // All of them until 55 s; then one more, and from there on a line to the one that is left at 70 s, of which a third
  // is in.
  const expected = (MANY + (MANY + 1 - MANY / 6)) / 2
  const value = await timeAverage({ series, source })
  assert.ok(Math.abs(value - expected) < 1e-9 * expected, `${value} is ${expected}`)
})

test('a few points behind a gap are found, and what lies before them is not read', async () => {
  const rows: readonly Row[] = [
    ...burst.slice(0, MANY),
    [20 * SECOND, 4],
    [20.5 * SECOND, 6],
    [55 * SECOND, 1],
    [70 * SECOND, 1],
  ]
  const one = make('SLIDINGAGG(h/A, SUM, 1s)', rows)
  // A line from 10 at 20.5 s to nothing: just before 55 s the window is empty, so there is no value to go to.
  assert.ok(Number.isNaN(await timeAverage(one)))
  assert.ok(one.source.crossed < 100, `${one.source.crossed} crossed`)
})

test('a total over rolling windows reaches further back than they do', async () => {
  const value = await timeAverage(make('TOTALISE(SLIDINGAGG(h/A, COUNT, 1s), 49s, 0, 1s)', burst))
  assert.ok(Number.isFinite(value))
})

test('a filter over windows works none out that lie before it begins', async () => {
  const one = make('LOWPASS(SLIDINGAGG(h/A, SUM, 1s), 0.1)', burst)
  await one.series.rawPoint('after', at(52))
  assert.ok(one.source.crossed < 100, `${one.source.crossed} crossed`)
})
