import assert from 'node:assert/strict'
import { readdirSync, readFileSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { until } from '../../../test/until.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { badSector, FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { readFooter } from '../parts/footer.ts'
import type { FileStore } from './file-store.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()

test('a part that the disk does not give is set aside: the others are merged, and it is when it can be read', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const told: string[] = []
  const store = await openFileStore(folder, {
    historian: 'plant',
    owner: true,
    files,
    limits: {
      flush: { points: 1e9, records: 1e9, ageMs: 1e9 },
      merge: { partitionBytes: 1e9, fanIn: 3, largestBytes: 1e9 },
      idleMergeAfterMs: 1e9,
      unlinkSoonestMs: 0,
      mergeAsideMs: 200,
      reserveBytes: 0,
    },
    log: { info: (_fields, message) => told.push(message), error: (_fields, message) => told.push(message) },
  })
  t.after(() => store.close())
  const parts = () => readdirSync(join(folder, 'parts'))
  let written = 0
  const flushOne = async () => {
    const points = makeColumns(1_000)
    for (let i = 0; i < 1_000; i++) points.times[i] = written * 1_000 + i
    written++
    await store.write(writeBatch([{ tag: 'a', points }], true), signal)
    await store.flush()
  }
  await flushOne()
  const [bad] = parts()
  files.plan = (call, path) =>
    (call === 'read' || call === 'open') && path.endsWith(bad!) ? { code: 'EIO' } : null
  for (let i = 0; i < 2; i++) await flushOne()
  const sentence =
    /^1 part with points from 1970-01-01T00:00:00\.000Z to 1970-01-01T00:00:00\.000999Z cannot be merged: \d+ tries have failed, and others follow seldom$/
  await until(() => sentence.test(store.trouble ?? ''), 'it is set aside')
  assert.equal(told.filter((message) => sentence.test(message)).length, 1)
  await flushOne()
  await until(() => parts().length === 2, 'the three others are merged')
  assert.ok(parts().includes(bad!))
  files.plan = () => null
  const merged = async () => {
    await flushOne()
    return !parts().includes(bad!)
  }
  await until(merged, 'it is merged at last')
  await until(() => store.trouble === null, 'it is over')
  assert.deepEqual(await store.countPoints([{ tag: 'a', from: 0, to: 1e9 }], 1e9, signal), [written * 1_000])
  assert.deepEqual((await store.check(signal)).problems, [])
})

test('a part whose file somebody removes beside its owner is set aside at once, and told: the others are merged', async (t) => {
  for (const files of [new FailingFiles(systemFiles), null]) {
    const folder = temporaryFolder(t)
    const store = await openFileStore(folder, {
      historian: 'plant',
      owner: true,
      limits: { ...limits(3), mergeAsideMs: 200 },
      ...(files === null ? {} : { files }),
    })
    t.after(() => store.close())
    const parts = () => readdirSync(join(folder, 'parts'))
    let written = 0
    const flushOne = async () => {
      await store.write(writeBatch([{ tag: 'a', points: pointsFrom(1_000 * written++) }], true), signal)
      await store.flush()
    }
    for (let i = 0; i < 2; i++) await flushOne()
    const [bad] = parts().sort()
    const path = join(folder, 'parts', bad!)
    renameSync(path, join(folder, bad!))
    await flushOne()
    const sentence =
      '1 part with points from 1970-01-01T00:00:00.000Z to 1970-01-01T00:00:00.000999Z cannot be merged: ' +
      `the file ${bad} is missing, and tries follow seldom`
    await until(() => store.trouble === sentence, 'it is set aside')
    await flushOne()
    await until(() => parts().length === 1, 'the three others are merged')
    // It is open still.
    assert.equal(await count(store, 'a', 0, 1e9), 1_000 * written)
    renameSync(join(folder, bad!), path)
    const merged = async () => {
      await flushOne()
      return !parts().includes(bad!)
    }
    await until(merged, 'it is merged when it is back')
    await until(() => store.trouble === null, 'it is over')
    assert.equal(await count(store, 'a', 0, 1e9), 1_000 * written)
  }
})

