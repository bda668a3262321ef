import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { FailingFiles } from '../../src/storage/files/failing-files.fixture.ts'
import { copyHistorian } from '../../src/storage/maintenance/copy-historian.ts'
import { SimulatedDisk } from './simulated-disk.ts'
import { codeOf, type Model, modelOf, open, printed, STEPS, signal } from './workload.ts'

/** What is there of a disk at one moment, where the file system carries no locks: nobody sees that the owner lives. */
function withoutLock(disk: SimulatedDisk): SimulatedDisk {
  const seen = disk.copy()
  const exists = seen.exists.bind(seen)
  seen.exists = (path) => basename(path) !== 'owner.lock' && exists(path)
  return seen
}

async function copied(disk: SimulatedDisk, folder: string): Promise<string> {
  const to = join(folder, 'copy')
  await copyHistorian(disk, folder, to, { mode: 'copy' }, signal)
  const copy = await openFileStore(to, { historian: 'plant', owner: false, files: disk })
  try {
    assert.deepEqual((await copy.check(signal)).problems, [])
    return printed(await modelOf(copy))
  } finally {
    await copy.close()
  }
}

/**
 * A life in which a copy is made at every call of the file layer.
 * @param failing  index of a step whose group cannot be synced; `null` for none
 */
async function live(t: TestContext, failing: number | null) {
  // The owner's lock is one of the system.
  const folder = mkdtempSync(join(tmpdir(), 'unlocked-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const disk = new SimulatedDisk()
  let seen: SimulatedDisk[] = []
  let isFailing = false
  const made = new Set<string>()
  const files = new FailingFiles(disk, (call, path) => {
    seen.push(withoutLock(disk))
    if (call === 'create') made.add(path)
    // A segment is synced when it is made, and then with each group.
    const isOfGroup = call === 'sync' && path.endsWith('.wal') && !made.delete(path)
    return isFailing && isOfGroup ? { code: 'EIO' } : null
  })
  const store = await open(files, folder)
  seen = []
  let copies = 0
  let withFailed = 0
  let model: Model = new Map()
  /** With a group of which nobody knows whether it counts. */
  let unknown: Model | null = null
  for (const [index, step] of STEPS.entries()) {
    isFailing = index === failing
    const next = step.change?.(model) ?? model
    const code = await step.run(store).then(() => null, codeOf)
    const allowed: string[] = [model, next, ...(unknown === null ? [] : [unknown])].map(printed)
    const what = () => `step ${step.name}, group ${failing} failed, copy ${copies}`
    for (const moment of [...seen.splice(0), withoutLock(disk)]) {
      const found = await copied(moment, folder)
      assert.ok(allowed.includes(found), what())
      if (unknown !== null && found === printed(unknown)) withFailed++
      copies++
    }
    if (isFailing) {
      assert.equal(code, 'WRITE_OUTCOME_UNKNOWN')
      unknown = next
    } else if (code === null) {
      // What is acknowledged is in every copy from then on, and what failed before it in none.
      model = next
      if (step.change !== null) unknown = null
      const found = await copied(withoutLock(disk), folder)
      if (unknown === null || found !== printed(unknown)) assert.equal(found, printed(model), what())
    }
  }
  await store.close()
  return { copies, withFailed }
}

test('a copy that is made where nobody sees the lock of the owner has all that was acknowledged, and each request wholly or not at all', async (t) => {
  const { copies } = await live(t, null)
  t.diagnostic(`${copies} copies`)
  assert.ok(copies > 200)
})

test('a group whose sync failed is in such a copy wholly or not at all, and not beside what was acknowledged after it', async (t) => {
  let copies = 0
  let withFailed = 0
  for (const [index, { change }] of STEPS.entries()) {
    if (change === null) continue
    const life = await live(t, index)
    copies += life.copies
    withFailed += life.withFailed
  }
  t.diagnostic(`${copies} copies, ${withFailed} with a group that failed before`)
  assert.ok(withFailed > 0)
})
