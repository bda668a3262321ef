import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { randomOf } from '../../../test/durability/random.ts'
import { SimulatedDisk } from '../../../test/durability/simulated-disk.ts'
import { open, STEPS, type Step } from '../../../test/durability/workload.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import type { Files } from '../files/files.ts'
import { listManifests, ManifestWriter, readManifest } from '../manifest/manifest-file.ts'
import type { FileStore } from './file-store.ts'
import { foldersOf } from './folders.ts'
import { openFileStore } from './open-file-store.ts'
import type { HistorianBefore } from './was-there.ts'

/** Power cuts after each life. */
const CUTS = 1

/** The owner's lock is one of the system. */
function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'was-there-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** What is noted outside of the folder when a historian is closed. */
async function closed(store: FileStore): Promise<HistorianBefore> {
  const { id, token } = store.identity
  return { id, token, lastSequence: await store.close() }
}

async function assertTaken(files: Files, folder: string, before: HistorianBefore): Promise<void> {
  for (const owner of [false, true]) {
    const limits = { reserveBytes: 0 }
    await (await openFileStore(folder, { historian: 'plant', owner, files, before, limits })).close()
  }
}

const changes = STEPS.filter(({ change }) => change !== null)

async function live(files: Files, folder: string, steps: readonly Step[]): Promise<FileStore> {
  const store = await open(files, folder)
  for (const step of steps) await step.run(store)
  return store
}

test('a historian that was closed is taken for itself after each of its steps, also after a power cut', async (t) => {
  const folder = folderFor(t)
  for (let count = 0; count <= STEPS.length; count++) {
    const disk = new SimulatedDisk()
    const before = await closed(await live(disk, folder, STEPS.slice(0, count)))
    assert.equal(before.lastSequence, changes.filter((step) => STEPS.indexOf(step) < count).length)
    await assertTaken(disk.copy(), folder, before)
    for (let cut = 0; cut < CUTS; cut++) {
      await assertTaken(disk.afterCut(randomOf(count * CUTS + cut)), folder, before)
    }
  }
})

test('a group that failed at last, and may be there or not, is not missed', async (t) => {
  const folder = folderFor(t)
  const disk = new SimulatedDisk()
  const files = new FailingFiles(disk)
  const store = await live(files, folder, STEPS.slice(0, 2))
  files.plan = (call, path) => (call === 'sync' && path.endsWith('.wal') ? { code: 'EIO' } : null)
  await assert.rejects(changes[2]!.run(store), { code: 'WRITE_OUTCOME_UNKNOWN' })
  const before = await closed(store)
  assert.equal(before.lastSequence, 2)
  for (let cut = 0; cut < CUTS; cut++) await assertTaken(disk.afterCut(randomOf(cut)), folder, before)
})

test('an earlier state from the life of the owner that was closed last is refused, from a later or unknown one nothing is', async (t) => {
  const folder = folderFor(t)
  const disk = new SimulatedDisk()
  const store = await open(disk, folder)
  const states: SimulatedDisk[] = []
  for (const step of changes) {
    states.push(disk.copy())
    await step.run(store)
  }
  const before = await closed(store)
  for (const [records, state] of states.entries()) {
    for (const owner of [false, true]) {
      const files = state.copy()
      const claims = files.list(join(folder, 'owner'))
      await assert.rejects(openFileStore(folder, { historian: 'plant', owner, files, before }), {
        code: 'DATA_DIR_UNUSABLE',
        message: /an earlier state of its historian/,
      })
      // No owner of it on another machine is superseded.
      assert.deepEqual(files.list(join(folder, 'owner')), claims)
    }
    for (const other of [{ lastSequence: null }, { lastSequence: records }, { token: before.token! - 1 }]) {
      await assertTaken(state.copy(), folder, { ...before, ...other })
    }
  }
})

test('an owner tells what is on disk after each flush: what was then is taken for itself, an earlier state is not', async (t) => {
  const folder = folderFor(t)
  const disk = new SimulatedDisk()
  const told: HistorianBefore[] = []
  const store = await openFileStore(folder, {
    historian: 'plant',
    owner: true,
    files: disk,
    limits: { reserveBytes: 0 },
    reached: (end) => told.push(end),
  })
  await STEPS[0]!.run(store)
  const earlier = disk.copy()
  for (const step of changes.slice(1, 4)) await step.run(store)
  await store.flush()
  const { id, token } = store.identity
  assert.deepEqual(told.at(-1), { id, token, lastSequence: 4 })
  await changes[4]!.run(store)
  // The owner is killed, or the power is cut.
  const left = [disk.copy(), disk.afterCut(randomOf(1))]
  await store.close()
  for (const files of left) await assertTaken(files, folder, told.at(-1)!)
  const opened = openFileStore(folder, {
    historian: 'plant',
    owner: true,
    files: earlier,
    before: told.at(-1)!,
  })
  await assert.rejects(opened, { code: 'DATA_DIR_UNUSABLE', message: /an earlier state of its historian/ })
})

test('a backup of a historian that a repair put in the place of another one is taken, also after a kill in its first start', async (t) => {
  const folder = folderFor(t)
  const disk = new SimulatedDisk()
  const before = await closed(await live(disk, folder, STEPS.slice(0, 3)))
  const { manifest } = foldersOf(folder)
  const place = listManifests(disk, manifest).at(-1)!
  const { version } = readManifest(disk, manifest, place)
  // As a repair and then a copy leave it: nobody has started what was repaired.
  const copy = { ...version, id: 'b'.repeat(32), follows: before.id!, copiedAt: version.number }
  const writer = new ManifestWriter(disk, manifest, copy, place.number)
  await writer.begin()
  writer.close()
  const kills: SimulatedDisk[] = []
  const files = new FailingFiles(disk, (call, path) => {
    if (path.startsWith(manifest) && call !== 'read') kills.push(disk.copy())
    return null
  })
  const limits = { reserveBytes: 0 }
  const store = await openFileStore(folder, { historian: 'plant', owner: true, files, before, limits })
  kills.push(disk.copy())
  const after = await closed(store)
  assert.notEqual(after.id, copy.id)
  for (const left of kills) await assertTaken(left, folder, before)
  await assertTaken(disk, folder, after)
})
