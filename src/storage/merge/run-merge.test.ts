import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { makeColumns, type PointColumns, STATUS_BAD } from '../../series/columns.ts'
import { somePoints } from '../blocks/points.fixture.ts'
import { Damage } from '../damage.ts'
import { FailingFiles, type FileCall } from '../files/failing-files.fixture.ts'
import { readFile } from '../files/files.ts'
import { systemFiles } from '../files/system-files.ts'
import { openPartStore } from '../parts/file-part-store.ts'
import type { PartInfo, Tombstone } from '../parts/part.ts'
import { readRun, writePart } from '../parts/parts.fixture.ts'
import { inlineMerger } from './inline-merger.ts'
import { MERGE_LIMITS, type MergeLimits, type MergeOrder, type Merger } from './merge.ts'
import { startMerger } from './merge-thread.ts'
import { overlapOf, readAll } from './merges.fixture.ts'
import { monthOf } from './months.ts'

const DAY = 86_400_000_000
const never = new AbortController().signal
const CACHE = { cacheBytes: 4 << 20 }

function orderOf(
  folder: string,
  inputs: readonly PartInfo[],
  others: readonly PartInfo[] = [],
  limits: MergeLimits = MERGE_LIMITS,
): MergeOrder {
  const store = openPartStore(systemFiles, folder, CACHE)
  const tombstones = others.flatMap((info) => {
    const part = store.open(info)
    part.close()
    return part.tombstones.columns
  })
  return {
    folder,
    inputs,
    others,
    tombstones,
    expired: null,
    namePrefix: '00000009-',
    firstNumber: 1,
    limits,
  }
}

/** Points at a fixed step. */
function steady(count: number, from: number, step: number, value = 1): PointColumns {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) {
    points.times[i] = from + i * step
    points.values[i] = value + Math.round(1_000 * Math.sin(i / 30)) / 1_000
  }
  return points
}

interface RandomPart {
  readonly runs: readonly (readonly [tag: number, points: PointColumns])[]
  readonly tombstones: readonly {
    readonly tag: number
    readonly from: number
    readonly length: number
    readonly late: boolean
  }[]
}

/** Points near each other in time, so that those of different parts meet. */
const nearPoints = fc
  .tuple(
    fc.oneof(somePoints(6), somePoints(300), somePoints(4_000)),
    fc.integer({ min: 0, max: 3_000 }),
    fc.constantFrom(1, 60, 3_600),
  )
  .map(([points, from, step]): PointColumns => {
    const times = points.times.map((_, i) => (from + i * step) * 1_000_000)
    return { ...points, times }
  })

const span = fc.oneof(
  fc.constant([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] as const),
  fc.tuple(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 1, max: 1_000_000 })),
)

const randomPart: fc.Arbitrary<RandomPart> = fc.record({
  runs: fc
    .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 6 }), nearPoints), {
      selector: ([tag]) => tag,
      maxLength: 5,
    })
    .map((runs) => runs.toSorted(([a], [b]) => a - b)),
  tombstones: fc.array(
    fc
      .record({ tag: fc.integer({ min: 1, max: 6 }), span, late: fc.boolean() })
      .map(({ tag, span, late }) => ({
        tag,
        from: span[0] * 1_000_000,
        length: span[1] * 1_000_000,
        late,
      })),
    { maxLength: 4 },
  ),
})

test('parts that are merged read as before, whatever tombstones and overlaps there are', async (t) => {
  const folder = temporaryFolder(t)
  const store = openPartStore(systemFiles, folder, CACHE)
  let number = 1
  await fc.assert(
    fc.asyncProperty(
      fc.array(randomPart, { minLength: 2, maxLength: 6 }),
      fc.nat(5),
      fc.nat(5),
      fc.constantFrom(2_000, 20_000, 1 << 30),
      async (contents, from, count, partitionBytes) => {
        const infos: PartInfo[] = []
        for (const [i, { runs, tombstones }] of contents.entries()) {
          const stones = tombstones.map(
            ({ tag, from, length, late }): Tombstone => ({
              tag,
              from,
              to: length === Number.POSITIVE_INFINITY ? length : from + length,
              sequence: 10 * i + (late ? 10 : 1),
            }),
          )
          const content = { runs, tombstones: stones }
          infos.push(await writePart(store, `${number++}.part`, content, [10 * i + 1, 10 * i + 10]))
        }
        const first = Math.min(from, infos.length - 1)
        const inputs = infos.slice(first, first + count + 1)
        const others = infos.filter((info) => !inputs.includes(info))
        const limits = { ...MERGE_LIMITS, partitionBytes }
        const order = { ...orderOf(folder, inputs, others, limits), firstNumber: 1_000_000 + 100 * number }
        const { added } = await inlineMerger(systemFiles).merge(order, never)
        assert.deepEqual(readAll(store, [...others, ...added]), readAll(store, infos))
        assert.equal(overlapOf([...others, ...added]), null)
        for (const info of added) {
          assert.equal(info.firstSequence, inputs[0]!.firstSequence)
          assert.equal(info.lastSequence, inputs.at(-1)!.lastSequence)
          assert.ok(info.points > 0 || info.tombstones > 0)
          assert.deepEqual(
            store.inspect(info.name).origin.replaces,
            inputs.map(({ name }) => name),
          )
          const part = store.open(info)
          assert.deepEqual((await part.check(never)).problems, [])
          part.close()
        }
        // A tombstone stays only for what is older.
        const oldest = Math.min(...others.map((other) => other.lastSequence))
        const stones = added.flatMap((info) => [...store.open(info).tombstones])
        assert.ok(stones.every(({ sequence }) => sequence > oldest))
      },
    ),
    { numRuns: 60 },
  )
})

