import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { TurnBudget } from '../../scheduling/turn-budget.ts'
import { makeColumns } from '../../series/columns.ts'
import type { FileHandle, Files } from '../files/files.ts'
import { systemFiles } from '../files/system-files.ts'
import type { FileStore } from './file-store.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()

/** Files whose parts are synced when the test says so. */
function filesWaitingFor(released: Promise<void>): Files {
  const waiting = (file: FileHandle) =>
    new Proxy(file, {
      get(target, key) {
        const value = Reflect.get(target, key, target)
        if (key === 'sync') return () => released.then(() => target.sync())
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  return {
    ...systemFiles,
    create: (path) => (path.endsWith('.part') ? waiting(systemFiles.create(path)) : systemFiles.create(path)),
  }
}

let written = 0
async function write(store: FileStore, count: number): Promise<void> {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) points.times[i] = ++written
  await store.write(writeBatch([{ tag: 'A', points }], true), signal)
}

test('points that come while a flush takes longer than the wait for the next are not flushed before the wait is over', async (t) => {
  const folder = temporaryFolder(t)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const store = await openFileStore(folder, {
    historian: 'plant',
    owner: true,
    files: filesWaitingFor(released),
    limits: {
      flush: { points: 100, records: 1e9, ageMs: 1e9, rest: { points: 10, afterMs: 1_000 } },
      reserveBytes: 0,
    },
  })
  t.after(() => store.close())
  const parts = () => readdirSync(join(folder, 'parts'))
  const isNamed = (part: string) =>
    existsSync(join(folder, 'manifest')) &&
    readdirSync(join(folder, 'manifest')).some((name) =>
      readFileSync(join(folder, 'manifest', name), 'latin1').includes(part),
    )
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const named = async (count: number) => {
    while (parts().length < count || !parts().every(isNamed)) await turn()
  }
  t.mock.timers.enable({ apis: ['setTimeout'] })
  await write(store, 100)
  for (let i = 0; i < 4; i++) {
    t.mock.timers.tick(900)
    await write(store, 10)
  }
  release()
  await named(1)
  for (let i = 0; i < 20; i++) await turn()
  assert.equal(parts().length, 1)
  t.mock.timers.tick(1_000)
  await named(2)
})

test('a flush of tags with a thousand points may let others in after each of them', async (t) => {
  const store = await openFileStore(temporaryFolder(t), { historian: 'plant', owner: true })
  t.after(() => store.close())
  const points = makeColumns(1_024)
  for (let i = 0; i < 1_024; i++) points.times[i] = i
  const tags = Array.from({ length: 50 }, (_, tag) => ({ tag: String(tag), points }))
  await store.write(writeBatch(tags, true), signal)
  // A clock on which every step takes long.
  let now = performance.now()
  t.mock.method(performance, 'now', () => (now += 2))
  const rests = t.mock.method(TurnBudget.shared, 'next')
  await store.fold()
  assert.ok(rests.mock.callCount() >= 49, `${rests.mock.callCount()} rests`)
})