test('what was deleted stays so where the file that says it is damaged, others are merged, and it is put back', async (t) => {
  const folder = temporaryFolder(t)
  const open = (idleMergeAfterMs: number) =>
    openFileStore(folder, {
      historian: 'plant',
      owner: true,
      limits: {
        flush: { points: 1e9, records: 1e9, ageMs: 1e9 },
        idleMergeAfterMs,
        unlinkSoonestMs: 0,
        reserveBytes: 0,
      },
    })
  const parts = () => readdirSync(join(folder, 'parts')).sort()
  const month = 2_700_000_000_000
  let store = await open(1e9)
  t.after(() => store.close())
  const put = async (tag: string, at: number) => {
    const points = makeColumns(50)
    for (let i = 0; i < 50; i++) points.times[i] = at + i
    await store.write(writeBatch([{ tag, points }], true), signal)
  }
  await put('deleted', 0)
  await store.flush()
  await put('other', month)
  await store.deletePoints([{ tag: 'deleted', from: 0, to: month }], false, signal)
  await store.flush()
  const path = join(folder, 'parts', parts()[1]!)
  await put('later', 0)
  await store.flush()
  await store.close()
  const whole = readFileSync(path)
  const damaged = Buffer.from(whole)
  damaged[damaged.length - 12]! ^= 1
  writeFileSync(path, damaged)
  store = await open(1)
  for (let i = 1; i <= 2; i++) {
    await put('later', i * 20)
    await store.flush()
  }
  await until(() => parts().length <= 3, 'what is newer than it is merged')
  await store.close()
  writeFileSync(path, whole)
  store = await open(1)
  const counts = () =>
    store.countPoints(
      ['deleted', 'other', 'later'].map((tag) => ({ tag, from: 0, to: 2 * month })),
      1e9,
      signal,
    )
  assert.deepEqual(await counts(), [0, 50, 90])
  await put('later', 60)
  await store.flush()
  assert.deepEqual(await counts(), [0, 50, 110])
  assert.deepEqual((await store.check(signal)).problems, [])
})

/** How the parts of the tests below are made: each flush one, and no merges but with another `fanIn`. */
const limits = (fanIn: number) => ({
  flush: { points: 1e9, records: 1e9, ageMs: 1e9 },
  merge: { partitionBytes: 1e9, fanIn, largestBytes: 1e9 },
  idleMergeAfterMs: 1e9,
  unlinkSoonestMs: 0,
  reserveBytes: 0,
})

const pointsFrom = (from: number) => {
  const points = makeColumns(1_000)
  for (let i = 0; i < 1_000; i++) points.times[i] = from + i
  return points
}

for (const where of ['its footer', 'its sets of tags']) {
  test(`a part answers, from the start on, where the disk gives an error (EIO) for ${where}`, async (t) => {
    const folder = temporaryFolder(t)
    const options = { historian: 'plant', owner: true, limits: limits(100) }
    const before = await openFileStore(folder, options)
    for (const from of [0, 1_000]) {
      await before.write(writeBatch([{ tag: 'a', points: pointsFrom(from) }], true), signal)
      await before.flush()
    }
    await before.close()
    const [name] = readdirSync(join(folder, 'parts'))
    const { bytes, sections } = footerOf(join(folder, 'parts', name!))
    const from = where === 'its footer' ? bytes - 100 : sections.smallTags.at
    // What is read last of a file is 4 kB, with the sets of tags of a small one.
    const files = new FailingFiles(
      systemFiles,
      badSector(name!, from, where === 'its footer' ? bytes : from + 8),
    )
    const store = await openFileStore(folder, { ...options, files })
    t.after(() => store.close())
    assert.equal(store.trouble, `part ${name} is damaged: the disk reports an error (EIO)`)
    assert.deepEqual(await store.countPoints([{ tag: 'a', from: 0, to: 2_000 }], 1e9, signal), [2_000])
    await store.write(writeBatch([{ tag: 'a', points: pointsFrom(2_000) }], true), signal)
    const { problems } = await store.check(signal)
    assert.deepEqual(problems, [`part ${name}: the disk reports an error (EIO)`])
  })
}

