import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeColumns } from '../../series/columns.ts'
import { NO_WATERMARK } from './tag-watermarks.ts'
import { withoutTooOld } from './too-old.ts'

/** Always due: counts how often others were let in. */
function countedPace() {
  return {
    pauses: 0,
    isDue: () => true,
    async pause() {
      this.pauses++
    },
  }
}

interface Entry {
  readonly times: readonly number[]
  readonly watermark: number
}

function requestOf(entries: readonly Entry[]) {
  const times = entries.flatMap((entry) => entry.times)
  const points = makeColumns(times.length)
  times.forEach((time, i) => {
    points.times[i] = time
    points.values[i] = i
    points.statuses[i] = i % 3
  })
  const offsets = new Uint32Array(entries.length + 1)
  entries.forEach((entry, i) => {
    offsets[i + 1] = offsets[i]! + entry.times.length
  })
  return { tags: Uint32Array.from(entries, (_, i) => i + 1), offsets, points }
}

const watermarksOf = (entries: readonly Entry[]) => Float64Array.from(entries, ({ watermark }) => watermark)

const entry = fc.record({
  times: fc.array(fc.integer({ min: -5, max: 5 }), { maxLength: 12 }),
  watermark: fc.oneof(fc.integer({ min: -6, max: 6 }), fc.constant(NO_WATERMARK)),
})

test('the points that are kept are those after the watermark of their tag, in their order, and the others are named', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 6 }), async (entries) => {
      const all = requestOf(entries)
      const { points, tooOld } = await withoutTooOld(all, watermarksOf(entries), countedPace())
      const flat = entries.flatMap(({ times, watermark }, tag) =>
        times.map((time) => ({
          tag,
          time,
          watermark,
          isOld: watermark !== NO_WATERMARK && time <= watermark,
        })),
      )
      const old = flat.map((point, index) => ({ ...point, index })).filter(({ isOld }) => isOld)
      if (old.length === 0) {
        assert.equal(points, all)
        assert.equal(tooOld, null)
        return
      }
      assert.equal(tooOld!.count, old.length)
      assert.deepEqual(
        [...tooOld!.indexes],
        old.map(({ index }) => index),
      )
      assert.deepEqual(
        [...tooOld!.oldest],
        old.map(({ watermark }) => watermark + 1),
      )
      assert.deepEqual(points.tags, all.tags)
      const kept = flat.map((point, index) => ({ ...point, index })).filter(({ isOld }) => !isOld)
      assert.deepEqual(
        [...points.points.times],
        kept.map(({ time }) => time),
      )
      assert.deepEqual(
        [...points.points.values],
        kept.map(({ index }) => index),
      )
      assert.deepEqual(
        [...points.points.statuses],
        kept.map(({ index }) => index % 3),
      )
      assert.deepEqual(
        [...points.offsets],
        [0, ...entries.keys().map((last) => kept.filter(({ tag }) => tag <= last).length)],
      )
    }),
  )
})

test('others are let in within the points of one tag, and only the first thousand points are named', async () => {
  const count = 100_000
  const entries = [{ times: Array.from({ length: count }, (_, i) => i), watermark: count / 2 - 1 }]
  const pace = countedPace()
  const { points, tooOld } = await withoutTooOld(requestOf(entries), watermarksOf(entries), pace)
  assert.deepEqual([tooOld!.count, tooOld!.indexes.length, tooOld!.oldest.length], [count / 2, 1_000, 1_000])
  assert.equal(points.points.times.length, count / 2)
  assert.equal(points.points.times[0], count / 2)
  // Once in 8,192 points of each of the two walks, and at the end of the tag.
  assert.equal(pace.pauses, 26)
})
