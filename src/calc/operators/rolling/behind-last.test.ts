import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseTag } from '../../../grammar/parser.ts'
import { instantFromUs, US_PER_HOUR, US_PER_MINUTE } from '../../../time/instant.ts'
import { UTC } from '../../../time/zone.ts'
import { SIGNATURES } from '../../functions/index.ts'
import { ArraySource, columnsOf, type Row, storedTag } from '../../graph/array-source.fixture.ts'
import { seriesOf, type TestSeries } from '../../graph/series.fixture.ts'

const START = Date.UTC(2026, 0, 15, 8) * 1000
const minute = (minutes: number) => START + minutes * US_PER_MINUTE

/** Good points half an hour apart, and a BAD one between them; none later than 50 minutes. */
const ROWS: readonly Row[] = [
  [minute(0), 4],
  [minute(30), 8],
  [minute(40), 99, true],
  [minute(50), 2],
]

/** BAD points are the last ones. */
const BAD_LAST: readonly Row[] = [...ROWS, [minute(55), 7, true], [minute(80), 1, true]]

function make(calculation: string, pagePoints = 512, rows = ROWS): TestSeries {
  const now = instantFromUs(minute(150))
  const source = new ArraySource(new Map([['A', columnsOf(rows)]]))
  const options = { signatures: SIGNATURES, defaultHistorian: null, now, zone: UTC }
  const range = { from: instantFromUs(minute(-60)), to: instantFromUs(minute(400)) }
  const context = { source, now, zone: UTC, range, pagePoints }
  return seriesOf(parseTag(`calc/${calculation}`, options), context, ({ name }) =>
    storedTag(name, false, 'none'),
  )
}

async function hours(series: TestSeries, ...edges: readonly number[]): Promise<readonly number[]> {
  const times = Float64Array.from(edges, minute)
  const { integrals } = await series.integrals(times.subarray(0, -1), times.subarray(1))
  return Array.from(integrals, (integral) => integral / US_PER_HOUR)
}

/** Of windows of an hour: the integral from 08:00 to 11:00, in hours. */
const CASES: readonly [calculation: string, expected: number][] = [
  // 1 for half an hour, 2, 3 and 4 for 10, 10 and 10 minutes, then 3, 2 and 1 for 30, 10 and 10.
  ['SLIDINGAGG(h/A, COUNT, 1h)', (30 * 1 + 10 * 2 + 10 * 3 + 10 * 4 + 30 * 3 + 10 * 2 + 10 * 1) / 60],
  ['SLIDINGAGG(h/A, NUMBAD, 1h)', 1],
  ['SLIDINGAGG(h/A, SUM, 1h)', (30 * 4 + 20 * 12 + 10 * 14 + 30 * 10 + 20 * 2) / 60],
  ['SLIDINGAGG(STEPPED(h/A), MAX, 1h)', (30 * 4 + 80 * 8 + 70 * 2) / 60],
  ['ADD(SLIDINGAGG(h/A, COUNT, 1h), 1)', (30 * 1 + 10 * 2 + 10 * 3 + 10 * 4 + 30 * 3 + 10 * 2 + 10) / 60 + 3],
]