test('while the disk does not give what a part removes from others nothing is merged across it, and nothing is back after it', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const options = { historian: 'plant', owner: true, limits: limits(100), files }
  const parts = () => readdirSync(join(folder, 'parts'))
  let store = await openFileStore(folder, options)
  const write = async (tag: string, from: number) => {
    await store.write(writeBatch([{ tag, points: pointsFrom(from) }], true), signal)
    await store.flush()
  }
  await write('a', 0)
  await store.deletePoints([{ tag: 'a', from: 0, to: 500 }], false, signal)
  await write('b', 1e6)
  const [, removing] = parts()
  await write('a', 2_000)
  await store.close()
  files.plan = badSector(removing!, 0)
  store = await openFileStore(folder, { ...options, limits: limits(2) })
  await write('a', 4_000)
  await until(() => parts().length === 3, 'what is newer than it is merged')
  await store.close()
  files.plan = () => null
  store = await openFileStore(folder, options)
  t.after(() => store.close())
  assert.deepEqual(await store.countPoints([{ tag: 'a', from: 0, to: 1e9 }], 1e9, signal), [2_500])
})

/** Parts with points of `old` at 0, of `new` at 1e6, and of both at 2e6; changes the one in the middle. */
async function threeParts(
  t: TestContext,
  damage: (whole: Buffer) => Buffer,
  between: (store: FileStore) => Promise<unknown> = async () => {},
) {
  const folder = temporaryFolder(t)
  const options = { historian: 'plant', owner: true, limits: limits(100) }
  const store = await openFileStore(folder, options)
  const put = async (from: number, ...tags: readonly string[]) => {
    const entries = tags.map((tag) => ({ tag, points: pointsFrom(from) }))
    await store.write(writeBatch(entries, true), signal)
  }
  await put(0, 'old')
  await store.flush()
  await between(store)
  await put(1e6, 'new')
  await store.flush()
  const path = join(folder, 'parts', readdirSync(join(folder, 'parts')).sort()[1]!)
  await put(2e6, 'old', 'new')
  await store.flush()
  await store.close()
  writeFileSync(path, damage(readFileSync(path)))
  return { open: (owner: boolean) => openFileStore(folder, { ...options, owner }), path }
}

const count = async (store: FileStore, tag: string, from: number, to: number) =>
  (await store.countPoints([{ tag, from, to }], 1e9, signal))[0]

test('where nothing is left of a part its times alone cannot be read, by an owner and by who reads beside it', async (t) => {
  const { open } = await threeParts(t, (whole) => whole.subarray(0, 100))
  const owner = await open(true)
  t.after(() => owner.close())
  const reader = await open(false)
  t.after(() => reader.close())
  for (const store of [owner, reader]) {
    assert.match(store.trouble!, /is damaged: .* no valid footer/)
    // Nobody knows which tags it had.
    for (const tag of ['old', 'new']) {
      const all = { tag, from: 0, to: 3e6, order: 'asc', limit: 1e4 } as const
      await assert.rejects(store.readRanges([all], signal), { code: 'STORAGE_CORRUPT' })
      const [range] = await store.readRanges([{ ...all, partial: true }], signal)
      assert.deepEqual(range!.missing, [{ from: 1e6, to: 1e6 + 1_000 }])
      assert.equal(range!.points.times.length, tag === 'old' ? 2_000 : 1_000)
      assert.equal(await count(store, tag, 2e6, 3e6), 1_000)
      const { times } = await store.readPoints([{ tag, find: 'before', at: 1e9 }], signal)
      assert.deepEqual([...times], [2e6 + 999])
      const early = await store.readPoints([{ tag: 'old', find: 'before', at: 500 }], signal)
      assert.deepEqual([...early.times], [499])
      const first = store.readPoints([{ tag, find: 'after', at: -1 }], signal)
      if (tag === 'old') assert.deepEqual([...(await first).times], [0])
      else await assert.rejects(async () => first, { code: 'STORAGE_CORRUPT' })
    }
  }
  await owner.deletePoints([{ tag: 'old', from: 0, to: 500 }], false, signal)
  await assert.rejects(owner.deletePoints([{ tag: 'old', from: 0, to: 2e6 }], false, signal), {
    code: 'STORAGE_CORRUPT',
  })
  await owner.flush()
  assert.equal(await count(owner, 'old', 0, 1e6), 500)
})

