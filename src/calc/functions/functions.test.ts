import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTag } from '../../grammar/parser.ts'
import { type Instant, instantFromUs } from '../../time/instant.ts'
import { parseTime } from '../../time/parse.ts'
import { parseTimeZone, type TimeZone } from '../../time/zone.ts'
import { ArraySource } from '../graph/array-source.fixture.ts'
import { seriesOf, type TestSeries } from '../graph/series.fixture.ts'
import { FUNCTIONS, SIGNATURES } from './index.ts'

const NOW = instantFromUs(1_768_478_400_000_000)

function seriesAt(calculation: string, zone: TimeZone, at: Instant, signal?: AbortSignal): TestSeries {
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: NOW, zone }
  const range = { from: at, to: at }
  const context = { source: new ArraySource(new Map()), now: NOW, zone, range }
  return seriesOf(
    parseTag(`calc/${calculation}`, options),
    signal === undefined ? context : { ...context, signal },
    () => assert.fail('examples are over constants'),
  )
}

for (const { name, examples } of FUNCTIONS) {
  test(`the examples of ${name} are true`, async () => {
    assert.ok(examples.length > 0)
    for (const { calculation, value, at: text = '2026-01-15T12:00:00Z', zone: id = 'UTC' } of examples) {
      const zone = parseTimeZone(id)!
      const at = parseTime(text, { now: NOW, zone })!
      const found = (await seriesAt(calculation, zone, at).valuesAt(Float64Array.of(at)))[0]!
      if (value === null) assert.ok(Number.isNaN(found), `${calculation} is ${found}`)
      else
        assert.ok(
          Math.abs(found - value) <= 1e-12 * Math.abs(value),
          `${calculation} is ${found}, not ${value}`,
        )
    }
  })
}

test('every function has a name and aliases of its own', () => {
  const names = FUNCTIONS.flatMap(({ name, aliases }) => [name, ...aliases])
  assert.equal(new Set(names).size, names.length)
  for (const name of names) assert.equal(name, name.toUpperCase())
})

test('an evaluation that waits for no historian still ends with its call', async () => {
  const utc = parseTimeZone('UTC')!
  const controller = new AbortController()
  // 31 million windows, two raw points each.
  const series = seriesAt('ADD(TOTALISE(1, 1s, 00:00, 1s), 1)', utc, NOW, controller.signal)
  const year = Float64Array.of(NOW - 365 * 86_400_000_000, NOW)
  setImmediate(() => controller.abort(new Error('over')))
  await assert.rejects(series.aggregates(year, ['max']), { message: 'over' })
})
