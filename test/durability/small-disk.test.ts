import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { mountSmallDisk, noSmallDisk } from './small-disk-mount.ts'

const { signal } = new AbortController()
/** A process that hangs is killed after so long, which fails the test. */
const PATIENCE_MS = 600_000

for (const run of [1, 2, 3]) {
  test(`a disk that runs full gives errors of the writes that it meets, and nothing else: run ${run}`, {
    skip: noSmallDisk,
  }, async (t) => {
    const disk = mountSmallDisk(t, 64)
    const folder = join(disk, 'plant')
    const script = join(import.meta.dirname, 'small-disk.ts')
    const args = [script, folder, String(run)]
    const limits = { encoding: 'utf8', timeout: PATIENCE_MS, killSignal: 'SIGKILL' } as const
    const { stdout, stderr, status, signal: end } = spawnSync(process.execPath, args, limits)
    assert.deepEqual([status, end], [0, null], stderr)
    assert.equal(stderr, '')
    const { acknowledged, stored, errors, deleted, again, leastFree } = JSON.parse(
      stdout.trim().split('\n').at(-1)!,
    )
    for (const error of errors) assert.match(error, /^WRITE_FAILED: .*\bthe disk is full\b/)
    assert.deepEqual(stored, acknowledged)
    assert.ok(acknowledged.length > 50)
    assert.ok(deleted > 0)
    assert.equal(again, 'ok')
    // Most of the disk was used before anything was refused. The lowest that was free is looked at between requests,
    // when the reserve of 8 MiB may have been given up already.
    assert.ok(leastFree < 16 * 2 ** 20, `${leastFree} bytes were free`)

    const store = await openFileStore(folder, { historian: 'plant', owner: true })
    t.after(() => store.close())
    assert.deepEqual((await store.check(signal)).problems, [])
  })
}
