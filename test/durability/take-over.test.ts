import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import { openHistorianStore } from '../../src/storage/open-historian.ts'
import { temporaryFolder } from './folder.ts'

const { signal } = new AbortController()
const EVER = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER, order: 'asc', limit: 100 } as const
const hasCode = (code: string) => (error: unknown) => (error as { code?: unknown }).code === code

test('an owner that was taken over while it stood still writes nothing over what its successor acknowledged', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const folder = temporaryFolder(t)
  const open = () => openHistorianStore(folder, { historian: 'plant', owner: true })
  const store = await open()
  const writeTo = (target: typeof store, time: number) => {
    const points = makeColumns(1)
    points.times[0] = time
    return target.write(writeBatch([{ tag: 'a', points }], true), signal)
  }
  await writeTo(store, 1)
  await store.checkHealth(signal)
  const command = [join(import.meta.dirname, 'take-over.ts'), folder]
  assert.match(spawnSync(process.execPath, command, { encoding: 'utf8' }).stdout, /written/)

  await assert.rejects(writeTo(store, 3), hasCode('WRITE_FAILED'))
  await assert.rejects(
    store.deletePoints([{ tag: 'a', from: 0, to: 9 }], false, signal),
    hasCode('WRITE_FAILED'),
  )
  await assert.rejects(store.fold(), hasCode('WRITE_FAILED'))
  await assert.rejects(store.checkHealth(signal), hasCode('WRITE_FAILED'))
  await store.close()

  const successor = await open()
  t.after(() => successor.close())
  const times = async () => [
    ...(await successor.readRanges([{ tag: 'a', ...EVER }], signal))[0]!.points.times,
  ]
  assert.deepEqual(await times(), [1, 2])
  await writeTo(successor, 3)
  assert.deepEqual(await times(), [1, 2, 3])
})
