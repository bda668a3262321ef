import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EmbeddedHistorian } from '../../src/drivers/embedded/driver.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns, STATUS_BAD } from '../../src/series/columns.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { temporaryFolder } from '../durability/folder.ts'
import { askBody, timeOf } from '../multi-harness.ts'

/** Comparisons of calculations with numbers from few points, against those from all points. */

const { signal } = new AbortController()
const COUNT = 300_000
const SECOND = 1_000_000
const FROM = '2026-01-10T00:00:00Z'
const TO = '2026-01-14T12:00:00Z'

/** A point a second of a slow wave from 10 to 90 with a few BAD points and gaps, flat for a while at 60 and at 35. */
function wave() {
  const points = makeColumns(COUNT)
  let time: number = timeOf(FROM)
  for (let i = 0; i < COUNT; i++) {
    time += i % 70_000 === 69_999 ? 1_800 * SECOND : SECOND
    const flat = i > 150_000 && i < 180_000 ? 60 : i > 220_000 && i < 250_000 ? 35 : null
    points.times[i] = time
    points.values[i] = flat ?? 50 + 40 * Math.sin(i / 20_000) + ((i * 7) % 13) / 100
    if (i % 30_011 < 3) points.statuses[i] = STATUS_BAD
  }
  return points
}

const TAGS = [
  ['LINE', false, null],
  ['SHORT', false, '10min'],
  ['HELD', true, '10min'],
] as const

const CALCULATIONS = [
  'calc/IFEQUALS(x, 60, 1, 0, 5)',
  'calc/IFEQUALS(x, 60, 1, 0)',
  'calc/IFEQUALS(35, x, 0, 1, 10%)',
  'calc/THRESHOLD(60, x, 1, 0)',
  'calc/THRESHOLD(calc/MUL(x, -2), -120, 1, 0)',
  'calc/THRESHOLD(calc/ADD(1, calc/DIV(x, 3), 2), 23, 1, 0)',
  'calc/IFEQUALS(calc/NEG(calc/SUB(100, x)), -40, 1, 0, 0.5)',
  'calc/THRESHOLD(calc/NOBAD(x), 60, 1, 0)',
  'calc/THRESHOLD(calc/TIMESHIFT(x, -90min), 60, 1, 0)',
  'calc/THRESHOLD(calc/TIMESHIFT(calc/NOBAD(calc/MUL(0.1, x)), 1h), 6, 1, 0)',
]

test('comparisons of calculations read the blocks in which they change, and are those of all points', async (t) => {
  const log = { info() {}, warn() {}, error() {} }
  const store = await openFileStore(temporaryFolder(t), { historian: 'plant', owner: true, log })
  const historian = new EmbeddedHistorian(store, true)
  t.after(() => historian.close())
  const points = wave()
  for (const [name, stepped, maxGap] of TAGS) {
    const metadata = { description: null, units: null, stepped, maxGap }
    await historian.putTags([{ name, metadata }], 'create', { signal })
    await historian.write(writeBatch([{ tag: name, points }], false), { signal })
  }
  await store.flush()
  for (const [name] of TAGS) {
    for (const calculation of CALCULATIONS) {
      const tag = calculation.replaceAll(/\bx\b/g, `plant/${name}`)
      const ask = async (type: string, details: object) => {
        const requests = { a: { type, tag, details: { from: FROM, to: TO, ...details } } }
        const limits = { historianLoad: 10_000_000 }
        const { json, answer } = await askBody([historian], { requests }, { limits })
        assert.deepEqual(json.errors ?? {}, {}, tag)
        const { json: explained } = await askBody([historian], { requests, explain: true }, { limits })
        const { load } = explained.explain.totals
        assert.ok(
          answer.statistics.points <= load,
          `${tag}: ${answer.statistics.points} fetched, ${load} estimated`,
        )
        return { result: json.results.a, load }
      }
      const ofSignal = ['TIMEAVG', 'DURATIONZERO', 'DURATIONNONZERO']
      const windows = (aggregates: readonly string[]) =>
        ask('MULTIPLE_AGGREGATED_POINTS', { count: 5, aggregates })
      const decided = await windows(ofSignal)
      const whole = await windows([...ofSignal, 'COUNT'])
      assert.ok(whole.load > 0.9 * COUNT, `${whole.load} for all points of ${tag}`)
      assert.ok(decided.load < COUNT / 3, `${decided.load} estimated for ${tag}`)
      let hours = 0
      decided.result.aggregates.forEach((window: Record<string, number | null>, i: number) => {
        for (const field of ['timeAvg', 'durationZero', 'durationNonZero']) {
          const expected = whole.result.aggregates[i][field]
          const difference = Math.abs((window[field] ?? -1) - (expected ?? -1))
          assert.ok(difference < 1e-6, `${field} ${i} of ${tag} is ${window[field]}, not ${expected}`)
        }
        hours += window.durationNonZero!
      })
      assert.ok(hours > 3_600, `${tag} holds for ${hours} s`)
      const intervals = await ask('INTERVALS', { maxIntervals: 50_000 })
      const length = intervals.result.intervals.reduce(
        (sum: number, { from, to }: { from: string; to: string }) =>
          sum + (timeOf(to) - timeOf(from)) / SECOND,
        0,
      )
      assert.ok(Math.abs(length - hours) < 1e-3, `${length} s of intervals of ${tag}, not ${hours}`)
      assert.ok(intervals.load < COUNT / 3, `${intervals.load} estimated for intervals of ${tag}`)
    }
  }
})
