import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { concatColumns, makeColumns, type PointColumns } from '../../series/columns.ts'
import type { Comparisons } from '../../series/reads.ts'
import { openFileStore } from '../engine/open-file-store.ts'

const { signal } = new AbortController()
const COUNT = 150_000
const SECOND = 1_000_000

/** A point a second that swings slowly, with a few gaps and BAD points. */
function swinging(): PointColumns {
  const points = makeColumns(COUNT)
  let time = 0
  for (let i = 0; i < COUNT; i++) {
    if (i % 40_000 === 39_999) time += 500 * SECOND
    if (i % 15_000 === 14_999) time += 7 * SECOND
    points.times[i] = time
    points.values[i] = Math.round(1_000 * Math.sin(i / 6_000)) / 10 + ((i * 7) % 13) / 100
    if (i % 50_000 === 777) points.statuses[i] = 1
    time += SECOND
  }
  return points
}

/** Microseconds in which a signal has a value, and in which it is at a threshold or above, by a plain loop. */
function timeAbove(
  points: PointColumns,
  threshold: number,
  stepped: boolean,
  gap = Number.POSITIVE_INFINITY,
) {
  let above = 0
  let covered = 0
  let time = Number.NaN
  let value = 0
  points.times.forEach((next, i) => {
    if (points.statuses[i] !== 0) return
    const to = points.values[i]!
    const length = next - time
    if (length > gap && stepped) {
      covered += gap
      if (value >= threshold) above += gap
    } else if (length <= gap) {
      covered += length
      if (stepped || value >= threshold === to >= threshold) above += value >= threshold ? length : 0
      else above += length * (Math.abs(Math.max(value, to) - threshold) / Math.abs(to - value))
    }
    time = next
    value = to
  })
  return { above, covered }
}

test('what is left out makes no difference to a comparison, on any side of pages, gaps and BAD points', async (t) => {
  const log = { info() {}, warn() {}, error() {} }
  const store = await openFileStore(temporaryFolder(t), { historian: 'plant', owner: true, log })
  t.after(() => store.close())
  const all = swinging()
  await store.write(writeBatch([{ tag: 'a', points: all }], true), signal)
  await store.flush()
  // A later write lies over a block, in memory.
  const over = makeColumns(3)
  for (let i = 0; i < 3; i++) {
    over.times[i] = all.times[70_000 + i]!
    over.values[i] = 400
    all.values[70_000 + i] = 400
  }
  await store.write(writeBatch([{ tag: 'a', points: over }], false), signal)
  const last = all.times.at(-1)!
  for (const threshold of [-1_000, -99.9, -30, 0, 55.5, 100.05, 399, 1_000]) {
    for (const maxGapUs of [undefined, SECOND, 5 * SECOND, 100 * SECOND, 600 * SECOND]) {
      const compared: Comparisons = { thresholds: [threshold], ...(maxGapUs !== undefined && { maxGapUs }) }
      const parts: PointColumns[] = []
      const limit = threshold === 0 ? 700 : 20_000
      let from = 0
      for (let more = true; more; ) {
        const range = { tag: 'a', from, to: last + 1, order: 'asc', limit, compared } as const
        const [page] = await store.readRanges([range], signal)
        const { points } = page!
        assert.ok(points.times.length <= limit)
        parts.push(points)
        more = page!.more
        assert.ok(!more || points.times.length > 0)
        from = (points.times.at(-1) ?? from) + 1
      }
      const given = concatColumns(parts)
      assert.ok(given.times.every((time, i) => i === 0 || time > given.times[i - 1]!))
      for (const stepped of [true, false]) {
        const expected = timeAbove(all, threshold, stepped, maxGapUs)
        const found = timeAbove(given, threshold, stepped, maxGapUs)
        const what = `${threshold}, gap ${maxGapUs}, ${stepped ? 'stepped' : 'linear'}`
        assert.equal(found.covered, expected.covered, `covered: ${what}`)
        assert.ok(
          Math.abs(found.above - expected.above) < 1,
          `${found.above}, not ${expected.above}: ${what}`,
        )
      }
      const [count] = await store.countPoints([{ tag: 'a', from: 0, to: last + 1, compared }], 1e9, signal)
      assert.ok(count! >= given.times.length, `${count} estimated, ${given.times.length} given`)
      const isLong = maxGapUs === undefined || maxGapUs >= 100 * SECOND
      if (Math.abs(threshold) === 1_000 && isLong)
        assert.ok(given.times.length < COUNT / 5, `${given.times.length} at ${threshold} ${maxGapUs}`)
    }
  }
})
