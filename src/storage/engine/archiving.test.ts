import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { type ArchiveName, archiveName, decodeMark, parseArchiveName } from '../archive/archive-file.ts'
import { planReplay } from '../archive/read-archive.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import type { Files } from '../files/files.ts'
import { systemFiles } from '../files/system-files.ts'
import type { FileStore } from './file-store.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()
const told: string[] = []
const log = {
  info: (_: object, message: string) => told.push(message),
  error: (_: object, message: string) => told.push(message),
}

function open(
  folder: string,
  archive: string,
  options: { keepBytes?: number; files?: Files; everyMs?: number; clock?: () => number } = {},
) {
  return openFileStore(folder, {
    historian: 'plant',
    owner: true,
    log,
    archive: { folder: archive, everyMs: options.everyMs ?? 20, keepBytes: options.keepBytes ?? 1 << 30 },
    limits: {
      // It is flushed when a test says so.
      flush: { points: 1e9, records: 1e9, ageMs: 1e9 },
      unlinkAfterMs: 0,
      reserveBytes: 0,
    },
    ...(options.files === undefined ? {} : { files: options.files }),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  })
}

async function write(store: FileStore, time: number): Promise<void> {
  const points = makeColumns(1)
  points.times[0] = time
  points.values[0] = time
  await store.write(writeBatch([{ tag: 'A', points }], true), signal)
}

/** What the archive has, in order. */
function archived(archive: string): readonly (ArchiveName & { readonly folder: string })[] {
  const historian = join(archive, 'plant')
  return systemFiles.list(historian).flatMap((id) =>
    systemFiles.list(join(historian, id)).flatMap((name) => {
      const parsed = parseArchiveName(name)
      return parsed === null ? [] : [{ ...parsed, folder: join(historian, id) }]
    }),
  )
}

/** Number of the last record in the archive; each one follows the one before. */
function lastArchived(archive: string): number {
  let last = 0
  for (const { firstSequence, lastSequence } of archived(archive)) {
    assert.ok(firstSequence <= last + 1, `records ${last + 1} to ${firstSequence - 1} are missing`)
    last = Math.max(last, lastSequence)
  }
  return last
}

const segments = (folder: string) => readdirSync(join(folder, 'wal')).filter((name) => name.endsWith('.wal'))

function folders(t: TestContext) {
  const folder = temporaryFolder(t)
  const archive = join(folder, 'archive')
  mkdirSync(archive)
  return { historian: join(folder, 'plant'), archive }
}

test('every record comes into the archive, in order, and segments go when they are flushed and there', async (t) => {
  const { historian, archive } = folders(t)
  const store = await open(historian, archive)
  for (let round = 1; round <= 5; round++) {
    for (let i = 0; i < 10; i++) await write(store, round * 100 + i)
    if (round % 2 === 0) await store.flush()
    while (lastArchived(archive) < round * 10) await wait(10)
  }
  await store.flush()
  // Only what is not flushed stays: nothing.
  while (segments(historian).length > 0) await wait(10)
  await write(store, 1)
  await store.close()
  assert.equal(store.trouble, null)
  // A clean end takes the rest along, and the mark says so.
  assert.equal(lastArchived(archive), 51)
  const mark = decodeMark(readFileSync(join(archived(archive)[0]!.folder, 'archived-until')))
  assert.equal(mark?.lastSequence, 51)
  assert.ok(Math.abs(mark!.until / 1000 - Date.now()) < 60_000)
})

test('a moment within the step of the clock that the archive ends in is not taken for one that it has', async (t) => {
  const { historian, archive } = folders(t)
  const now = 1_700_000_000_000_000
  const store = await open(historian, archive, { clock: () => now })
  await write(store, 1)
  while (!existsSync(join(archived(archive)[0]?.folder ?? '', 'archived-until'))) await wait(10)
  const { folder } = archived(archive)[0]!
  const plan = (to: number) =>
    planReplay(systemFiles, { folder, id: basename(folder) }, 0, to, signal).lastSequence
  // Another group may be committed at the same time and is not archived yet.
  assert.throws(() => plan(now), { why: { kind: 'end', until: now - 1 } })
  assert.equal(plan(now - 1), 0)
  rmSync(join(folder, 'archived-until'))
  assert.throws(() => plan(now), { why: { kind: 'end', until: now - 1 } })
  await store.close()
})

test('one that another owner has superseded, unseen by its kernel, states nothing of the archive any more', async (t) => {
  const { historian, archive } = folders(t)
  const [before, after] = [1_700_000_000_000_000, 1_700_000_060_000_000]
  const first = await open(historian, archive, { clock: () => before })
  t.after(() => first.close().catch(() => {}))
  await write(first, 1)
  while (lastArchived(archive) < 1) await wait(10)
  // What another kernel locks is not seen by this one.
  rmSync(join(historian, 'owner.lock'))
  const second = await open(historian, archive, { clock: () => after })
  t.after(() => second.close())
  const { folder } = archived(archive)[0]!
  const path = join(folder, 'archived-until')
  const until = () => (existsSync(path) ? decodeMark(readFileSync(path))?.until : null)
  // What it began before it was superseded may still end.
  for (let i = 0; i < 6_000 && first.trouble === null; i++) await wait(10)
  while (until() !== after - 1) await wait(1)
  await write(second, 2)
  for (let i = 0; i < 20; i++) {
    assert.equal(until(), after - 1)
    await wait(10)
  }
})

