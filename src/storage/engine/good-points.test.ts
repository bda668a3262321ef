import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { STATUS_BAD, STATUS_OK } from '../../series/columns.ts'
import { readBoundingValues } from '../reads/point-reads.ts'
import { keptInSlices, keptPoints } from '../retention/kept-points.ts'
import { type LayerContent, layer, layered, PACE, TIMES, toPoints } from './layered-blocks.fixture.ts'
import type { LayeredBlocks } from './layered-blocks.ts'

/** Layers of which most points are BAD, so that good ones lie many blocks apart, or are replaced or taken away. */
const mostlyBad = fc.tuple(layer, fc.uniqueArray(fc.nat(29), { maxLength: 3 })).map(
  ([content, good]): LayerContent => ({
    ...content,
    points: content.points.map(([time, value], i) => [
      time,
      value,
      good.includes(i) ? STATUS_OK : STATUS_BAD,
    ]),
  }),
)
const layers = fc.array(fc.oneof(layer, mostlyBad), { maxLength: 5 })
const instants = fc
  .uniqueArray(fc.integer({ min: -3, max: TIMES + 3 }), { minLength: 1, maxLength: 12 })
  .map((times) => Float64Array.from(times.sort((a, b) => a - b)))

/** Blocks over layers, all points that there are, and the good ones. */
function build(contents: readonly LayerContent[]) {
  const { blocks, all } = layered(contents)
  return { blocks: blocks(), all, good: all.filter(([, , status]) => status === STATUS_OK) }
}

/** Yields wherever it may, and whoever reads meanwhile has moved the view. */
function disturbing(blocks: LayeredBlocks) {
  let place = 0
  return {
    isDue: () => true,
    pause: async () => {
      place = (place + 17) % TIMES
      blocks.seekCovering(place)
    },
  }
}

test('good points around instants, past blocks that have none', async () => {
  await fc.assert(
    fc.asyncProperty(layers, instants, fc.boolean(), async (contents, times, isDisturbed) => {
      const { blocks, good } = build(contents)
      const found = await readBoundingValues(blocks, times, isDisturbed ? disturbing(blocks) : PACE)
      for (const [i, at] of times.entries()) {
        const exact = good.find(([time]) => time === at)
        const before = exact ?? good.findLast(([time]) => time < at)
        const after = exact ?? good.find(([time]) => time > at)
        const wanted = [before?.[0], before?.[1], after?.[0], after?.[1]].map(
          (number) => number ?? Number.NaN,
        )
        const { beforeTimes, beforeValues, afterTimes, afterValues } = found
        assert.deepEqual([beforeTimes[i], beforeValues[i], afterTimes[i], afterValues[i]], wanted, `at ${at}`)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('what stays behind a watermark is the same at once and in slices', async () => {
  await fc.assert(
    fc.asyncProperty(layers, fc.integer({ min: -3, max: TIMES + 3 }), async (contents, watermark) => {
      const { blocks, all, good } = build(contents)
      const newest = all.findLast(([time]) => time <= watermark)
      const lastGood = good.findLast(([time]) => time <= watermark)
      const wanted = lastGood === undefined || lastGood === newest ? [newest] : [lastGood, newest]
      const expected = wanted.filter((one) => one !== undefined)
      assert.deepEqual(toPoints(keptPoints(blocks, watermark)), expected)
      assert.deepEqual(toPoints(await keptInSlices(blocks, watermark, disturbing(blocks))), expected)
    }),
    { numRuns: 2_000 },
  )
})
