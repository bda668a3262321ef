import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTag } from '../../../grammar/parser.ts'
import { type Instant, instantFromUs, US_PER_DAY, US_PER_HOUR } from '../../../time/instant.ts'
import { UTC } from '../../../time/zone.ts'
import { SIGNATURES } from '../../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../../graph/array-source.fixture.ts'
import { instantNeed } from '../../graph/need.ts'
import { seriesOf } from '../../graph/series.fixture.ts'

const NOW = instantFromUs(1_768_478_400_000_000)
const AT = instantFromUs(NOW - US_PER_HOUR)
const LONG_AGO = instantFromUs(NOW - 200 * US_PER_DAY)

const ROWS: Readonly<Record<string, readonly Row[]>> = {
  LEVEL: Array.from({ length: 201 }, (_, i): Row => [LONG_AGO + i * US_PER_DAY, i % 7]),
  OLD: Array.from({ length: 4_800 }, (_, i): Row => [LONG_AGO + i * US_PER_HOUR, 9 + i, i > 0]),
  NEVER: [[NOW - US_PER_DAY, 4, true]],
}

test('a last good point that is held is found past any number of BAD ones, at the points that were estimated', async () => {
  for (const [text, expected] of [
    ['MAX(ADD(h/OLD, 1), 3)', 10],
    ['ADD(h/OLD, 1)', 10],
    ['MEDIAN(ADD(TIMESHIFT(h/NEVER, begin of this hour), h/LEVEL), 1)', Number.NaN],
    ['THRESHOLD(h/OLD, 5, h/OLD, 0)', 9],
    ['SUB(h/LEVEL, h/NEVER)', Number.NaN],
    ['MAX(ADD(TOTALISE(h/LEVEL, 1h, BEGIN_DAY, 1h), h/NEVER), 3)', Number.NaN],
    ['MEAN(ADD(SLIDINGAGG(h/LEVEL, COUNT, 1d), siggen/sin4@7200, h/NEVER), 2)', Number.NaN],
  ] as const) {
    const source = new ArraySource(
      new Map(Object.entries(ROWS).map(([name, rows]) => [name, columnsOf(rows)])),
    )
    const context = { source, now: NOW, zone: UTC, range: { from: AT, to: AT } }
    const options = { signatures: SIGNATURES, defaultHistorian: null, now: NOW, zone: UTC }
    const tree = parseTag(`calc/STEPPED(${text})`, options)
    const held = seriesOf(tree, context, ({ name }) => storedTag(name, false, 'all'))
    const estimated = costOf(held.estimate([instantNeed(AT)]), source)
    const [value] = await held.valuesAt(Float64Array.of(AT))
    const loads = `${source.crossed} points crossed, ${estimated} were estimated`
    assert.ok(source.crossed <= estimated, `${text}: ${loads}`)
    assert.equal(value, expected, text)
  }
})

test('a value is held alike whether it is read alone or from before the hold', async () => {
  const hours = (count: number) => instantFromUs(NOW - count * US_PER_HOUR)
  const rows: Readonly<Record<string, readonly Row[]>> = {
    LEVEL: [
      [hours(10), 10],
      [hours(8), 1],
    ],
    EARLY: [[hours(10), 7]],
    LATE: [[hours(2), 3]],
    LARGE: [
      [hours(10), 1],
      [hours(8), 1e10],
    ],
  }
  const times = [9.5, 7.5, 6.2, 3, 1].map(hours)
  for (const [text, expected] of [
    // From 8 hours ago on that is chosen which has begun 2 hours ago only.
    ['THRESHOLD(h/LEVEL, 5, h/EARLY, h/LATE)', [7, Number.NaN, Number.NaN, Number.NaN, 3]],
    ['MAX(THRESHOLD(h/LEVEL, 5, h/EARLY, h/LATE), h/LATE)', [7, Number.NaN, Number.NaN, Number.NaN, 3]],
    ['THRESHOLD(h/LEVEL, 5, h/LEVEL, 0)', [10, 0, 0, 0, 0]],
    // Beyond the range of doubles, and passed by.
    ['MUL(h/LARGE, 1E300)', [1e300, 1e300, 1e300, 1e300, 1e300]],
  ] as const) {
    const series = (from: Instant, to: Instant) => {
      const source = new ArraySource(
        new Map(Object.entries(rows).map(([name, rows]) => [name, columnsOf(rows)])),
      )
      const options = { signatures: SIGNATURES, defaultHistorian: null, now: NOW, zone: UTC }
      const context = { source, now: NOW, zone: UTC, range: { from, to } }
      return seriesOf(parseTag(`calc/STEPPED(${text})`, options), context, ({ name }) =>
        storedTag(name, false, 'all'),
      )
    }
    const together = await series(times[0]!, times.at(-1)!).valuesAt(Float64Array.from(times))
    assert.deepEqual([...together], expected, text)
    for (const [i, time] of times.entries()) {
      const [alone] = await series(time, time).valuesAt(Float64Array.of(time))
      assert.deepEqual(alone, expected[i], `${text}, ${i}`)
    }
  }
})
