import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { findServer } from '../servers/required.ts'
import { temporaryFolder } from './folder.ts'

const strace = findServer('strace', 'strace')
const { signal } = new AbortController()
const range = { tag: 'a', from: -1, to: 1e15, order: 'asc', limit: 1e9 } as const

/** A process that hangs is killed after so long, which fails the test. */
const PATIENCE_MS = 300_000

/** Calls of the thread that writes the log; the first of them are of the start. */
for (const [call, from] of [
  ['fdatasync', 10],
  ['pwrite64', 12],
] as const) {
  test(`a disk that fails a ${call} costs the requests that it meets, and no other`, {
    skip: strace.skip,
  }, async (t) => {
    const folder = temporaryFolder(t)
    const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:error=EIO:when=${from}+7`]
    const script = join(import.meta.dirname, 'failing-disk.ts')
    const args = ['-f', '-q', '-o', '/dev/null', ...inject, process.execPath, script, folder]
    const { stdout, stderr, status } = spawnSync(strace.path!, args, {
      encoding: 'utf8',
      timeout: PATIENCE_MS,
      killSignal: 'SIGKILL',
    })
    assert.equal(status, 0, stderr)
    const { acknowledged, errors, stored } = JSON.parse(stdout.trim().split('\n').at(-1)!)
    assert.ok(errors.length > 0 && acknowledged.length > errors.length, stdout)
    for (const code of errors) assert.match(code, /^WRITE_(FAILED|OUTCOME_UNKNOWN)$/)
    assert.deepEqual(stored, acknowledged)

    const store = await openFileStore(folder, { historian: 'plant', owner: true })
    t.after(() => store.close())
    const [read] = await store.readRanges([range], signal)
    assert.deepEqual([...read!.points.times], acknowledged)
    assert.deepEqual((await store.check(signal)).problems, [])
  })
}
