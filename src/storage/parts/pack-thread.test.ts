import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { makeColumns, type PointColumns, sliceColumns } from '../../series/columns.ts'
import { RunStretches } from '../blocks/run-stretches.ts'
import { sortPoints } from '../blocks/sort-points.ts'
import { systemFiles } from '../files/system-files.ts'
import { openPartStore } from './file-part-store.ts'
import { startPacker } from './pack-thread.ts'
import type { Packer, PartPacking } from './packer.ts'
import type { PartOrigin, Tombstone } from './part.ts'
import { readRun, textOf, writePart } from './parts.fixture.ts'

const ORIGIN: PartOrigin = { firstSequence: 3, lastSequence: 9, replaces: [] }
const CACHE = { cacheBytes: 4 << 20 }

function packerOf(t: TestContext): { readonly folder: string; readonly packer: Packer } {
  const folder = temporaryFolder(t)
  const packer = startPacker(folder)
  t.after(() => packer.close())
  return { folder, packer }
}

/** Points in no order of time, of which some replace others. */
function somePoints(count: number, seed: number): PointColumns {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) {
    points.times[i] = Math.floor((((i + seed) * 0.6180339887498949) % 1) * 2 * count) * 1_000
    points.values[i] = i / 8
    points.statuses[i] = (i + seed) % 5 === 0 ? 1 : 0
  }
  return points
}

/** Adds the points of tags, those for which there is no room in stretches of time, of three runs of them each. */
async function pack(packing: PartPacking, runs: readonly (readonly [number, PointColumns])[]): Promise<void> {
  let batch = await packing.batch()
  for (const [tag, points] of runs) {
    const count = points.times.length
    if (count <= batch.room) {
      batch.add(points, 0, count)
      batch.endEntry(tag)
      continue
    }
    const thirds = [0, 1, 2, 3].map((third) => Math.floor((third * count) / 3))
    const stretches = new RunStretches(
      [0, 1, 2].map((third) => sortPoints(sliceColumns(points, thirds[third]!, thirds[third + 1]!))),
    )
    while (!stretches.isOver) {
      if (batch.room < 3) {
        packing.add(batch, false)
        batch = await packing.batch()
      }
      for (const part of stretches.next(batch.room)) batch.add(part, 0, part.times.length)
      batch.endEntry(tag)
      if (stretches.isOver) break
      packing.add(batch, true)
      batch = await packing.batch()
    }
  }
  packing.add(batch, false)
}

test('a part that is packed on a thread of its own is the one that is written at once', async (t) => {
  const { folder, packer } = packerOf(t)
  const other = temporaryFolder(t)
  const store = openPartStore(systemFiles, other, CACHE)
  let number = 0
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.integer({ min: 1, max: 9_000 }), { minLength: 1, maxLength: 12 }),
      fc.array(fc.constantFrom(1, 40, 300, 20_000, 70_000), { minLength: 12, maxLength: 12 }),
      fc.nat(1_000),
      async (tags, counts, seed) => {
        const name = `00000001-${String(++number).padStart(8, '0')}.part`
        const runs = tags
          .toSorted((a, b) => a - b)
          .map((tag, i) => [tag, somePoints(counts[i]!, seed + i)] as const)
        const tombstones = tags.map((tag): Tombstone => ({ tag, from: seed, to: seed + tag, sequence: tag }))
        const packing = packer.begin(name, ORIGIN)
        await pack(packing, runs)
        for (const tombstone of tombstones) packing.addTombstone(tombstone)
        const info = await packing.finish()
        const sorted = runs.map(([tag, points]) => [tag, sortPoints(points)] as const)
        assert.deepEqual(info, await writePart(store, name, { runs: sorted, tombstones }, [3, 9]))
        assert.deepEqual(readFileSync(join(folder, name)), readFileSync(join(other, name)))
      },
    ),
    { numRuns: 15 },
  )
})

test('a tag whose last points fill a batch, and one that follows it, have all of theirs', async (t) => {
  const { folder, packer } = packerOf(t)
  const packing = packer.begin('00000001-00000001.part', ORIGIN)
  const { room } = await packing.batch()
  await packing.abandon()
  const all = sliceColumns(sortPoints(somePoints(3 * room, 1)), 0, 2 * room)
  const again = packer.begin('00000001-00000002.part', ORIGIN)
  for (const [start, end] of [
    [0, room],
    [room, 2 * room],
  ] as const) {
    const batch = await again.batch()
    batch.add(all, start, end)
    batch.endEntry(5)
    again.add(batch, true)
  }
  const last = await again.batch()
  last.endEntry(5)
  last.add(sliceColumns(all, 0, 1), 0, 1)
  last.endEntry(6)
  again.add(last, false)
  const part = openPartStore(systemFiles, folder, CACHE).open(await again.finish())
  assert.equal(textOf(readRun(part, 5)!), textOf(all))
  assert.equal(readRun(part, 6)!.times.length, 1)
  part.close()
})

test('a part that fails says why, leaves nothing behind, and the next one is packed', async (t) => {
  const { folder, packer } = packerOf(t)
  const name = '00000001-00000001.part'
  writeFileSync(join(folder, name), '')
  const failing = packer.begin(name, ORIGIN)
  const failure = async () => {
    for (;;) await pack(failing, [[1, somePoints(70_000, 1)]])
  }
  await assert.rejects(failure, { code: 'EEXIST' })
  await assert.rejects(failing.finish(), { code: 'EEXIST' })
  await failing.abandon()
  const abandoned = packer.begin('00000001-00000002.part', ORIGIN)
  await pack(abandoned, [[1, somePoints(300_000, 1)]])
  await abandoned.abandon()
  assert.deepEqual(readdirSync(folder), [name])
  const packing = packer.begin('00000001-00000003.part', ORIGIN)
  await pack(packing, [[1, somePoints(10, 1)]])
  assert.equal((await packing.finish()).tags, 1)
})

test('what cannot be written of a part is told as the file system says it', async (t) => {
  const folder = join(temporaryFolder(t), 'none')
  const packer = startPacker(folder)
  t.after(() => packer.close())
  const packing = packer.begin('00000001-00000001.part', ORIGIN)
  await assert.rejects(packing.finish(), { code: 'ENOENT', syscall: 'open' })
  await packing.abandon()
})

test('a thread that ends fails the part that it packs, and the next one has another thread', async (t) => {
  const { packer } = packerOf(t)
  const packing = packer.begin('00000001-00000001.part', ORIGIN)
  await pack(packing, [[1, somePoints(10, 1)]])
  await packer.close()
  await assert.rejects(packing.finish(), /has ended/)
  await packing.abandon()
  const next = packer.begin('00000001-00000002.part', ORIGIN)
  await pack(next, [[1, somePoints(10, 1)]])
  assert.equal((await next.finish()).tags, 1)
})