test('where what a part takes away is lost older points alone cannot be read', async (t) => {
  const { open } = await threeParts(
    t,
    (whole) => {
      const { at } = JSON.parse(/\{"name".*\}\}/.exec(whole.toString('latin1'))![0]).sections.tombstones
      whole[at + 20]! ^= 1
      return whole
    },
    (store) => store.deletePoints([{ tag: 'old', from: 0, to: 500 }], false, signal),
  )
  const store = await open(true)
  t.after(() => store.close())
  assert.equal(await count(store, 'new', 0, 3e6), 2_000)
  assert.equal(await count(store, 'old', 1_000, 3e6), 1_000)
  const all = { tag: 'old', from: 0, to: 3e6, order: 'asc', limit: 1e4 } as const
  await assert.rejects(store.readRanges([all], signal), { code: 'STORAGE_CORRUPT' })
  const [range] = await store.readRanges([{ ...all, partial: true }], signal)
  assert.deepEqual([range!.points.times.length, range!.missing], [1_000, [{ from: 0, to: 1_000 }]])
})

test('a point before what is damaged is found where the newest one may be in it', async (t) => {
  const { open, path } = await threeParts(t, (whole) => whole)
  const store = await open(true)
  await store.write(writeBatch([{ tag: 'old', points: pointsFrom(3e6) }], true), signal)
  await store.flush()
  await store.close()
  const last = readdirSync(dirname(path)).sort().at(-1)!
  truncateSync(join(dirname(path), last), 100)
  for (const owner of [true, false]) {
    const opened = await open(owner)
    const { times } = await opened.readPoints([{ tag: 'old', find: 'before', at: 500 }], signal)
    assert.deepEqual([...times], [499])
    await assert.rejects(async () => opened.readPoints([{ tag: 'old', find: 'before', at: 1e9 }], signal), {
      code: 'STORAGE_CORRUPT',
    })
    await opened.close()
  }
})

test('a part that cannot be opened at all (EIO, then EMFILE) does not keep the others from being recovered', async (t) => {
  const { folder, name } = await partWithBadEnds(t)
  for (const codes of [['EIO'], ['EIO', 'EMFILE']]) {
    let opened = 0
    const files = new FailingFiles(systemFiles, (call, path) =>
      call === 'open' && path.endsWith(name) ? { code: codes[Math.min(opened++, codes.length - 1)]! } : null,
    )
    const store = await openFileStore(folder, { historian: 'plant', owner: true, limits: limits(100), files })
    assert.ok(opened >= 2)
    assert.match(store.trouble!, /\(EIO\)/)
    assert.equal(await count(store, 'a', 1_000, 2_000), 1_000)
    await store.close()
  }
})

/** Two parts, of which the second has no footer. */
async function partWithBadEnds(t: TestContext) {
  const folder = temporaryFolder(t)
  const store = await openFileStore(folder, { historian: 'plant', owner: true, limits: limits(100) })
  for (const from of [0, 1_000]) {
    await store.write(writeBatch([{ tag: 'a', points: pointsFrom(from) }], true), signal)
    await store.flush()
  }
  await store.close()
  const [name, other] = readdirSync(join(folder, 'parts')).sort()
  const path = join(folder, 'parts', other!)
  truncateSync(path, statSync(path).size - 1)
  return { folder, name: name! }
}

test('a damaged table of pages costs the first read that needs it', async (t) => {
  const { open } = await threeParts(t, (whole) => {
    const { at } = JSON.parse(/\{"name".*\}\}/.exec(whole.toString('latin1'))![0]).sections.table
    whole[at + 20]! ^= 1
    return whole
  })
  for (const owner of [true, false]) {
    const store = await open(owner)
    assert.equal(await count(store, 'old', 0, 3e6), 2_000)
    assert.equal(store.trouble, null)
    const all = { tag: 'new', from: 0, to: 3e6, order: 'asc', limit: 1e4 } as const
    await assert.rejects(store.readRanges([all], signal), { code: 'STORAGE_CORRUPT' })
    await until(() => store.trouble !== null, 'it is noticed')
    assert.equal(await count(store, 'new', 0, 3e6), 2_000)
    await store.close()
  }
})

function footerOf(path: string) {
  const file = systemFiles.open(path)
  try {
    return { bytes: file.size(), ...readFooter(file) }
  } finally {
    file.close()
  }
}
