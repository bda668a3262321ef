import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeColumns, type PointColumns } from '../../src/series/columns.ts'
import { BlockView } from '../../src/storage/blocks/block.ts'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import { MERGE_LIMITS } from '../../src/storage/merge/merge.ts'
import { runMerge } from '../../src/storage/merge/run-merge.ts'
import { openPartStore } from '../../src/storage/parts/file-part-store.ts'
import type { PartInfo } from '../../src/storage/parts/part.ts'
import { expect, type Measurement, measure, seededRandom } from '../measure.ts'
import { randomWalk, SECOND, START, signal } from './plant.ts'

// Part files by themselves: packed, merged, opened and read; many tags with few points, and few with many. Values are
// the random walk of 3 decimals. The notes have processor time and bytes for each point.

/** Walks that tags share, so that making them takes no part of the time. */
const WALKS = 50
const PARTS = 4
const READS = 10_000

const folder = mkdtempSync(join(tmpdir(), 'tidemark-bench-'))
const store = openPartStore(systemFiles, folder, { cacheBytes: 64 << 20 })
const random = seededRandom(1)
const measurements: Measurement[] = []
let number = 1

interface Shape {
  readonly name: string
  readonly tags: number
  readonly points: number
  readonly runs: number
}

const SHAPES: readonly Shape[] = [
  { name: '1000000-tags-1-point', tags: 1_000_000, points: 1, runs: 3 },
  { name: '200000-tags-30-points', tags: 200_000, points: 30, runs: 3 },
  { name: '20000-tags-300-points', tags: 20_000, points: 300, runs: 3 },
  { name: '2000-tags-2000-points', tags: 2_000, points: 2_000, runs: 3 },
  { name: '1-tag-1000000-points', tags: 1, points: 1_000_000, runs: 5 },
]

/** Points of a tag in one of the parts, a second apart. */
function walksOf({ tags, points }: Shape, part: number): readonly PointColumns[] {
  return Array.from({ length: Math.min(tags, WALKS) }, (_, seed) => {
    const next = randomWalk(seed + 1)
    const columns = makeColumns(points)
    for (let i = 0; i < points; i++) {
      columns.times[i] = START + (part * points + i) * SECOND
      columns.values[i] = next() / 1_000
    }
    return columns
  })
}

async function write(shape: Shape, part: number, walks: readonly PointColumns[]): Promise<PartInfo> {
  const name = `${number++}.part`
  const writer = store.create(name, { firstSequence: part + 1, lastSequence: part + 1, replaces: [] })
  for (let tag = 1; tag <= shape.tags; tag++) {
    writer.add(tag, walks[tag % walks.length]!)
    if (tag % 1_000 === 0) await writer.drain()
  }
  return writer.finish()
}

/** Runs a task and says what of the processor each of its points took, and the bytes of each. */
async function row(name: string, runs: number, points: number, task: () => Promise<readonly PartInfo[]>) {
  let bytes = 0
  const before = process.cpuUsage()
  const measured = await measure(
    `storage/parts/${name}`,
    async () => {
      const infos = await task()
      expect(infos.reduce((sum, info) => sum + info.points, 0) === points, 'all points are there')
      bytes = infos.reduce((sum, info) => sum + info.bytes, 0)
      made.push(...infos)
    },
    { warmUps: 0, runs, items: points },
  )
  const { user, system } = process.cpuUsage(before)
  const each = ((user + system) * 1_000) / measured.runs / points
  const note = `${each.toFixed(0)} ns of processor and ${(bytes / points).toFixed(2)} bytes a point`
  measurements.push({ ...measured, note })
}

/** Parts that were made in a row of the table. */
const made: PartInfo[] = []

function removeMade(): void {
  for (const { name } of made.splice(0)) systemFiles.remove(join(folder, name))
}

for (const shape of SHAPES) {
  const { name, tags, points, runs } = shape
  const walks = walksOf(shape, 0)
  await row(`write/${name}`, runs, tags * points, async () => [await write(shape, 0, walks)])
  removeMade()
  const inputs: PartInfo[] = []
  for (let part = 0; part < PARTS; part++) inputs.push(await write(shape, part, walksOf(shape, part)))
  await row(`merge-4/${name}`, runs, PARTS * tags * points, async () => {
    const order = {
      folder,
      inputs,
      others: [],
      tombstones: [],
      expired: null,
      namePrefix: 'm',
      limits: MERGE_LIMITS,
    }
    return (await runMerge(systemFiles, { ...order, firstNumber: number++ }, signal)).added
  })
  const merged = made.at(-1)!
  measurements.push(
    await measure(`storage/parts/open/${name}`, () => store.open(merged).close(), { warmUps: 5, runs: 50 }),
  )
  const part = store.open(merged)
  const view = new BlockView()
  const read = () => {
    for (let i = 0; i < READS; i++) {
      const run = part.run(1 + Math.floor(random() * tags))!
      run.open(run.blocks - 1, view)
      expect(view.timeAt(view.count - 1) === merged.lastTime, 'the newest point')
    }
  }
  measurements.push(
    await measure(`storage/parts/newest-of-any-tag/${name}`, read, { warmUps: 2, runs: 10, items: READS }),
  )
  part.close()
  removeMade()
  for (const input of inputs) systemFiles.remove(join(folder, input.name))
}
rmSync(folder, { recursive: true })
console.log(JSON.stringify(measurements))
