import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AGGREGATE_NAMES } from '../../series/aggregate-names.ts'
import { makeColumns, type PointColumns } from '../../series/columns.ts'
import { instantFromUs } from '../../time/instant.ts'
import { MEMORY_BLOCK_POINTS } from '../memtable/block-summaries.ts'
import { PointMemory } from '../memtable/point-memory.ts'
import { TagPoints } from '../memtable/tag-points.ts'
import type { ReadPace } from '../pause.ts'
import type { ZoneMapSink } from '../reads/point-blocks.ts'
import { readAggregates } from '../reads/signal-reads.ts'
import { LayeredBlocks } from './layered-blocks.ts'
import { MemorySource } from './sources.ts'

const PACE: ReadPace = { isDue: () => false, pause: async () => {} }
const NAMES = AGGREGATE_NAMES.filter((name) => name !== 'median')
const SHAPE = { stepped: false, holdUntil: instantFromUs(1e9) }

/** Points with values of their own from a time on, each so many microseconds after the one before. */
function pointsFrom(first: number, count: number, stepUs: number, level: number): PointColumns {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) {
    points.times[i] = first + i * stepUs
    points.values[i] = level + ((i * 7_919) % 101) / 8
    if (i % 97 === 5) points.statuses[i] = 1
  }
  return points
}

/** Counts the summaries that are taken. */
class CountingBlocks extends LayeredBlocks {
  taken = 0

  override eachZoneMap(from: number, to: number, pace: ReadPace, sink: ZoneMapSink): Promise<void> {
    return super.eachZoneMap(from, to, pace, {
      ...sink,
      takePoints: (points) => sink.takePoints(points),
      takeZoneMap: (zoneMap) => {
        const isTaken = sink.takeZoneMap(zoneMap)
        if (isTaken) this.taken++
        return isTaken
      },
    })
  }
}

/** All aggregates of points in memory, and of the same points where nothing is kept of them. */
async function assertSame(points: TagPoints, edges: Float64Array): Promise<number> {
  const columns = points.columns()
  const blocks = new CountingBlocks([new MemorySource(columns)])
  const { times, values, statuses } = columns
  const plain = new LayeredBlocks([new MemorySource({ times, values, statuses })])
  const [found, expected] = await Promise.all(
    [blocks, plain].map((each) => readAggregates(each, edges, NAMES, SHAPE, PACE)),
  )
  for (const name of NAMES) {
    for (const [i, value] of found![name]!.entries()) {
      const wanted = expected![name]![i]!
      const isSame = Object.is(value, wanted) || Math.abs(value - wanted) <= 1e-9 * Math.abs(wanted)
      assert.ok(isSame, `${name} of window ${i} is ${value}, not ${wanted}`)
    }
  }
  return blocks.taken
}

test('aggregates of many points in memory are those of the points, while more come, are late or go', async () => {
  const points = new TagPoints(new PointMemory())
  const add = (more: PointColumns) => points.add(more, 0, more.times.length)
  const count = 5 * MEMORY_BLOCK_POINTS + 100
  add(pointsFrom(0, count, 10, 5))
  const all = Float64Array.of(-50, 10 * count + 50)
  const parts = Float64Array.from({ length: 8 }, (_, i) => i * 30_011)
  assert.equal(await assertSame(points, all), 0, 'what is read once is not summed up')
  assert.equal(await assertSame(points, all), 5)
  assert.ok((await assertSame(points, parts)) > 0)
  // Behind those that are summed up already.
  add(pointsFrom(10 * count, 2 * MEMORY_BLOCK_POINTS, 10, -3))
  await assertSame(points, all)
  const later = Float64Array.of(-50, 10 * count + 50, 20 * count)
  await assertSame(points, later)
  assert.equal(await assertSame(points, later), 6, 'one lies in both windows')
  // In between, and in place of some.
  add(pointsFrom(105, 300, 10, 1_000))
  add(pointsFrom(50_000, 300, 10, 2_000))
  for (let i = 0; i < 3; i++) await assertSame(points, later)
  points.remove([{ from: 120, to: 40_000 }])
  for (let i = 0; i < 3; i++) await assertSame(points, later)
  assert.ok((await assertSame(points, later)) > 1)
})
