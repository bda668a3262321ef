import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { AppendFailed } from './device.ts'
import { ThreadDevice } from './thread-device.ts'

const HEADER = 64

test('a group that cannot be sent to the thread is none, and the next one in the same memory is written', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, '1.wal')
  const device = new ThreadDevice(() => {})
  t.after(() => device.close())
  await device.begin(path, folder, new Uint8Array(HEADER).fill(1))
  const memory = new Uint8Array(new SharedArrayBuffer(1_000))
  const post = t.mock.method(Worker.prototype, 'postMessage', () => {
    throw new RangeError('Array buffer allocation failed')
  })
  await assert.rejects(device.append(memory.fill(2).subarray(0, 100), HEADER), (error) => {
    assert.ok(error instanceof AppendFailed && error.isIntact, `${error}`)
    return true
  })
  post.mock.restore()
  await device.append(memory.fill(3).subarray(0, 200), HEADER)
  const written = readFileSync(path).subarray(HEADER)
  assert.ok(
    written.length >= 200 && written.subarray(0, 200).every((byte) => byte === 3),
    'bytes of the second group',
  )
  assert.ok(written.subarray(200).every((byte) => byte === 0))
})
