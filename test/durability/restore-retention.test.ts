import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import { historianDirectory, openDataDirectory } from '../../src/storage/directory/data-directory.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { backupDataDirectory } from '../../src/storage/maintenance/backup.ts'
import { restoreDataDirectory } from '../../src/storage/maintenance/restore.ts'
import type { RetentionRule } from '../../src/storage/retention/rules.ts'
import { keep, TestClock } from '../property/retention-model.ts'
import { temporaryFolder } from './folder.ts'
import { readModel } from './restored.ts'

const { signal } = new AbortController()
const DAY_S = 86_400
const DAY_US = DAY_S * 1_000_000
const LONGER = [keep('A', 365 * DAY_S), keep('B', DAY_S)]
const NOW = 1_700_000_000_000_000

test('what was written after rules kept for longer is restored, although the rules of the backup kept it not', async (t) => {
  const { data, clock, openWith, backUp, restore, pointsIn } = await served(t)
  await openWith(data, [keep('B', DAY_S), keep('*', DAY_S)], async (store) => {
    for (const daysAgo of [0.8, 0.6, 0]) {
      assert.equal(await write(store, 'A', daysAgo), null)
      assert.equal(await write(store, 'B', daysAgo), null)
    }
    clock.us += DAY_US
    await store.retain()
    assert.equal((await write(store, 'A', 200))?.count, 1)
  })
  await backUp()

  await openWith(data, LONGER, async (store) => {
    assert.equal(await write(store, 'A', 200), null)
    assert.equal(await write(store, 'A', 100), null)
    assert.equal(await write(store, 'B', -0.5), null)
  })
  const written = await pointsIn(data)
  assert.deepEqual([...written.get('A')!.values()], [200, 100, 0])
  assert.deepEqual([...written.get('B')!.values()], [0, -0.5])

  const target = await restore()
  const restored = await pointsIn(target)
  for (const value of [200, 100, 0]) assert.ok([...restored.get('A')!.values()].includes(value), `${value}`)
  assert.deepEqual(
    restored.get('B'),
    written.get('B'),
    'what hides nothing that was replayed hides as before',
  )
  await openWith(target, LONGER, () => {})
  assert.deepEqual(await pointsIn(target), restored)
})

/** Rules for all tags, and others that have come before it for some of them. */
const ALL = [keep('*', DAY_S)]

test('what a rule hides of other tags stays so in a restore, where one of its tags was given a longer rule', async (t) => {
  const { data, clock, openWith, backUp, restore, pointsIn } = await served(t)
  await openWith(data, ALL, async (store) => {
    for (const daysAgo of [0.8, 0.6, 0.4, 0]) {
      for (const tag of ['A', 'B', 'C']) await write(store, tag, daysAgo)
    }
    clock.us += DAY_US
    await store.retain()
  })
  await backUp()
  // It has another name when the log ends.
  const rules = [keep('A', 365 * DAY_S), keep('renamed', 365 * DAY_S), ...ALL]
  await openWith(data, rules, async (store) => {
    assert.equal(await write(store, 'A', 200), null)
    await store.renameTags([{ from: 'A', to: 'renamed' }], false, signal)
    assert.equal(await write(store, 'renamed', 100), null)
  })
  const target = await restore()
  const [written, restored] = [await pointsIn(data), await pointsIn(target)]
  assert.deepEqual([...restored.get('renamed')!.values()], [200, 100, 0])
  for (const tag of ['B', 'C']) assert.deepEqual([...restored.get(tag)!.values()], [0], tag)
  assert.deepEqual(restored, written)
  await openWith(target, rules, () => {})
  assert.deepEqual(await pointsIn(target), written)
})

for (const [what, names] of [
  ['of more tags than there can be rules', Array.from({ length: 1_100 }, (_, i) => `T${i}`)],
  ['of a tag whose name is a pattern', ['T*']],
  ['of a tag that has a rule of its name after another one', ['t']],
] as const) {
  test(`what was acknowledged ${what} is restored, and is there under the rules that follow`, async (t) => {
    const { data, clock, openWith, backUp, restore, pointsIn } = await served(t)
    const before = [...ALL, keep('T', DAY_S)]
    await openWith(data, before, async (store) => {
      await writeAll(store, names, 0)
      clock.us += DAY_US
      await store.retain()
    })
    await backUp()
    const longer = [keep('T*', 365 * DAY_S), ...ALL]
    await openWith(data, longer, async (store) => {
      assert.equal(await writeAll(store, names, 100), null)
    })
    const target = await restore()
    await openWith(target, [keep('T', 365 * DAY_S), ...longer], () => {})
    const restored = await pointsIn(target)
    for (const name of names) assert.deepEqual([...restored.get(name)!.values()], [100, 0], name)
  })
}

/** A data directory with an archive, whose historian has rules by a clock of the test. */
async function served(t: TestContext) {
  const folder = temporaryFolder(t)
  const [data, archive, backup, target] = ['data', 'archive', 'backup', 'restored'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string]
  mkdirSync(archive)
  const directory = await openDataDirectory(data, { owner: true })
  t.after(() => directory.close())
  const clock = new TestClock(NOW)
  const openWith = async (
    root: string,
    rules: readonly RetentionRule[],
    use: (store: FileStore) => unknown,
  ) => {
    const store = await openFileStore(historianDirectory(root, 'local'), {
      historian: 'local',
      owner: true,
      retention: { rules, time: clock },
      archive: { folder: archive, everyMs: 1e9, keepBytes: 1 << 30 },
      limits: { reserveBytes: 0 },
    })
    try {
      await store.retain()
      await use(store)
    } finally {
      await store.close()
    }
  }
  return {
    data,
    clock,
    openWith,
    backUp: () => backupDataDirectory(data, backup, signal),
    restore: async () => {
      await restoreDataDirectory(backup, target, { to: null, only: null, archiveOf: () => archive }, signal)
      return target
    },
    pointsIn: (root: string) => readModel(historianDirectory(root, 'local')),
  }
}

/** Writes a point of some days before, or after, the moment at which the clock begins; its value says which. */
const write = (store: FileStore, tag: string, daysAgo: number) => writeAll(store, [tag], daysAgo)

/** The same for several tags. */
function writeAll(store: FileStore, tags: readonly string[], daysAgo: number) {
  const points = makeColumns(1)
  points.times[0] = NOW - daysAgo * DAY_US
  points.values[0] = daysAgo
  return store.write(
    writeBatch(
      tags.map((tag) => ({ tag, points })),
      true,
    ),
    signal,
  )
}
