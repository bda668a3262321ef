import assert from 'node:assert/strict'
import { cpSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import type { FileStore } from './file-store.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()
const open = (folder: string) => openFileStore(folder, { historian: 'plant', owner: true })
const write = (store: FileStore, tag: string) =>
  store.write(writeBatch([{ tag, points: makeColumns(1) }], true), signal)

/** All files of a folder and what they contain. */
function contentsOf(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  return Object.fromEntries(
    names.map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      return [path.slice(folder.length), readFileSync(path, 'latin1')]
    }),
  )
}

/** A historian that is served from a folder with a tag a, while a copy of that state is put in its place. */
async function swapped(t: TestContext, later: readonly string[]) {
  const base = temporaryFolder(t)
  const [folder, copy, away] = [join(base, 'plant'), join(base, 'copy'), join(base, 'away')]
  const store = await open(folder)
  await write(store, 'a')
  cpSync(folder, copy, { recursive: true, preserveTimestamps: true })
  for (const tag of later) await write(store, tag)
  renameSync(folder, away)
  renameSync(copy, folder)
  return { folder, away, store }
}

const REPLACED = /its folder is not there any more, or another one is in its place/

test('an owner whose folder was moved away, with an earlier state of it in its place, acknowledges nothing more', async (t) => {
  const { folder, away, store } = await swapped(t, ['b'])
  const before = contentsOf(folder)
  await assert.rejects(write(store, 'void'), { code: 'WRITE_OUTCOME_UNKNOWN', message: REPLACED })
  await assert.rejects(write(store, 'c'), { code: 'WRITE_FAILED', message: REPLACED })
  await assert.rejects(store.deleteTags(['a'], false, signal), { code: 'WRITE_FAILED', message: REPLACED })
  await assert.rejects(store.flush(), { code: 'WRITE_FAILED', message: REPLACED })
  await assert.rejects(store.checkHealth(signal), { code: 'WRITE_FAILED', message: REPLACED })
  const names = (await store.findTags(['a', 'b', 'void', 'c'], signal)).map((tag) => tag?.name ?? null)
  assert.deepEqual(names, ['a', 'b', null, null])
  await store.close()
  assert.deepEqual(contentsOf(folder), before)
  rmSync(folder, { recursive: true })
  renameSync(away, folder)
  const again = await open(folder)
  t.after(() => again.close())
  assert.equal((await again.findTags(['a', 'b'], signal)).filter((tag) => tag !== null).length, 2)
  assert.deepEqual((await again.check(signal)).problems, [])
})

test('an owner whose folder was replaced says so before anybody writes', async (t) => {
  const { store } = await swapped(t, [])
  await assert.rejects(store.checkHealth(signal), { code: 'WRITE_FAILED', message: REPLACED })
  await store.close()
})