async function oneLayer(t: TestContext, merger: Merger): Promise<void> {
  const folder = temporaryFolder(t)
  const store = openPartStore(systemFiles, folder, CACHE)
  const parts: PartInfo[] = []
  for (let i = 0; i < 4; i++) {
    const runs = [1, 2, 9].map((tag) => [tag, steady(tag * 300, i * 1_000, 1_000_000, i)] as const)
    parts.push(await writePart(store, `${i}.part`, { runs, tombstones: [] }, [i + 1, i + 1]))
  }
  const before = readAll(store, parts)
  const { added } = await merger.merge(orderOf(folder, parts), never)
  assert.deepEqual(
    added.map(({ name }) => name),
    ['00000009-00000001.part'],
  )
  assert.deepEqual(readAll(store, added), before)
  await merger.close()
}

test('a merge runs on the thread of the caller', (t) => oneLayer(t, inlineMerger(systemFiles)))
test('a merge runs on a thread of its own', (t) => oneLayer(t, startMerger()))

test('months that hold much are cut out, and what lies between them stays together', async (t) => {
  const folder = temporaryFolder(t)
  const store = openPartStore(systemFiles, folder, CACHE)
  const noise = (points: PointColumns) => ({
    ...points,
    values: points.values.map((_, i) => Math.sin(i * i)),
  })
  // Little in all of 1970, much in March and in August.
  const runs = [
    [1, steady(365, 0, DAY)] as const,
    [2, noise(steady(20_000, 65 * DAY, 60_000_000))] as const,
    [3, noise(steady(20_000, 215 * DAY, 60_000_000))] as const,
  ]
  const inputs = [
    await writePart(store, 'a.part', { runs, tombstones: [] }, [1, 1]),
    await writePart(store, 'b.part', { runs: [[5, steady(365, 1, DAY)]], tombstones: [] }, [2, 2]),
  ]
  const limits = { ...MERGE_LIMITS, partitionBytes: 50_000 }
  const { added } = await inlineMerger(systemFiles).merge(orderOf(folder, inputs, [], limits), never)
  const months = added
    .toSorted((a, b) => a.firstTime - b.firstTime)
    .map(({ firstTime, lastTime }) => [monthOf(firstTime) % 12, monthOf(lastTime) % 12])
  assert.deepEqual(months, [
    [0, 1],
    [2, 2],
    [3, 6],
    [7, 7],
    [8, 11],
  ])
  assert.deepEqual(readAll(store, added), readAll(store, inputs))
})

test('full blocks beside which nothing lies are taken over as they are', async (t) => {
  const folder = temporaryFolder(t)
  const store = openPartStore(systemFiles, folder, CACHE)
  const inputs: PartInfo[] = []
  for (let i = 0; i < 3; i++) {
    const runs = [[1, steady(100_000, i * 2e11, 1_000_000)] as const]
    inputs.push(await writePart(store, `${i}.part`, { runs, tombstones: [] }, [i + 1, i + 1]))
  }
  const { added } = await inlineMerger(systemFiles).merge(orderOf(folder, inputs), never)
  const blocksOf = (info: PartInfo) => {
    const part = store.open(info)
    const run = part.run(1)!
    const counts = Array.from({ length: run.blocks }, (_, block) => run.blockCount(block))
    part.close()
    return counts
  }
  // All but the last block of each, which is not full.
  const kept = inputs.map((info) => blocksOf(info).slice(0, -1))
  const found = blocksOf(added[0]!)
  for (const counts of kept) assert.ok(found.join().includes(counts.join()))
  assert.deepEqual(readAll(store, added), readAll(store, inputs))
})

test('nothing comes of parts without points and without tombstones that are needed', async (t) => {
  const folder = temporaryFolder(t)
  const store = openPartStore(systemFiles, folder, CACHE)
  const all = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }
  const older = await writePart(store, '1.part', { runs: [[1, steady(9, 0, 1)]], tombstones: [] }, [1, 1])
  const points = await writePart(store, '2.part', { runs: [[2, steady(9, 0, 1)]], tombstones: [] }, [2, 2])
  const stone = await writePart(
    store,
    '3.part',
    { runs: [], tombstones: [{ tag: 2, ...all, sequence: 3 }] },
    [3, 3],
  )
  const needed = await writePart(
    store,
    '4.part',
    { runs: [], tombstones: [{ tag: 1, ...all, sequence: 4 }] },
    [4, 4],
  )
  const merger = inlineMerger(systemFiles)
  assert.deepEqual(await merger.merge(orderOf(folder, [points, stone], [older]), never), { added: [] })
  const { added } = await merger.merge(orderOf(folder, [stone, needed], [older]), never)
  assert.equal(added.length, 1)
  const [{ points: count, tombstones, firstTime, lastTime }] = added as [PartInfo]
  assert.deepEqual([count, tombstones, firstTime, lastTime], [0, 1, Infinity, -Infinity])
})

