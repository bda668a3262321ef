import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instantFromUs } from '../../../time/instant.ts'
import { deepSeries, MINUTE, rows as minutes, range, sourceOf } from '../../graph/deep.fixture.ts'
import type { TestSeries } from '../../graph/series.fixture.ts'

/** Pages end with BAD points, too; a gap of 15 minutes. */
const rows = minutes.filter(([time]) => time < 620 * MINUTE || time > 635 * MINUTE)

function deep(levels: number, filter: string, leaf: string, maxEvaluated?: number): TestSeries {
  return deepSeries(
    { levels, leaf, wrap: (inner) => `${filter}(${inner}, 60)` },
    sourceOf(rows),
    maxEvaluated,
  )
}

for (const filter of ['LOWPASS', 'HIGHPASS']) {
  const levels = 20
  // One level: 100 raw points a minute over the range and the 12 periods of each level inside. Levels that look up what
  // comes after a page, or after the range, each for itself, take several times as many with 20 of them.
  const points = Array.from({ length: levels }, (_, i) => 100 * (60 + 12 * (i + 1))).reduce((a, b) => a + b)

  test(`values of filters inside each other work each level out a few times: ${filter}`, async () => {
    const times = Float64Array.from({ length: 600 }, (_, i) => range.from + i * 6_000_000 + 100_000)
    const values = await deep(levels, filter, 'siggen/sin1@60', 4 * points).valuesAt(times)
    assert.ok(values.every(Number.isFinite))
  })

  test(`a page of raw points of filters looks nothing up that comes after it: ${filter}`, async () => {
    const series = deep(levels, filter, 'siggen/sin1@60', 2 * points)
    const found = await series.rawPoints({ ...range, order: 'asc', limit: 1_000 })
    assert.equal(found.points.times.length, 1_000)
  })

  test(`raw points of deep filters in pages are the points looked up one by one: ${filter}`, async () => {
    for (const levels of [1, 3, 6]) {
      const { points } = await deep(levels, filter, 'h/A').rawPoints({ ...range, order: 'asc', limit: 100 })
      const counted = points.times.length
      for (const limit of [1, 7]) {
        const series = deep(levels, filter, 'h/A')
        for (const order of ['asc', 'desc'] as const) {
          const page = await series.rawPoints({ ...range, order, limit })
          for (let n = 0; n < limit; n++) {
            const i = order === 'asc' ? n : counted - 1 - n
            assert.equal(page.points.times[n], points.times[i])
            assertSame(page.points.values[n]!, points.values[i]!)
            assert.equal(page.points.statuses[n], points.statuses[i])
          }
        }
      }
      for (let i = 0; i < counted; i += 5) {
        const time = instantFromUs(points.times[i]!)
        const point = await deep(levels, filter, 'h/A').rawPoint('before-or-at', time)
        assert.equal(point!.time, time)
        assertSame(point!.value, points.values[i]!)
        assert.equal(point!.bad, points.statuses[i] !== 0)
      }
    }
  })
}

/** What lies 12 periods back is forgotten, and where a look-up begins is another place than where a range does. */
function assertSame(value: number, expected: number): void {
  const isClose = Math.abs(value - expected) <= 1e-9 * Math.max(1, Math.abs(expected))
  assert.ok(isClose || Object.is(value, expected), `${value} is ${expected}`)
}
