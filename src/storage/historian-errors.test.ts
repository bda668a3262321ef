import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../test/durability/folder.ts'
import { writeBatch } from '../historian/write-batch.ts'
import { makeColumns } from '../series/columns.ts'
import { openHistorianStore } from './open-historian.ts'

test('a tag that is named as lmdb names its errors is missing like any other', async (t) => {
  const { signal } = new AbortController()
  const store = await openHistorianStore(temporaryFolder(t), { historian: 'plant', owner: true })
  t.after(() => store.close())
  for (const tag of ['MDB_CORRUPTED', 'MDB_PANIC']) {
    const missing = { code: 'TAG_NOT_FOUND', message: `Tag plant/${tag} does not exist` }
    const points = makeColumns(1)
    await assert.rejects(store.write(writeBatch([{ tag, points }], false), signal), missing)
    await assert.rejects(store.deleteTags([tag], false, signal), missing)
    await assert.rejects(store.renameTags([{ from: tag, to: 'b' }], false, signal), missing)
  }
})