test('what expired points replaced in an older part is taken away where it could be the last good one', async (t) => {
  const folder = temporaryFolder(t)
  const store = openPartStore(systemFiles, folder, CACHE)
  const good = steady(10, 0, 10)
  const bad = { ...good, statuses: good.statuses.map(() => STATUS_BAD) }
  const tags = [1, 2, 3, 4, 5]
  const content = (points: PointColumns) => ({
    runs: tags.map((tag) => [tag, points] as const),
    tombstones: [],
  })
  const older = await writePart(store, '1.part', content(good), [1, 5])
  const input = await writePart(store, '2.part', content(bad), [6, 9])
  const expired = {
    tags: Uint32Array.of(1, 2, 3, 4),
    // Of the second the newest is good, and of the third nothing lies between the two.
    good: Float64Array.of(-Infinity, 90, 89, 20),
    newest: Float64Array.of(90, 90, 90, 70),
  }
  const merger = inlineMerger(systemFiles)
  const merge = async (firstNumber: number, others: readonly PartInfo[]) => {
    const { added } = await merger.merge({ ...orderOf(folder, [input], others), expired, firstNumber }, never)
    const part = store.open(added[0]!)
    const counts = tags.map((tag) => part.run(tag)?.count)
    return { counts, tombstones: [...part.tombstones] }
  }
  const counts = [1, 1, 1, 4, 10]
  assert.deepEqual(await merge(1, [older]), {
    counts,
    tombstones: [
      { tag: 1, from: -Infinity, to: 90, sequence: 9 },
      { tag: 4, from: 21, to: 70, sequence: 9 },
    ],
  })
  assert.deepEqual(await merge(2, []), { counts, tombstones: [] }, 'nothing is older')
})

test('a merge that any call fails says so and leaves nothing', async (t) => {
  const folder = temporaryFolder(t)
  const store = openPartStore(systemFiles, folder, CACHE)
  const inputs: PartInfo[] = []
  for (let i = 0; i < 2; i++) {
    const runs = [[1, steady(60_000, i * 500_000, 60_000_000)] as const, [2, steady(10, i, DAY)] as const]
    inputs.push(await writePart(store, `${i}.part`, { runs, tombstones: [] }, [i + 1, i + 1]))
  }
  const before = systemFiles.list(folder)
  const order = orderOf(folder, inputs, [], { ...MERGE_LIMITS, partitionBytes: 20_000 })
  const calls: FileCall[] = []
  const files = new FailingFiles(systemFiles, (call) => {
    calls.push(call)
    return null
  })
  const { added } = await inlineMerger(files).merge(order, never)
  assert.ok(added.length > 1, 'several outputs')
  for (const { name } of added) systemFiles.remove(`${folder}/${name}`)
  for (let failing = 0; failing < calls.length; failing++) {
    const broken = new FailingFiles(systemFiles, (_call, _path, number) =>
      number === failing ? { code: 'EIO', short: failing % 2 === 0 } : null,
    )
    await assert.rejects(inlineMerger(broken).merge(order, never), { code: 'EIO' }, calls[failing])
    assert.deepEqual(systemFiles.list(folder), before, `${calls[failing]} ${failing}`)
  }
})

test('a damaged input is named, on a thread too, and an aborted merge leaves nothing', async (t) => {
  const folder = temporaryFolder(t)
  const store = openPartStore(systemFiles, folder, CACHE)
  const content = { runs: [[1, steady(200_000, 0, 1_000_000)] as const], tombstones: [] }
  const inputs = [
    await writePart(store, '1.part', content, [1, 1]),
    await writePart(store, '2.part', content, [2, 2]),
  ]
  const order = orderOf(folder, inputs)
  const thread = startMerger()
  const stop = new AbortController()
  const merging = thread.merge(order, stop.signal)
  stop.abort(new Error('enough'))
  await assert.rejects(merging, { message: 'enough' })
  assert.deepEqual(systemFiles.list(folder), ['1.part', '2.part'])
  const bytes = readFile(systemFiles, `${folder}/2.part`)
  const at = bytes.length >> 1
  const file = systemFiles.edit(`${folder}/2.part`)
  file.writeNow(Uint8Array.of(bytes[at]! ^ 16), at)
  file.close()
  for (const merger of [thread, inlineMerger(systemFiles)]) {
    await assert.rejects(
      merger.merge(order, never),
      (error) => error instanceof Damage && 'part' in error && error.part === '2.part',
    )
    assert.deepEqual(systemFiles.list(folder), ['1.part', '2.part'])
    await merger.close()
  }
  assert.ok(readRun(store.open(inputs[0]!), 1) !== null)
})
