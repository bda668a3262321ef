import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { until, untilDone } from '../../../test/until.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { FailingFiles, type FaultPlan } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import type { EngineLimits } from './engine-limits.ts'
import type { FileStore } from './file-store.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()

/** What is flushed at a time, in bytes of changes of tags and removals. */
const CHANGE_BYTES = 100_000
const LIMITS: Partial<EngineLimits> = {
  flush: { points: 1_000, records: 10_000, ageMs: 1e9, changeBytes: CHANGE_BYTES },
  reserveBytes: 0,
}
/** A change that is refused alone may not come again and again until it fits. */
const MOST_CHANGES = 5_000

/** Parts and catalog cannot be written; the log can. */
const noFlush: FaultPlan = (call, path) =>
  call === 'create' && /\.(part|tags)$/.test(path) ? { code: 'EIO' } : null

const SENTENCE =
  /^Historian plant did not take its points: points cannot be moved from memory into parts \(the disk is full or reports an error\), and too many wait there$/

async function opened(t: TestContext, folder: string, files: FailingFiles, limits = LIMITS) {
  const store = await openFileStore(folder, { historian: 'plant', owner: true, files, limits })
  let isOpen = true
  const close = async () => {
    if (isOpen) await store.close()
    isOpen = false
  }
  t.after(close)
  return { store, close }
}

/** Makes a change again and again until it is refused; gives how often it was made. */
async function repeat(make: (time: number) => Promise<unknown>, what: string): Promise<number> {
  for (let time = 0; time < MOST_CHANGES; time++) {
    try {
      await make(time)
    } catch (error) {
      assert.ok(error instanceof TidemarkError && error.code === 'WRITE_FAILED', `${what}: ${String(error)}`)
      assert.match(error.message, SENTENCE, what)
      return time
    }
  }
  return assert.fail(`${what}: none of ${MOST_CHANGES} changes was refused`)
}

const put = (store: FileStore, name: string, description: string) =>
  store.putTags([{ name, description, units: null, stepped: false }], 'upsert', signal)

const writePoints = (store: FileStore, tag: string, from: number, count = 1) => {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) points.times[i] = from + i
  return store.write(writeBatch([{ tag, points }], true), signal)
}

const longText = (time: number) => String(time).padEnd(1_000, '.')

async function descriptionOf(store: FileStore, tag: string): Promise<string | null | undefined> {
  const [found] = await store.findTags([tag], signal)
  return found?.description
}

test('metadata that cannot be flushed are refused beyond a bound, over restarts, too, and go on when they can', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  let { store, close } = await opened(t, folder, files)
  await put(store, 'a', 'first')
  files.plan = noFlush
  let accepted = 0
  for (let start = 0; start < 4; start++) {
    const count = await repeat((time) => put(store, 'a', longText(accepted + time)), `start ${start}`)
    accepted += count
    // Four times what is flushed, with what is being flushed; no restart makes it more.
    assert.ok(start === 0 ? count > 100 : count <= 1, `start ${start}: ${count} changes`)
    assert.ok(accepted * 1_000 <= 5 * CHANGE_BYTES, `${accepted} changes`)
    // Again, and the same of new tags and other names.
    assert.equal(await repeat((time) => put(store, 'a', longText(time)), 'again'), 0)
    assert.equal(await repeat((time) => put(store, 'new', longText(time)), 'a new tag'), 0)
    assert.equal(await repeat(() => store.renameTags([{ from: 'a', to: 'b' }], false, signal), 'renaming'), 0)
    assert.equal(await repeat((time) => writePoints(store, 'new', time), 'points of a new tag'), 0)
    // What changes nothing is answered.
    await store.renameTags([{ from: 'a', to: 'b' }], true, signal)
    assert.deepEqual(await store.deleteTags(['a'], true, signal), [0])
    assert.equal(await descriptionOf(store, 'a'), longText(accepted - 1))
    assert.match(store.trouble ?? '', /^points cannot be moved from memory into parts: /)
    await close()
    ;({ store, close } = await opened(t, folder, files))
    await assert.rejects(store.flush(), { code: 'WRITE_FAILED' })
  }
  files.plan = () => null
  await store.flush()
  await put(store, 'a', 'last')
  await put(store, 'new', 'made')
  await store.renameTags([{ from: 'a', to: 'b' }], false, signal)
  assert.equal(store.trouble, null)
  await close()
  ;({ store, close } = await opened(t, folder, new FailingFiles(systemFiles)))
  assert.deepEqual(
    [await descriptionOf(store, 'a'), await descriptionOf(store, 'b'), await descriptionOf(store, 'new')],
    [undefined, 'last', 'made'],
  )
  assert.deepEqual((await store.check(signal)).problems, [])
})

