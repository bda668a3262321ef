import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { lowerBound, makeColumns, type PointColumns, STATUS_OK, sliceColumns } from '../../series/columns.ts'
import { somePoints } from '../blocks/points.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { BlockCache } from './block-cache.ts'
import { FilePart } from './file-part.ts'
import { openPartStore } from './file-part-store.ts'
import { type Extras, joinSummaries, summaryOf } from './part-summary.ts'
import { writePart } from './parts.fixture.ts'
import { LargeRun } from './runs.ts'
import { SUMMED_BLOCKS } from './summary-page.ts'

const wholeOf = (points: PointColumns) => summaryOf(points, 0, points.times.length)

/** By the definitions, one after the other. */
function extrasByHand({ times, values, statuses }: PointColumns): Extras {
  const all = Array.from(times, (time, i) => ({
    time,
    value: values[i]!,
    isGood: statuses[i] === STATUS_OK && !Number.isNaN(values[i]),
  }))
  const good = all.filter(({ isGood }) => isGood)
  const pairs = good.slice(1).map((to, i) => ({ from: good[i]!, to, step: to.time - good[i]!.time }))
  const least = Math.min(...good.map(({ value }) => value))
  const greatest = Math.max(...good.map(({ value }) => value))
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)
  return {
    minTime: good.find(({ value }) => value === least)?.time ?? Number.NaN,
    maxTime: good.find(({ value }) => value === greatest)?.time ?? Number.NaN,
    increase: sum(pairs.map(({ from, to }) => (to.value < from.value ? to.value : to.value - from.value))),
    goodTime: sum(all.slice(1).map(({ time }, i) => (all[i]!.isGood ? time - all[i]!.time : 0))),
    transitions: pairs.filter(({ from, to }) => (from.value === 0) !== (to.value === 0)).length,
    longestGap: pairs.reduce((longest, { step }) => Math.max(longest, step), 0),
    nonZeroTime: sum(pairs.map(({ from, step }) => (from.value === 0 ? 0 : step))),
    zeroTime: sum(pairs.map(({ from, to, step }) => (from.value === 0 && to.value === 0 ? step : 0))),
  }
}

/** Equal but for the rounding of sums. */
function assertSame(actual: object, expected: object): void {
  const values = actual as Record<string, number>
  for (const [key, wanted] of Object.entries(expected) as [string, number][]) {
    const isNear = Math.abs(values[key]! - wanted) <= 1e-9 * Math.max(1, Math.abs(wanted))
    assert.ok(Object.is(values[key], wanted) || isNear, `${key}: ${values[key]} and not ${wanted}`)
  }
}

/** Values of which many are 0, and that add up exactly. */
const switching = somePoints(600).map((points) => ({
  ...points,
  values: points.values.map((_, i) => [0, 0, 3, 1, 0, 7, 7, -2][Math.floor(i / 3) % 8]!),
}))

test('a summary is what its points say', () => {
  fc.assert(fc.property(somePoints(600), (points) => assertSame(wholeOf(points), extrasByHand(points))))
  fc.assert(fc.property(switching, (points) => assertSame(wholeOf(points), extrasByHand(points))))
})

test('joined summaries are those of all points', () => {
  const cuts = fc.array(fc.nat(599), { maxLength: 6 })
  fc.assert(
    fc.property(switching, cuts, (points, places) => {
      const count = points.times.length
      const edges = [...new Set([0, ...places.map((place) => place % count), count])].sort((a, b) => a - b)
      const parts = edges.slice(1).map((end, i) => wholeOf(sliceColumns(points, edges[i]!, end)))
      assertSame(joinSummaries(parts), { ...extrasByHand(points), count, numGood: wholeOf(points).numGood })
    }),
  )
})

test('blocks and pages of them are summed up in the file', async (t) => {
  const folder = temporaryFolder(t)
  const store = openPartStore(systemFiles, folder, { cacheBytes: 1 << 20 })
  // Noise, so that there are many blocks.
  const points = makeColumns(120_000)
  for (let i = 0; i < points.times.length; i++) {
    points.times[i] = i * 1_000_000 + Math.floor(999 * Math.abs(Math.sin(i * i)))
    points.values[i] = i % 100 < 20 ? 0 : Math.sin(i * i)
    points.statuses[i] = i % 1_000 < 10 ? 1 : 0
  }
  const info = await writePart(store, 'a.part', { runs: [[1, points]], tombstones: [] })
  const part = FilePart.open(systemFiles, folder, info, new BlockCache(1 << 20))
  const run = part.run(1)!
  assert.ok(run instanceof LargeRun && run.pages > 1, `${run.blocks} blocks`)
  const between = (first: number, last: number) =>
    sliceColumns(points, lowerBound(points.times, first), lowerBound(points.times, last + 1))
  for (let block = 0; block < run.blocks; block++) {
    const expected = wholeOf(between(run.blockFirst(block), run.blockLast(block)))
    assertSame(run.blockSummary(block)!, expected)
    assert.equal(run.pageOf(block), Math.floor(block / SUMMED_BLOCKS))
  }
  assert.equal(run.pageStart(run.pages), run.blocks)
  for (let page = 0; page < run.pages; page++) {
    const last = run.pageStart(page + 1) - 1
    assertSame(
      run.pageSummary(page)!,
      wholeOf(between(run.blockFirst(run.pageStart(page)), run.blockLast(last))),
    )
  }
  assert.deepEqual((await part.check(new AbortController().signal)).problems, [])
  part.close()
})
