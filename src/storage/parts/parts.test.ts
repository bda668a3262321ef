import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { concatColumns, makeColumns, type PointColumns } from '../../series/columns.ts'
import { BlockView } from '../blocks/block.ts'
import { Damage } from '../damage.ts'
import { FailingFiles, type FileCall } from '../files/failing-files.fixture.ts'
import { readFile } from '../files/files.ts'
import { systemFiles } from '../files/system-files.ts'
import { openPartStore } from './file-part-store.ts'
import type { Part, PartRun } from './part.ts'
import { readRun, someContent, textOf, writePart } from './parts.fixture.ts'

const CACHE = { cacheBytes: 1 << 20 }
const NAME = '00000001-00000001.part'
const never = new AbortController().signal

/** A point a second from a time on, whose values are decimals. */
function steady(count: number, from = 0): PointColumns {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) {
    points.times[i] = from + i * 1_000_000
    points.values[i] = Math.round(1_000 * Math.sin(i / 30)) / 1_000
  }
  return points
}

test('what was written is read: every bit of points, tombstones and tags', async (t) => {
  const folder = temporaryFolder(t)
  let number = 0
  await fc.assert(
    fc.asyncProperty(someContent(40, 3_000), async (content) => {
      const store = openPartStore(systemFiles, folder, CACHE)
      const info = await writePart(store, `${number++}.part`, content, [3, 9])
      assert.equal(info.bytes, readFile(systemFiles, `${folder}/${info.name}`).length)
      assert.deepEqual(store.inspect(info.name), {
        info,
        origin: { firstSequence: 3, lastSequence: 9, replaces: [] },
      })
      const part = store.open(info)
      const { runs } = content
      assert.deepEqual(
        [...part.tags()],
        runs.map(([tag]) => tag),
      )
      const inOrder = content.tombstones.toSorted((a, b) => a.tag - b.tag || a.sequence - b.sequence)
      assert.deepEqual([...part.tombstones], inOrder)
      assert.equal(
        info.points,
        runs.reduce((sum, [, { times }]) => sum + times.length, 0),
      )
      assert.equal(info.firstTime, Math.min(...runs.map(([, { times }]) => times[0]!)))
      assert.equal(info.lastTime, Math.max(...runs.map(([, { times }]) => times.at(-1)!)))
      for (const [tag, points] of runs) {
        assert.ok(part.has(tag))
        assert.equal(textOf(readRun(part, tag)!), textOf(points))
        const run = part.run(tag)!
        assert.deepEqual([run.count, run.firstTime], [points.times.length, points.times[0]])
        assert.deepEqual([run.tag, run.lastTime], [tag, points.times.at(-1)])
        const isKnown = new Set(runs.map(([id]) => id))
        for (const other of [tag - 1, tag + 1]) {
          if (isKnown.has(other)) continue
          assert.ok(!part.has(other))
          assert.equal(part.run(other), null)
        }
      }
      const check = await part.check(never)
      assert.deepEqual([check.problems, check.points], [[], info.points])
      part.close()
      assert.equal(store.cachedBytes, 0)
    }),
    { numRuns: 60 },
  )
})

test('a part of tombstones alone has no times', async (t) => {
  const store = openPartStore(systemFiles, temporaryFolder(t), CACHE)
  const tombstone = { tag: 7, from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY, sequence: 5 }
  const info = await writePart(store, NAME, { runs: [], tombstones: [tombstone] }, [5, 5])
  assert.equal(info.firstTime, Number.POSITIVE_INFINITY)
  assert.equal(info.lastTime, Number.NEGATIVE_INFINITY)
  const part = store.open(store.inspect(NAME).info)
  assert.deepEqual([...part.tombstones], [tombstone])
  assert.deepEqual([...part.tags()], [])
  part.close()
})

test('a block of a large run is found by time, and fetched ahead of time', async (t) => {
  const store = openPartStore(systemFiles, temporaryFolder(t), CACHE)
  const points = steady(100_000)
  const part = store.open(await writePart(store, NAME, { runs: [[1, points]], tombstones: [] }))
  const run = part.run(1)!
  assert.ok(run.blocks > 3)
  for (let block = 0; block < run.blocks; block++) {
    const first = run.blockFirst(block)
    assert.equal(run.blockBefore(first), block)
    assert.equal(run.blockBefore(first - 1), block - 1)
    assert.equal(run.blockBefore(run.blockLast(block)), block)
  }
  const before = store.cachedBytes
  await run.load(0, run.blocks - 1)
  assert.ok(store.cachedBytes > before)
  assert.equal(run.load(0, run.blocks - 1), null)
  assert.equal(textOf(readRun(part, 1)!), textOf(points))
  part.close()
})

/** The values of a run, read as a scan reads them; gives how many reads of the file there were. */
async function scan(run: PartRun): Promise<{ readonly values: Float64Array; readonly loads: number }> {
  const view = new BlockView()
  const parts: PointColumns[] = []
  let loads = 0
  for (let block = 0; block < run.blocks; block++) {
    const loading = run.load(block, Math.min(block + 15, run.blocks - 1))
    if (loading !== null) loads++
    await loading
    run.openAhead(block, view)
    parts.push(view.columns())
  }
  return { values: concatColumns(parts).values, loads }
}