test('removals that cannot be flushed go on beyond other changes, up to a bound of their own, and when they can', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  let { store, close } = await opened(t, folder, files)
  const tags = Array.from({ length: 1_000 }, (_, i) => `tag ${i}`)
  const points = makeColumns(1)
  const all = tags.map((tag) => ({ tag, points }))
  await store.write(writeBatch(all, true), signal)
  await store.flush()
  files.plan = noFlush
  await repeat((time) => writePoints(store, 'tag 0', 100 * time, 100), 'points')
  await repeat((time) => put(store, 'tag 0', longText(time)), 'metadata')
  const remove = (from: number) =>
    repeat((time) => store.deleteTags([tags[from + time]!], false, signal), 'tags')
  let removed = await remove(0)
  assert.ok(removed > 50 && removed < 500, `${removed} tags`)
  const range = { tag: tags[999]!, from: -1, to: 1 }
  assert.equal(await repeat(() => store.deletePoints([range], false, signal), 'removed points'), 0)
  assert.deepEqual(await store.deletePoints([range], true, signal), [1])
  for (let start = 0; start < 3; start++) {
    await close()
    ;({ store, close } = await opened(t, folder, files))
    await assert.rejects(store.flush(), { code: 'WRITE_FAILED' })
    // What was being flushed had hardly any of them: now there is one generation, which may have that much more.
    const more = await remove(removed)
    assert.ok(more <= (start === 0 ? CHANGE_BYTES / 200 : 1), `start ${start}: ${more} tags`)
    removed += more
  }
  files.plan = () => null
  await store.flush()
  assert.deepEqual(await store.deletePoints([{ ...range, tag: tags[998]! }], false, signal), [1])
  assert.equal(store.trouble, null)
  await close()
  ;({ store, close } = await opened(t, folder, new FailingFiles(systemFiles)))
  const found = await store.findTags(tags, signal)
  assert.ok(found.every((record, i) => (record === null) === i < removed))
  const ranges = ['tag 997', 'tag 998'].map((tag) => ({ ...range, tag }))
  assert.deepEqual(await store.countPoints(ranges, 10, signal), [1, 0])
  assert.deepEqual((await store.check(signal)).problems, [])
})

test('changes of tags and removals are flushed when they take much memory, before they are old', async (t) => {
  const folder = temporaryFolder(t)
  const { store } = await opened(t, folder, new FailingFiles(systemFiles))
  const catalogs = () => readdirSync(join(folder, 'catalog')).length
  const parts = () => readdirSync(join(folder, 'parts')).length
  for (let time = 0; time * 1_000 < CHANGE_BYTES / 2; time++) await put(store, 'a', longText(time))
  assert.equal(catalogs(), 0)
  for (let time = 0; time * 1_000 < CHANGE_BYTES / 2; time++) await put(store, 'a', longText(time))
  await until(() => catalogs() === 1, 'changes of tags are flushed')
  const tags = Array.from({ length: 5_000 }, (_, i) => `tag ${i}`)
  await store.write(
    writeBatch(
      tags.map((tag) => ({ tag, points: makeColumns(1) })),
      true,
    ),
    signal,
  )
  await store.flush()
  const before = parts()
  const ranges = tags.map((tag) => ({ tag, from: -1, to: 1 }))
  await store.deletePoints(ranges, false, signal)
  await until(() => parts() !== before, 'removals are flushed')
})

test('what is set aside for a full disk is for removals: other changes are refused there', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const limits = { ...LIMITS, reserveBytes: 1 << 16 }
  const first = await opened(t, folder, files, limits)
  await put(first.store, 'a', 'first')
  await writePoints(first.store, 'a', 1)
  const reserve = join(folder, 'wal', 'reserve')
  await until(() => systemFiles.exists(reserve) && statSync(reserve).size === 1 << 16, 'space is set aside')
  await first.close()
  const { store } = await opened(t, folder, files, limits)
  const full = { code: 'WRITE_FAILED', message: /: the disk is full$/ }
  const assertRefused = async () => {
    await assert.rejects(put(store, 'a', 'second'), full)
    await assert.rejects(put(store, 'new', 'second'), full)
    await assert.rejects(store.renameTags([{ from: 'a', to: 'b' }], false, signal), full)
  }
  files.plan = (call) => (call === 'write' && systemFiles.exists(reserve) ? { code: 'ENOSPC' } : null)
  await assertRefused()
  assert.ok(systemFiles.exists(reserve))
  assert.deepEqual(await store.deletePoints([{ tag: 'a', from: 0, to: 2 }], false, signal), [1])
  assert.ok(!systemFiles.exists(reserve))
  // The file layer would take them now: what was set aside would be used up.
  files.plan = (call, path) => (call === 'create' && path === reserve ? { code: 'ENOSPC' } : null)
  await assertRefused()
  files.plan = () => null
  await untilDone(
    () => put(store, 'a', 'second'),
    (error) => full.message.test(String(error)),
  )
  assert.equal(await descriptionOf(store, 'a'), 'second')
})
