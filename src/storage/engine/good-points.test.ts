import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { STATUS_BAD, STATUS_OK } from '../../series/columns.ts'
import { readBoundingValues } from '../reads/point-reads.ts'
import { keptInSlices, keptPoints } from '../retention/kept-points.ts'
import {
  isIn,
  type LayerContent,
  layer,
  PACE,
  type Point,
  sourceOf,
  TIMES,
  toPoints,
} from './layered-blocks.fixture.ts'
import { LayeredBlocks } from './layered-blocks.ts'
import type { Source } from './sources.ts'

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
const layers = fc.array(mostlyBad, { minLength: 1, maxLength: 5 })
const instants = fc
  .uniqueArray(fc.integer({ min: -3, max: TIMES + 3 }), { minLength: 1, maxLength: 12 })
  .map((times) => Float64Array.from(times.sort((a, b) => a - b)))

/** All points in their order, and blocks over the layers. */
function build(contents: readonly LayerContent[]) {
  const model = new Map<number, Point>()
  const sources: Source[] = []
  for (const content of contents) {
    const { source, cuts } = sourceOf(content)
    sources.push(source)
    for (const one of content.points) if (!isIn(cuts, one[0])) model.set(one[0], one)
  }
  const all = [...model.values()].sort((a, b) => a[0] - b[0])
  return { blocks: new LayeredBlocks(sources), all, good: all.filter(([, , status]) => status === STATUS_OK) }
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