describe('the integral of a rolling window behind the last raw point', () => {
  test('follows what leaves the window', async () => {
    for (const [calculation, expected] of CASES) {
      const [whole] = await hours(make(calculation), 0, 180)
      assert.ok(Math.abs(whole! - expected) < 1e-9, `${calculation}: ${whole}, ${expected}`)
    }
  })

  test('does not depend on where the range is cut, on pages, or on what is read behind it', async () => {
    const ops = ['AVG', 'COUNT', 'NUMGOOD', 'NUMBAD', 'SUM', 'MIN', 'MAX', 'DIFF', 'STDDEV', 'VAR']
    const windows = ops.map((op) => `SLIDINGAGG(h/A, ${op}, 1h)`)
    const more = [
      'SLIDINGAGG(STEPPED(h/A), AVG, 1h)',
      'SLIDINGAGG(h/A, TOTAL, 1h, 1h)',
      'SLIDINGAGG(SLIDINGAGG(h/A, AVG, 1h), DIFF, 20m)',
      'NOBAD(TIMESHIFT(SLIDINGAGG(h/A, AVG, 1h), -10m))',
      'MUL(SLIDINGAGG(h/A, AVG, 1h), SLIDINGAGG(h/A, AVG, 30m))',
      'HIGHPASS(SLIDINGAGG(h/A, AVG, 1h), 60)',
      'SLIDINGAGG(STEPPED(h/A), TOTAL, 1h, 1h)',
      'SLIDINGAGG(SLIDINGAGG(h/A, COUNT, 1h), MAX, 30m)',
      'TIMESHIFT(SLIDINGAGG(h/A, COUNT, 1h), -10m)',
      'MUL(SLIDINGAGG(h/A, COUNT, 1h), 2)',
      'THRESHOLD(SLIDINGAGG(h/A, SUM, 1h), 5, 1, 0)',
      'ADD(SLIDINGAGG(h/A, COUNT, 1h), SLIDINGAGG(h/A, NUMBAD, PT25M))',
    ]
    for (const calculation of [...windows, ...more]) {
      const whole = await hours(make(calculation), 0, 70, 95, 105, 170)
      for (const page of [2, 3, 7])
        assert.deepEqual(await hours(make(calculation, page), 0, 70, 95, 105, 170), whole)
      for (const [i, [from, to]] of [
        [0, 70],
        [70, 95],
        [95, 105],
        [105, 170],
      ].entries()) {
        const [part] = await hours(make(calculation), from!, to!)
        assert.ok(
          Math.abs(part! - whole[i]!) < 1e-9,
          `${calculation}, ${from} to ${to}: ${part}, ${whole[i]}`,
        )
      }
      const [longer] = await hours(make(calculation), 0, 400)
      const [start, end] = await hours(make(calculation), 0, 100, 400)
      assert.ok(Math.abs(start! + end! - longer!) < 1e-9, `${calculation}: ${start} and ${end}, ${longer}`)
    }
  })

  test('without BAD points follows them behind the last good one, whatever the pages and where it is cut', async () => {
    // 1 for half an hour, 2 to 3 for 20 minutes. Behind the last good point it is that of all points: 4, on a line from
    // 5 to 4 between the BAD ones, and then less as points leave the window.
    const expected = (30 + 50 + 5 * 4 + 25 * 4.5 + 10 * 5 + 10 * 4 + 10 * 3 + 5 * 2 + 25) / 60
    const [count] = await hours(make('NOBAD(SLIDINGAGG(h/A, COUNT, 1h))', 512, BAD_LAST), 0, 180)
    assert.ok(Math.abs(count! - expected) < 1e-9, `${count}, ${expected}`)
    for (const op of ['AVG', 'COUNT', 'SUM', 'MAX', 'TOTAL, 1h', 'TOTAL, 20m']) {
      const [name, window = '1h'] = op.split(', ')
      const unit = name === 'TOTAL' ? ', 1h' : ''
      const calculation = `NOBAD(SLIDINGAGG(STEPPED(h/A), ${name}, ${window}${unit}))`
      const edges = [0, 52, 58, 75, 95, 170]
      const whole = await hours(make(calculation, 512, BAD_LAST), ...edges)
      for (const page of [2, 3, 7])
        assert.deepEqual(await hours(make(calculation, page, BAD_LAST), ...edges), whole, calculation)
      for (const [i, to] of edges.slice(1).entries()) {
        const [part] = await hours(make(calculation, 512, BAD_LAST), edges[i]!, to)
        assert.ok(Math.abs(part! - whole[i]!) < 1e-9, `${calculation} to ${to}: ${part}, ${whole[i]}`)
      }
    }
  })
})
