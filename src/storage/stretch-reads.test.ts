import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../test/durability/folder.ts'
import { writeBatch } from '../historian/write-batch.ts'
import { WindowAggregator } from '../series/aggregate.ts'
import { makeColumns } from '../series/columns.ts'
import { SignalIntegrator, timeAverages } from '../series/integrate.ts'
import { instantFromUs } from '../time/instant.ts'
import { openHistorianStore } from './open-historian.ts'
import { STORED_AGGREGATES } from './signal-reads.ts'

const { signal } = new AbortController()

function near(found: Float64Array, expected: Float64Array, what: string): void {
  assert.equal(found.length, expected.length)
  expected.forEach((value, i) => {
    const isNear = Math.abs(found[i]! - value) <= 1e-12 * Math.max(1e-12, Math.abs(value))
    assert.ok(Number.isNaN(value) ? Number.isNaN(found[i]) : isNear, `${what} ${i}: ${found[i]} for ${value}`)
  })
}

// Values are 1,000,000 ± 0.01, where a variance around means of one double has half of its digits.
test('aggregates and integrals from summaries are those of the points to 12 digits, whatever the edges and the blocks', async (t) => {
  const store = await openHistorianStore(temporaryFolder(t), { historian: 'plant', owner: true })
  t.after(() => store.close())
  const count = 60_000
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) {
    // A stretch of regular points, one with jitter and gaps, one with BAD points, and one of BAD points alone.
    const jitter = i > 20_000 && i < 40_000 ? ((i * 7_919) % 700_000) + (i % 1_000 === 0 ? 400_000 : 0) : 0
    points.times[i] = i * 1_200_000 + jitter
    points.values[i] = 1e6 + Math.sin(i / 40) / 100 + (i % 9_000 < 10 ? 1 / 3 : 0)
    points.statuses[i] = (i > 35_000 && i % 11 === 0) || (i > 45_000 && i < 48_000) ? 1 : 0
  }
  // Overwrites and a tail on top leave blocks of every kind; the last ones stay in memory.
  await store.write(writeBatch([{ tag: 'a', points }], true), signal)
  await store.fold()
  for (const [from, size] of [
    [5_000, 3],
    [30_000, 700],
    [59_990, 10],
    [12_000, 20],
    [59_980, 20],
  ] as const) {
    if (from !== 59_980) await store.fold()
    const over = makeColumns(size)
    for (let i = 0; i < size; i++) {
      over.times[i] = points.times[from + i]!
      points.values[from + i] = 1e6 + i / 1e4
      over.values[i] = 1e6 + i / 1e4
      points.statuses[from + i] = 0
    }
    await store.write(writeBatch([{ tag: 'a', points: over }], false), signal)
  }
  const last = points.times[count - 1]!
  for (const stepped of [false, true]) {
    for (const windows of [1, 2, 7, 60, 1_111]) {
      const first = windows === 7 ? -5e9 : windows * 1_234_567
      const edges = Float64Array.from({ length: windows + 1 }, (_, i) =>
        Math.floor(first + (i * (last - first + 9e9)) / windows),
      )
      const shape = { stepped, holdUntil: instantFromUs(last + 3e9) }
      const starts = edges.subarray(0, -1)
      const ends = edges.subarray(1)
      const aggregator = new WindowAggregator(edges, STORED_AGGREGATES)
      const integrator = new SignalIntegrator(starts, ends, shape)
      aggregator.add(points)
      integrator.add(points)
      const integrals = integrator.finish()
      const expected = { ...aggregator.finish(), timeAvg: timeAverages(integrals) }
      const query = { tag: 'a', edges, aggregates: STORED_AGGREGATES, ...shape }
      const [found] = await store.readAggregates([query], signal)
      for (const name of STORED_AGGREGATES) {
        near(found![name]!, expected[name]!, `${name} of ${windows}, stepped ${stepped}`)
      }
      const spans = await store.readIntegrals([{ tag: 'a', starts, ends, ...shape }], signal)
      near(spans[0]!.integrals, integrals.integrals, `integrals of ${windows}`)
      assert.deepEqual(spans[0]!.coveredUs, integrals.coveredUs)
      const ranges = Array.from(starts, (from, i) => ({ tag: 'a', from, to: ends[i]! }))
      assert.deepEqual(
        await store.countPoints(ranges, 1e9, signal),
        Array.from(expected.count!),
        `counts of ${windows}`,
      )
    }
  }
  assert.deepEqual((await store.check(signal)).problems, [])
})
