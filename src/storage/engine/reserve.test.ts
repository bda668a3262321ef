import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { changedFiles } from '../files/changed-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { Reserve } from './reserve.ts'

const BYTES = 3 << 20

/** Files whose writes go on when they are told to. */
function heldFiles() {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
  const { promise: isWriting, resolve: begins } = Promise.withResolvers<void>()
  const files = changedFiles(systemFiles, (file) => ({
    async write(bytes, at) {
      begins()
      await held
      return file.write(bytes, at)
    },
  }))
  return { files, letGo, isWriting }
}

test('a reserve that is being set aside when its owner closes is gone before, and is not that of the next one', async (t) => {
  const folder = temporaryFolder(t)
  const { files, letGo, isWriting } = heldFiles()
  const reserve = new Reserve(files, folder, BYTES)
  const taking = reserve.take()
  await isWriting
  let isClosed = false
  const closing = reserve.close().then(() => {
    isClosed = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isClosed, false)
  letGo()
  await closing
  assert.equal(reserve.bytesThere, 0)
  const next = new Reserve(systemFiles, folder, BYTES)
  await next.take()
  await taking
  assert.equal(next.bytesThere, BYTES)
  assert.equal(statSync(join(folder, 'reserve')).size, BYTES)
  await reserve.take()
  assert.equal(reserve.bytesThere, 0)
})
