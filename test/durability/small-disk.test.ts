import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { findServer } from '../servers/required.ts'
import { temporaryFolder } from './folder.ts'
import { mountQuota, noQuota } from './quota-mount.ts'
import { mountSmallDisk, noSmallDisk } from './small-disk-mount.ts'

const { signal } = new AbortController()
/** A process that hangs is killed after so long, which fails the test. */
const PATIENCE_MS = 600_000

const prlimit = findServer('prlimit', 'prlimit')
const SCRIPT = join(import.meta.dirname, 'small-disk.ts')

interface Outcome {
  readonly acknowledged: readonly number[]
  readonly stored: readonly number[]
  readonly errors: readonly string[]
  readonly deleted: number
  readonly again: string
  readonly leastFree: number
}

/** Runs small-disk.ts to its end. @param before  a command that starts another one under a limit, and its options */
function run(folder: string, shape: number, before: readonly string[] = []): Outcome {
  const [command = '', ...args] = [...before, process.execPath, SCRIPT, folder, String(shape)]
  const limits = { encoding: 'utf8', timeout: PATIENCE_MS, killSignal: 'SIGKILL' } as const
  const { stdout, stderr, status, signal: end } = spawnSync(command, args, limits)
  assert.deepEqual([status, end], [0, null], stderr)
  assert.equal(stderr, '')
  return JSON.parse(stdout.trim().split('\n').at(-1)!)
}

async function assertIntact(t: TestContext, folder: string): Promise<void> {
  const store = await openFileStore(folder, { historian: 'plant', owner: true })
  t.after(() => store.close())
  assert.deepEqual((await store.check(signal)).problems, [])
}

for (const shape of [1, 2, 3]) {
  test(`a disk that runs full gives errors of the writes that it meets, and nothing else: run ${shape}`, {
    skip: noSmallDisk,
  }, async (t) => {
    const folder = join(mountSmallDisk(t, 64), 'plant')
    const { acknowledged, stored, errors, deleted, again, leastFree } = run(folder, shape)
    for (const error of errors) assert.match(error, /^WRITE_FAILED: .*\bthe disk is full\b/)
    assert.deepEqual(stored, acknowledged)
    assert.ok(acknowledged.length > 50)
    assert.ok(deleted > 0)
    assert.equal(again, 'ok')
    // Most of the disk was used before anything was refused. The lowest that was free is looked at between requests,
    // when the reserve of 8 MiB may have been given up already.
    assert.ok(leastFree < 16 * 2 ** 20, `${leastFree} bytes were free`)
    await assertIntact(t, folder)
  })
}

for (const shape of [1, 2, 3]) {
  test(`a quota gives errors of the writes that it meets, and nothing else: run ${shape}`, {
    skip: noQuota,
  }, async (t) => {
    const folder = join(mountQuota(t, 64), 'plant')
    const { acknowledged, stored, errors, deleted, again } = run(folder, shape)
    // A file of such a file system cannot be cut where the quota is used up: part of the group stays.
    const sentence = /^(WRITE_FAILED|WRITE_OUTCOME_UNKNOWN): .*\bthe disk quota is used up\b/
    const codes = errors.map((error) => sentence.exec(error)?.[1] ?? error)
    assert.deepEqual(new Set(codes).difference(new Set(['WRITE_FAILED', 'WRITE_OUTCOME_UNKNOWN'])), new Set())
    assert.ok(codes.includes('WRITE_FAILED'))
    assert.deepEqual(stored, acknowledged)
    assert.ok(acknowledged.length > 50)
    assert.ok(deleted > 0)
    assert.equal(again, 'ok')
    t.diagnostic(`${acknowledged.length} requests were acknowledged`)
    await assertIntact(t, folder)
  })
}

// The log of a flush is as long as that, and several flushes are merged to more. Node ignores SIGXFSZ.
for (const [shape, megabytes] of [
  [1, 2],
  [2, 3],
  [3, 3],
] as const) {
  test(`a limit of file sizes gives errors of the writes that it meets, and nothing else: run ${shape}, ${megabytes} MiB`, {
    skip: prlimit.skip,
  }, async (t) => {
    const folder = join(temporaryFolder(t), 'plant')
    const limited = [prlimit.path!, `--fsize=${megabytes * 2 ** 20}:`]
    const { acknowledged, stored, errors, deleted, again } = run(folder, shape, limited)
    assert.ok(errors.length > 0)
    for (const error of errors) assert.match(error, /^WRITE_FAILED: .*\bthe file may not grow any further\b/)
    assert.deepEqual(stored, acknowledged)
    // Of some 200 kB each: more than the limit, in several files.
    assert.ok(acknowledged.length > 5 * megabytes, `${acknowledged.length} requests`)
    assert.ok(deleted > 0)
    assert.equal(again, 'ok')
    t.diagnostic(`${acknowledged.length} requests were acknowledged`)
    await assertIntact(t, folder)
  })
}
