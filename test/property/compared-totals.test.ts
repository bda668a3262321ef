import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EmbeddedHistorian } from '../../src/drivers/embedded/driver.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { temporaryFolder } from '../durability/folder.ts'
import { askBody, timeOf } from '../multi-harness.ts'

const { signal } = new AbortController()
const COUNT = 400_000
/** Points of a chunk of a block, at most. */
const CHUNK = 1_024

test('run hours read the blocks with crossings only, and are those of all points', async (t) => {
  const log = { info() {}, warn() {}, error() {} }
  const store = await openFileStore(temporaryFolder(t), { historian: 'plant', owner: true, log })
  const historian = new EmbeddedHistorian(store, true)
  t.after(() => historian.close())
  const points = makeColumns(COUNT)
  const start = timeOf('2026-01-10T00:00:00Z')
  for (let i = 0; i < COUNT; i++) {
    points.times[i] = start + i * 1_000_000 + (i > 200_000 ? 3_600_000_000 : 0)
    points.values[i] = 50 + 40 * Math.sin(i / 20_000) + ((i * 7) % 13) / 10
  }
  for (const [tag, stepped, maxGap] of [
    ['LINE', false, null],
    ['STEP', true, null],
    ['SHORT', false, '10min'],
    ['HELD', true, '10min'],
  ] as const) {
    await historian.putTags(
      [{ name: tag, metadata: { description: null, units: null, stepped, maxGap } }],
      'create',
      { signal },
    )
    await historian.write(writeBatch([{ tag, points }], false), { signal })
  }
  await store.flush()
  for (const tag of ['LINE', 'STEP', 'SHORT', 'HELD']) {
    const calculation = (name: string) =>
      `calc/${name}(calc/THRESHOLD(plant/${tag}, 60, 1, 0), 1w, BEGIN_WEEK, 1h)`
    const details = { from: '2026-01-12T00:00:00Z', to: '2026-01-14T12:00:00Z', count: 7 }
    const requests = (name: string) => ({
      requests: { a: { type: 'INTERPOLATED_POINTS', tag: calculation(name), details } },
    })
    const decided = await askBody([historian], requests('TOTALISE'))
    const raw = await askBody([historian], requests('TOTALISERAW'), {
      limits: { historianLoad: 10_000_000 },
    })
    const valuesOf = ({ json }: typeof decided) =>
      json.results.a.dataPoints.map(({ value }: { value: number }) => value)
    const expected: number[] = valuesOf(raw)
    valuesOf(decided).forEach((value: number, i: number) => {
      // Each crossing is exact to half a microsecond.
      assert.ok(Math.abs(value - expected[i]!) < 1e-6, `${tag} ${i}: ${value}, not ${expected[i]}`)
    })
    assert.ok(expected.at(-1)! > 10)
    const { json } = await askBody([historian], { ...requests('TOTALISE'), explain: true })
    const fetched = decided.answer.statistics.points
    const { load } = json.explain.totals
    assert.ok(fetched <= load, `${tag}: ${fetched} fetched, ${load} estimated`)
    assert.ok(load < 60_000, `${tag}: ${load} estimated of ${COUNT}`)

    // The windows of all points that are answered begin at the same instant, and end next to each other. Of a chunk
    // that a threshold lies within all points are estimated.
    for (const [type, details] of [
      ['ADJACENT_POINTS', { at: '2026-01-12T09:18:00Z' }],
      ['POINT_AFTER', { at: '2026-01-12T09:18:00Z' }],
      [
        'RAW_POINTS',
        { from: '2026-01-12T08:00:00Z', to: '2026-01-12T16:00:00Z', maxPoints: 5, order: 'desc' },
      ],
    ] as const) {
      const totals = `calc/TOTALISE(calc/THRESHOLD(plant/${tag}, 60, 1, 0), DAY, BEGIN_DAY, 1h)`
      const requests = { a: { type, tag: totals, details } }
      const explained = await askBody([historian], { requests, explain: true })
      const { answer } = await askBody([historian], { requests })
      const { load } = explained.json.explain.totals
      const { points } = answer.statistics
      assert.ok(
        points <= load && load <= 2 * points + CHUNK,
        `${tag}, ${type}: ${points} fetched, ${load} estimated`,
      )
    }

    const mean = { from: '2026-01-10T00:00:00Z', to: '2026-01-15T00:00:00Z', aggregates: ['TIMEAVG'] }
    const ask = (aggregates: readonly string[]) =>
      askBody(
        [historian],
        {
          requests: {
            a: {
              type: 'AGGREGATED_POINTS',
              tag: `calc/THRESHOLD(plant/${tag}, 60, 1, 0)`,
              details: { ...mean, aggregates },
            },
          },
        },
        { limits: { historianLoad: 10_000_000 } },
      )
    const [alone, beside] = [await ask(['TIMEAVG']), await ask(['TIMEAVG', 'COUNT'])]
    const [a, b] = [alone.json.results.a.aggregates[0].timeAvg, beside.json.results.a.aggregates[0].timeAvg]
    assert.ok(Math.abs(a - b) < 1e-9, `${a}, not ${b}`)
    assert.ok(alone.answer.statistics.points < beside.answer.statistics.points / 4)
    const long = { from: '2026-01-10T00:00:00Z', to: '2026-01-15T00:00:00Z' }
    const { json: found, answer } = await askBody(
      [historian],
      {
        requests: {
          zero: {
            type: 'AGGREGATED_POINTS',
            tag: `plant/${tag}`,
            details: { ...long, aggregates: ['DURATIONNONZERO', 'DURATIONZERO'] },
          },
          ran: {
            type: 'INTERVALS',
            tag: `calc/THRESHOLD(plant/${tag}, 60, 1, 0)`,
            details: { ...long, maxIntervals: 50_000 },
          },
        },
      },
      { limits: { historianLoad: 100_000 } },
    )
    const [{ durationNonZero, durationZero }] = found.results.zero.aggregates
    assert.equal(durationZero, 0)
    // One gap of an hour, of which a stepped signal keeps its value for ten minutes.
    const missing = { LINE: 0, STEP: 0, SHORT: 3_601, HELD: 3_001 }[tag]
    const after = { LINE: 28_401, STEP: 28_401, SHORT: 600, HELD: 600 }[tag]!
    assert.equal(durationNonZero, COUNT - 1 + 3_600 - missing! + after)
    assert.ok(answer.statistics.points < 60_000, `${answer.statistics.points} fetched`)
    const hours = found.results.ran.intervals.reduce(
      (sum: number, { from, to }: { from: string; to: string }) => sum + Date.parse(to) - Date.parse(from),
      0,
    )
    const share = alone.json.results.a.aggregates[0].timeAvg
    const covered = durationNonZero * 1_000
    assert.ok(Math.abs(hours - share * covered) < 20, `${hours}, not ${share * covered}`)
  }
})