test('while the archive is missing writes go on and segments stay, over a restart, too', async (t) => {
  const { historian, archive } = folders(t)
  rmSync(archive, { recursive: true })
  const store = await open(historian, archive)
  for (let i = 0; i < 30; i++) {
    await write(store, i)
    if (i % 10 === 9) await store.flush()
  }
  while (store.trouble === null) await wait(10)
  assert.equal(store.trouble, 'the log cannot be archived: the folder of the archive is missing')
  const before = store.measure().archiveLagSeconds!
  await wait(50)
  assert.ok(store.measure().archiveLagSeconds! > before)
  assert.ok(segments(historian).length >= 3)
  await store.close()
  // It was not made: it may be where a disk is not mounted.
  assert.ok(!systemFiles.exists(archive))

  const again = await open(historian, archive)
  await write(again, 30)
  assert.ok(segments(historian).length >= 4)
  mkdirSync(archive)
  while (lastArchived(archive) < 31) await wait(10)
  while (again.trouble !== null) await wait(10)
  await again.flush()
  while (segments(historian).length > 0) await wait(10)
  assert.deepEqual((await again.check(signal)).problems, [])
  await again.close()
})

test('a segment that goes to the archive while another process opens the historian is no damage', async (t) => {
  const { historian, archive } = folders(t)
  rmSync(archive, { recursive: true })
  const store = await open(historian, archive, { everyMs: 3_600_000 })
  t.after(() => store.close())
  for (let i = 0; i < 3; i++) {
    await write(store, i)
    if (i < 2) await store.flush()
  }
  const [kept] = segments(historian)
  // It is archived between the look at the folder and the look at the file.
  const files = new FailingFiles(systemFiles, (call, path) => {
    if (call === 'open' && path.endsWith(kept!)) rmSync(path, { force: true })
    return null
  })
  const reader = await openFileStore(historian, { historian: 'plant', owner: false, files })
  t.after(() => reader.close())
  assert.ok(!segments(historian).includes(kept!))
  await reader.checkHealth(signal)
  const [found] = await reader.readRanges([{ tag: 'A', from: 0, to: 10, order: 'asc', limit: 10 }], signal)
  assert.equal(found!.points.times.length, 3)
})

test('more than may be kept for the archive goes, the oldest first, and is told', async (t) => {
  const { historian, archive } = folders(t)
  renameSync(archive, `${archive}.away`)
  // Each has a small group and zeros for two more.
  const segmentBytes = 8_500
  const keepBytes = 10 * segmentBytes
  const store = await open(historian, archive, { keepBytes })
  t.after(() => store.close())
  for (let i = 0; i < 30; i++) {
    await write(store, i)
    await store.flush()
  }
  const kept = segments(historian)
  assert.ok(kept.length > 0 && kept.length < 20, String(kept.length))
  const bytes = kept.map((name) => statSync(join(historian, 'wal', name)).size)
  assert.ok(Math.max(...bytes) <= segmentBytes, String(bytes))
  assert.ok(bytes.reduce((sum, one) => sum + one, 0) <= keepBytes + segmentBytes)
  assert.ok(told.includes('segments of the log were removed without being archived: make a backup'))
  renameSync(`${archive}.away`, archive)
  while (!archived(archive).some(({ lastSequence }) => lastSequence === 30)) await wait(10)
  assert.ok(archived(archive)[0]!.firstSequence > 1)
  while (store.trouble?.startsWith('the log cannot')) await wait(10)
  assert.equal(store.trouble, 'segments of the log were removed without being archived: make a backup')
})

test('on a full disk what is kept for the archive goes before a write fails', async (t) => {
  const { historian, archive } = folders(t)
  rmSync(archive, { recursive: true })
  let isFull = false
  const wal = join(historian, 'wal')
  // The disk has as much room as the kept segments take.
  const files = new FailingFiles(systemFiles, (call, path) => {
    if (call === 'remove' && path.startsWith(wal)) isFull = false
    return isFull && call === 'write' && path.endsWith('.wal') ? { code: 'ENOSPC' } : null
  })
  const store = await open(historian, archive, { files, everyMs: 3_600_000 })
  await write(store, 1)
  await store.flush()
  await write(store, 2)
  assert.equal(segments(historian).length, 2)
  isFull = true
  await write(store, 3)
  assert.equal(segments(historian).length, 1)
  assert.ok(told.includes('segments of the log were removed without being archived: make a backup'))
  await store.close()
})

test('records that an owner without the archive had are told to be missing', async (t) => {
  const { historian, archive } = folders(t)
  const missing = async (work: (store: FileStore) => Promise<void>, lastOne: number) => {
    const between = await openFileStore(historian, { historian: 'plant', owner: true, log })
    await work(between)
    await between.flush()
    await between.close()
    const store = await open(historian, archive)
    await write(store, lastOne)
    await store.close()
    assert.equal(lastOfArchive(archive), lastOne)
    return store.trouble
  }
  const first = await open(historian, archive)
  for (let i = 1; i <= 3; i++) await write(first, i)
  await first.close()
  assert.equal(await missing(async () => {}, 4), null)
  const told = await missing(async (store) => {
    for (let i = 5; i <= 6; i++) await write(store, i)
  }, 7)
  assert.equal(told, 'records 5 to 6 of the log are not in the archive: make a backup')
  // The mark says what was there.
  for (const { folder, ...name } of archived(archive)) rmSync(join(folder, archiveName(name)))
  const only = await missing((store) => write(store, 8), 9)
  assert.equal(only, 'records 8 to 8 of the log are not in the archive: make a backup')
})

const lastOfArchive = (archive: string) =>
  Math.max(0, ...archived(archive).map(({ lastSequence }) => lastSequence))
