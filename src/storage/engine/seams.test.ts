import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { makeColumns } from '../../series/columns.ts'
import { instantFromUs } from '../../time/instant.ts'
import { badSector, FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { openPartStore } from '../parts/file-part-store.ts'
import { writePart } from '../parts/parts.fixture.ts'
import { LargeRun } from '../parts/runs.ts'
import { readAggregates } from '../reads/signal-reads.ts'
import { PACE } from './layered-blocks.fixture.ts'
import { LayeredBlocks } from './layered-blocks.ts'
import { PartSource } from './sources.ts'

const HOUR_US = 3_600_000_000
const SHAPE = { stepped: true, holdUntil: instantFromUs(1e15) }

test('a stepped integral has the small values of a block that ends with a very large one', async (t) => {
  const store = openPartStore(systemFiles, temporaryFolder(t), { cacheBytes: 1 << 20 })
  const points = makeColumns(512)
  for (let i = 0; i < 512; i++) {
    points.times[i] = i * HOUR_US
    points.values[i] = i === 511 ? 1e16 : 1
  }
  const part = store.open(await writePart(store, '1.part', { runs: [[5, points]], tombstones: [] }))
  t.after(() => part.close())
  const edges = Float64Array.of(0, 511 * HOUR_US + 1)
  const blocks = new LayeredBlocks([new PartSource(part, 5, [])])
  const { total } = await readAggregates(blocks, edges, ['total'], SHAPE, PACE)
  // The last value holds for a microsecond.
  const wanted = 511 * HOUR_US + 1e16
  assert.ok(Math.abs(total![0]! - wanted) <= 1e-9 * wanted, `${total![0]} and not ${wanted}`)
})

test('a block that the disk does not give fails no read that takes its summary in place of it', async (t) => {
  const files = new FailingFiles(systemFiles)
  const store = openPartStore(files, temporaryFolder(t), { cacheBytes: 1 << 20 })
  const points = makeColumns(20_000)
  for (let i = 0; i < 20_000; i++) {
    points.times[i] = i * HOUR_US
    points.values[i] = Math.fround(Math.sin(i * i))
  }
  const part = store.open(await writePart(store, '1.part', { runs: [[5, points]], tombstones: [] }))
  t.after(() => part.close())
  const run = part.run(5)
  assert.ok(run instanceof LargeRun && run.blocks > 5)
  files.plan = badSector('1.part', run.blockAt(2), run.blockAt(2) + 1)
  const blocks = () => new LayeredBlocks([new PartSource(part, 5, [])])
  // The first block is cut by the edge, and read with those behind it.
  const last = points.times[run.blockCount(0) * 4]!
  const found = await readAggregates(
    blocks(),
    Float64Array.of(HOUR_US, last),
    ['numGood', 'sum'],
    SHAPE,
    PACE,
  )
  assert.equal(found.numGood![0], run.blockCount(0) * 4 - 1)
  // What needs it fails.
  const within = Float64Array.of(run.blockFirst(2) + 1, last)
  await assert.rejects(readAggregates(blocks(), within, ['sum'], SHAPE, PACE), { code: 'EIO' })
})
