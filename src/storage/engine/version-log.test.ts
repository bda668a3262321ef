import assert from 'node:assert/strict'
import { readdirSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { keep, TestClock } from '../../../test/property/retention-model.ts'
import { until } from '../../../test/until.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { FailingFiles, type FaultPlan } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()

function bench(t: TestContext) {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const open = (fanIn: number) =>
    openFileStore(folder, {
      historian: 'plant',
      owner: true,
      files,
      limits: {
        flush: { points: 1e9, records: 1e9, ageMs: 1e9 },
        merge: { partitionBytes: 1e9, fanIn, largestBytes: 1e9 },
        idleMergeAfterMs: 1e9,
        unlinkSoonestMs: 0,
        reserveBytes: 0,
      },
    })
  const names = (below: string) => readdirSync(join(folder, below)).sort()
  /** Parts that are new from now on cannot be read. */
  const failNew = (failed: string, code: string) => {
    const known = names('parts')
    let tries = 0
    const plan: FaultPlan = (call, path) => {
      if (call !== failed || !path.endsWith('.part') || known.some((name) => path.endsWith(name))) return null
      tries++
      return { code }
    }
    files.plan = plan
    return () => tries
  }
  return { open, names, failNew, files }
}

type Store = Awaited<ReturnType<typeof openFileStore>>

async function put(store: Store, from: number): Promise<void> {
  const points = makeColumns(1_000)
  for (let i = 0; i < 1_000; i++) points.times[i] = from + i
  await store.write(writeBatch([{ tag: 'a', points }], true), signal)
}

const count = async (store: Store) =>
  (await store.countPoints([{ tag: 'a', from: 0, to: 1e9 }], 1e9, signal))[0]

const countIn = async (store: Store, tag: string) =>
  (await store.countPoints([{ tag, from: 0, to: 1e18 }], 1e9, signal))[0]

/** The call that fails of a new file, and with what. */
const FAULTS = [
  ['open', 'EMFILE'],
  ['read', 'EIO'],
] as const

test('a flush whose new file cannot be opened is made once it can be, and nothing is written twice', async (t) => {
  for (const [failed, code] of FAULTS) {
    const { open, names, failNew, files } = bench(t)
    let store = await open(1e6)
    await put(store, 0)
    await store.close()
    store = await open(1e6)
    t.after(() => store.close())
    await put(store, 1_000)
    const before = names('wal').filter((name) => /^00000001-.*\.wal$/.test(name))
    assert.equal(before.length, 1)
    failNew(failed, code)
    for (let tries = 0; tries < 3; tries++) {
      await assert.rejects(store.flush(), { code: 'WRITE_FAILED' })
      assert.equal(names('parts').length, 1)
      assert.equal(names('catalog').length, 1)
      assert.equal(await count(store), 2_000)
    }
    files.plan = () => null
    const [part] = names('parts')
    await store.flush()
    assert.deepEqual(names('parts'), [part])
    assert.equal(store.measure().journalPoints, 0)
    assert.equal(await count(store), 2_000)
    await until(() => !names('wal').includes(before[0]!), 'the log of the owner before goes')
    assert.deepEqual((await store.check(signal)).problems, [])
  }
})

test('a manifest in whose place another one is goes when no reader needs it any more', async (t) => {
  const { open, names, files } = bench(t)
  const store = await open(1e6)
  t.after(() => store.close())
  await put(store, 0)
  const [first] = names('manifest')
  files.plan = (call, path) => (call === 'write' && path.includes('manifest-') ? { code: 'EIO' } : null)
  await assert.rejects(store.flush(), { code: 'WRITE_FAILED' })
  files.plan = () => null
  store.readerAt(7, 0)
  await store.flush()
  await wait(50)
  assert.equal(names('manifest').length, 2)
  assert.equal(names('manifest')[0], first)
  store.readerAt(7, null)
  await until(() => names('manifest').length === 1, 'it goes')
  assert.notEqual(names('manifest')[0], first)
  assert.equal(await count(store), 1_000)
  assert.deepEqual((await store.check(signal)).problems, [])
})

test('a merge whose new file cannot be opened counts once it can be, and nothing is written twice', async (t) => {
  for (const [failed, code] of FAULTS) {
    const { open, names, failNew, files } = bench(t)
    let store = await open(1e6)
    for (let i = 0; i < 4; i++) {
      await put(store, 1_000 * i)
      await store.flush()
    }
    await store.close()
    const inputs = names('parts')
    const tries = failNew(failed, code)
    store = await open(4)
    t.after(() => store.close())
    await until(() => tries() >= 2, 'it is tried again')
    assert.match(store.trouble ?? '', /^parts cannot be merged: /)
    assert.equal(names('parts').length, inputs.length + 1)
    assert.equal(await count(store), 4_000)
    files.plan = () => null
    await until(() => names('parts').length === 1, 'the merge counts')
    await until(() => store.trouble === null, 'it is over')
    assert.equal(await count(store), 4_000)
    assert.deepEqual((await store.check(signal)).problems, [])
  }
})

/** What becomes of a file that was just written, before it is opened. */
const LOSSES = [rmSync, (path: string) => truncateSync(path, 100)] as const

test('what was flushed or merged into a file that is gone, or damaged, before it counts is written anew', async (t) => {
  for (const lose of LOSSES) {
    const { open, names, files } = bench(t)
    /** Has the next new part be lost. */
    const loseNew = () => {
      const known = names('parts')
      let isLost = false
      files.plan = (call, path) => {
        if (
          call === 'open' &&
          path.endsWith('.part') &&
          !isLost &&
          !known.some((name) => path.endsWith(name))
        ) {
          isLost = true
          lose(path)
        }
        return null
      }
      return () => isLost
    }
    let store = await open(1e6)
    await put(store, 0)
    const wasFlushLost = loseNew()
    await assert.rejects(store.flush())
    assert.ok(wasFlushLost())
    await store.flush()
    assert.equal(store.measure().journalPoints, 0)
    assert.equal(await count(store), 1_000)
    for (let i = 1; i < 4; i++) {
      await put(store, 1_000 * i)
      await store.flush()
    }
    await store.close()
    const wasMergeLost = loseNew()
    store = await open(4)
    t.after(() => store.close())
    await until(() => wasMergeLost() && store.trouble === null, 'the merge counts')
    await until(() => names('parts').length <= 2, 'its inputs go')
    assert.equal(await count(store), 4_000)
    assert.deepEqual((await store.check(signal)).problems, [])
  }
})

/** Has each part that is new from now on be damaged as it is opened; gives how many were. */
function damageNew(files: FailingFiles, known: readonly string[]): () => number {
  const damaged = new Set<string>()
  files.plan = (call, path) => {
    const isNew = call === 'open' && path.endsWith('.part') && !known.some((name) => path.endsWith(name))
    if (isNew && !damaged.has(path)) {
      damaged.add(path)
      truncateSync(path, 100)
    }
    return null
  }
  return () => damaged.size
}

test('a file of a flush or merge that was lost before it counted is removed, however often it is tried', async (t) => {
  const { open, names, files } = bench(t)
  let store = await open(1e6)
  await put(store, 0)
  damageNew(files, [])
  for (let tries = 0; tries < 3; tries++) {
    await assert.rejects(store.flush(), { code: 'STORAGE_CORRUPT' })
    await until(() => names('parts').length === 0, 'it goes')
  }
  files.plan = () => null
  for (let i = 1; i < 5; i++) {
    await store.flush()
    await put(store, 1_000 * i)
  }
  await store.close()
  const inputs = names('parts')
  const merged = damageNew(files, inputs)
  store = await open(4)
  t.after(() => store.close())
  await until(() => merged() >= 2, 'the merge is tried again')
  await until(() => names('parts').length === inputs.length, 'what is lost goes')
  files.plan = () => null
  await until(() => names('parts').length === 1, 'the merge counts')
  assert.equal(await count(store), 5_000)
  assert.deepEqual((await store.check(signal)).problems, [])
})

test('a file that was lost stays as long as an edit that failed may name it', async (t) => {
  const { open, names, files } = bench(t)
  const store = await open(1e6)
  t.after(() => store.close())
  await put(store, 0)
  files.plan = (call, path) => (call === 'sync' && path.includes('manifest-') ? { code: 'EIO' } : null)
  await assert.rejects(store.flush(), { code: 'WRITE_FAILED' })
  const [first] = names('parts')
  damageNew(files, [])
  await assert.rejects(store.flush(), { code: 'STORAGE_CORRUPT' })
  // The next one is written, and no edit has named it.
  await assert.rejects(store.flush(), { code: 'STORAGE_CORRUPT' })
  await until(() => names('parts').length === 1, 'the second one goes')
  await wait(50)
  assert.deepEqual(names('parts'), [first])
  files.plan = () => null
  await store.flush()
  await until(() => names('parts').length === 1, 'the first one goes')
  assert.notDeepEqual(names('parts'), [first])
  assert.equal(await count(store), 1_000)
  assert.deepEqual((await store.check(signal)).problems, [])
})

test('another process is never on a version before the owner is, whatever is committed meanwhile', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const clock = new TestClock(1.7e15)
  const limits = { retentionEveryMs: 1e9, idleMergeAfterMs: 1e9, reserveBytes: 0 }
  const retention = { rules: [keep('a', 60)], time: clock }
  const owner = await openFileStore(folder, { historian: 'plant', owner: true, files, limits, retention })
  t.after(() => owner.close())
  await owner.retain()
  const points = makeColumns(3)
  points.times.set([-50, -40, -30].map((second) => clock.us + second * 1e6))
  const tags = Array.from({ length: 100 }, (_, i) => `tag${i}`)
  await owner.write(
    writeBatch(
      ['a', ...tags].map((tag) => ({ tag, points })),
      true,
    ),
    signal,
  )
  const reader = await openFileStore(folder, { historian: 'plant', owner: false })
  t.after(() => reader.close())

  // Changes that wait when the edit becomes durable: it counts behind them.
  const ahead: unknown[] = []
  const rename = async (tag: string) => {
    await owner.renameTags([{ from: tag, to: `new ${tag}` }], false, signal)
    const there = await countIn(reader, 'a')
    // It may have moved on in between, never back.
    const here = await countIn(owner, 'a')
    if (there! < here!) ahead.push({ there, here })
  }
  let renames: Promise<unknown> | null = null
  files.plan = (call, path) => {
    if (call === 'sync' && path.includes('manifest-')) renames ??= Promise.all(tags.map(rename))
    return null
  }
  clock.us += 1e9
  await owner.retain()
  files.plan = () => null
  assert.ok(renames !== null)
  await renames
  assert.deepEqual(ahead, [])
  assert.deepEqual([await countIn(owner, 'a'), await countIn(reader, 'a')], [1, 1])
})
