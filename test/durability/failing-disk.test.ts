import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { openHistorianStore } from '../../src/storage/open-historian.ts'
import { findServer } from '../servers/required.ts'
import { temporaryFolder } from './folder.ts'

const strace = findServer('strace', 'strace')
const { signal } = new AbortController()

test('when the disk fails at the end of a commit, calls say that a new start is needed, and it finds what was acknowledged', {
  skip: strace.skip,
}, async (t) => {
  const script = join(import.meta.dirname, 'failing-disk.ts')
  const env = { ...process.env, UV_THREADPOOL_SIZE: '1' }
  /** Fails a write, counted in each thread: the one that commits comes so far, and not the one that opens. */
  const run = (folder: string, count: number) => {
    const inject = ['-e', 'trace=pwrite64', '-e', `inject=pwrite64:error=EIO:when=${count}`]
    const place = ['-P', join(folder, 'data.mdb'), '-o', '/dev/null']
    const args = ['-f', '-q', ...place, ...inject, process.execPath, script, folder]
    const { stdout, status } = spawnSync(strace.path!, args, { encoding: 'utf8', env })
    return status === 0 ? JSON.parse(stdout.trim().split('\n').at(-1)!) : null
  }
  // One of some that follow each other is the end of a commit.
  let folder = ''
  let told: { acknowledged: number[]; read: string; health: string } | null = null
  for (let count = 60; count < 70 && (told === null || told.health === 'ok'); count++) {
    folder = temporaryFolder(t)
    told = run(folder, count)
  }
  const { acknowledged, read: refused, health } = told!
  assert.ok(acknowledged.length > 5)
  assert.equal(refused, 'HISTORIAN_UNAVAILABLE')
  assert.match(health, /the disk reported an error at the end of a commit: start the service anew/)

  const store = await openHistorianStore(folder, { historian: 'plant', owner: true })
  t.after(() => store.close())
  const range = { tag: 'a', from: -1, to: 1e15, order: 'asc', limit: 1e9 } as const
  const [read] = await store.readRanges([range], signal)
  const times = new Set(read!.points.times)
  assert.deepEqual(
    acknowledged.filter((time: number) => !times.has(time)),
    [],
  )
  assert.deepEqual((await store.check(signal)).problems, [])
})