test('a scan of more than the cache holds reads each block once, and leaves there what others use', async (t) => {
  const store = openPartStore(systemFiles, temporaryFolder(t), { cacheBytes: 2 << 20 })
  const [used, long] = [steady(50_000), steady(400_000)]
  // Values of 53 bits, which are not compressed.
  for (let i = 0; i < long.values.length; i++) long.values[i] = Math.sin(i * i)
  const runs = [
    [1, used],
    [2, long],
  ] as const
  const part = store.open(await writePart(store, NAME, { runs, tombstones: [] }))
  const [short, scanned] = [part.run(1)!, part.run(2)!]
  await short.load(0, short.blocks - 1)
  const inCache = store.cachedBytes
  assert.ok(scanned.blocks > 190, `${scanned.blocks} blocks`)
  const { values, loads } = await scan(scanned)
  assert.deepEqual(values, long.values)
  assert.equal(loads, Math.ceil(scanned.blocks / 16))
  assert.equal(part.run(1)!.load(0, short.blocks - 1), null)
  assert.ok(store.cachedBytes - inCache < scanned.blocks * 10_000, `${store.cachedBytes} bytes`)
  // Blocks in the cache here and there are no reason to read their neighbours twice.
  const again = await scan(part.run(2)!)
  assert.deepEqual(again.values, long.values)
  assert.ok(again.loads <= loads, `${again.loads} reads, ${loads} before`)
  part.close()
})

test('points that come in slices are packed as all at once', async (t) => {
  const folder = temporaryFolder(t)
  const store = openPartStore(systemFiles, folder, CACHE)
  const points = steady(150_000)
  const whole = store.open(await writePart(store, NAME, { runs: [[1, points]], tombstones: [] }))
  const writer = store.create('slices.part', { firstSequence: 1, lastSequence: 1, replaces: [] })
  let rests = 0
  await writer.addInSlices(1, points, async () => {
    rests++
    await writer.drain()
  })
  await writer.addInSlices(2, steady(5), async () => assert.fail('five points are one slice'))
  const sliced = store.open(await writer.finish())
  assert.ok(rests >= 4)
  const blocksOf = (part: Part) => {
    const run = part.run(1)!
    return Array.from({ length: run.blocks }, (_, block) => [run.blockFirst(block), run.blockCount(block)])
  }
  assert.deepEqual(blocksOf(sliced), blocksOf(whole))
  assert.equal(textOf(readRun(sliced, 1)!), textOf(points))
  whole.close()
  sliced.close()
})

test('the cache stays within its size, and what it has of a part goes with it', async (t) => {
  const store = openPartStore(systemFiles, temporaryFolder(t), { cacheBytes: 64 << 10 })
  const runs = Array.from({ length: 3_000 }, (_, tag) => [tag + 1, steady(30, tag)] as const)
  const part = store.open(await writePart(store, NAME, { runs, tombstones: [] }))
  const other = store.open(await writePart(store, 'other.part', { runs, tombstones: [] }))
  for (const [tag, points] of runs) {
    assert.equal(textOf(readRun(part, tag)!), textOf(points))
    assert.equal(textOf(readRun(other, tag)!), textOf(points))
    assert.ok(store.cachedBytes <= 64 << 10)
  }
  part.close()
  other.close()
  assert.equal(store.cachedBytes, 0)
})

test('a part is no other than the one that the manifest names', async (t) => {
  const folder = temporaryFolder(t)
  const store = openPartStore(systemFiles, folder, CACHE)
  const info = await writePart(store, NAME, { runs: [[1, steady(5)]], tombstones: [] })
  assert.throws(() => store.open({ ...info, bytes: info.bytes + 1 }), Damage)
  assert.throws(() => store.open({ ...info, points: info.points + 1 }), Damage)
  systemFiles.link(`${folder}/${NAME}`, `${folder}/other.part`)
  assert.throws(() => store.open({ ...info, name: 'other.part' }), Damage)
  assert.throws(() => store.inspect('other.part'), Damage)
  assert.throws(() => store.open({ ...info, name: 'none.part' }), { code: 'ENOENT' })
  assert.throws(() => store.create(NAME, { firstSequence: 1, lastSequence: 1, replaces: [] }), {
    code: 'EEXIST',
  })
})

test('a writer that any call fails says so and leaves no file', async (t) => {
  const folder = temporaryFolder(t)
  const content = { runs: [[1, steady(5)] as const, [2, steady(200_000)] as const], tombstones: [] }
  const write = async (files: FailingFiles) => {
    const writer = openPartStore(files, folder, CACHE).create(NAME, {
      firstSequence: 1,
      lastSequence: 1,
      replaces: [],
    })
    try {
      for (const [tag, points] of content.runs) {
        writer.add(tag, points)
        await writer.drain()
      }
      await writer.finish()
    } catch (error) {
      files.plan = () => null
      writer.abandon()
      throw error
    }
  }
  const calls: FileCall[] = []
  const whole = new FailingFiles(systemFiles, (call) => {
    calls.push(call)
    return null
  })
  await write(whole)
  systemFiles.remove(`${folder}/${NAME}`)
  assert.ok(calls.includes('write') && calls.includes('sync') && calls.includes('syncFolder'))
  for (let failing = 0; failing < calls.length; failing++) {
    for (const short of [false, true]) {
      const files = new FailingFiles(systemFiles, (_call, _path, number) =>
        number === failing ? { code: 'ENOSPC', short } : null,
      )
      await assert.rejects(write(files), { code: 'ENOSPC' })
      assert.deepEqual(systemFiles.list(folder), [], `${calls[failing]} ${failing}`)
    }
  }
})
