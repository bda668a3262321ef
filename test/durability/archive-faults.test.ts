import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArchiveName } from '../../src/storage/archive/archive-file.ts'
import { NoWayThere, planReplay } from '../../src/storage/archive/read-archive.ts'
import { historianDirectory, openDataDirectory } from '../../src/storage/directory/data-directory.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import { backupDataDirectory } from '../../src/storage/maintenance/backup.ts'
import { restoreDataDirectory } from '../../src/storage/maintenance/restore.ts'
import { serve } from '../cli/run.ts'
import { until } from '../until.ts'
import { changeOne, openArchived } from './archive-writer.ts'
import { temporaryFolder } from './folder.ts'
import { changesIn, readModel } from './restored.ts'
import { fillDisk, mountSmallDisk, noSmallDisk } from './small-disk-mount.ts'

const { signal } = new AbortController()
const WRITES = 120
const AT_BACKUP = 30

/** Number of the last record of the one historian in an archive; 0 for none. */
function lastArchived(archive: string): number {
  const historian = join(archive, 'local')
  const names = existsSync(historian)
    ? readdirSync(historian).flatMap((id) => readdirSync(join(historian, id)))
    : []
  return Math.max(0, ...names.flatMap((name) => parseArchiveName(name)?.lastSequence ?? []))
}

/** A historian of which the archive has all, and a backup of its beginning. */
async function makeArchive(t: TestContext) {
  const folder = temporaryFolder(t)
  const [data, archive, backup] = ['data', 'archive', 'backup'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  mkdirSync(archive)
  const directory = await openDataDirectory(data, { owner: true })
  const store = await openArchived(historianDirectory(data, 'local'), archive)
  for (let number = 1; number <= WRITES; number++) {
    await changeOne(store, number)
    // One segment or more for each stretch.
    if (number % 15 === 0) await until(() => lastArchived(archive) >= number, 'it is archived')
    if (number === AT_BACKUP) await backupDataDirectory(data, backup, signal)
  }
  await store.close()
  await directory.close()
  const local = join(archive, 'local')
  const [id] = readdirSync(local)
  const archived = { folder: join(local, id!), id: id! }
  const names = readdirSync(archived.folder).filter((name) => parseArchiveName(name) !== null)
  assert.ok(names.length >= 5, names.join(' '))
  let made = 0
  const restore = async (to: number | null = null) => {
    const target = join(folder, `restored-${++made}`)
    await restoreDataDirectory(backup, target, { to, only: null, archiveOf: () => archive }, signal)
    return changesIn(await readModel(historianDirectory(target, 'local')))
  }
  /** What the archive gives behind a record, or why it gives nothing. */
  const plan = (after: number) => {
    try {
      return planReplay(systemFiles, archived, after, null, signal)
    } catch (error) {
      assert.ok(error instanceof NoWayThere, String(error))
      return error.why
    }
  }
  return { archived, names, restore, plan }
}

/** Lets something happen to a file, and takes it back. */
async function changed(path: string, bytes: Uint8Array | null, look: () => unknown): Promise<void> {
  const before = readFileSync(path)
  if (bytes === null) rmSync(path)
  else writeFileSync(path, bytes)
  await look()
  writeFileSync(path, before)
}

test('a segment that is missing, cut or changed is named, and nothing is restored across it', async (t) => {
  const { archived, names, restore, plan } = await makeArchive(t)
  assert.equal(await restore(), WRITES)
  const whole = plan(0)
  assert.ok(!('kind' in whole) && whole.lastSequence === WRITES)
  for (const name of names) {
    const path = join(archived.folder, name)
    const { firstSequence: first, lastSequence: last } = parseArchiveName(name)!
    const bytes = readFileSync(path)
    await changed(path, null, () => assert.deepEqual(plan(first - 1), { kind: 'gap', first, last }))
    // Whoever has its records already does not need it.
    await changed(path, null, () => assert.ok(!('kind' in plan(last))))
    for (const length of [0, 1, 79, 80, 100, bytes.length >> 1, bytes.length - 1]) {
      await changed(path, bytes.subarray(0, length), () => {
        const why = plan(first - 1)
        assert.ok('kind' in why && why.kind === 'damaged' && why.file === name, `${name} of ${length} bytes`)
      })
    }
    for (let i = 0; i < 60; i++) {
      const flipped = Buffer.from(bytes)
      const at = Math.floor(Math.random() * bytes.length)
      flipped[at]! ^= 1 << (i & 7)
      await changed(path, flipped, () => {
        const why = plan(first - 1)
        assert.ok('kind' in why && why.kind === 'damaged' && why.file === name, `byte ${at} of ${name}`)
      })
    }
    // Bytes behind it belong to nothing.
    await changed(path, Buffer.concat([bytes, Buffer.alloc(8)]), () => assert.ok('kind' in plan(first - 1)))
  }
  const needed = names.filter((name) => parseArchiveName(name)!.firstSequence > AT_BACKUP)
  const path = join(archived.folder, needed[1]!)
  const { firstSequence, lastSequence } = parseArchiveName(needed[1]!)!
  await changed(path, null, () =>
    assert.rejects(restore(), {
      code: 'RESTORE_IMPOSSIBLE',
      message: new RegExp(`records ${firstSequence} to ${lastSequence} of the log are missing in `),
    }),
  )
  await changed(path, Buffer.alloc(200), () =>
    assert.rejects(restore(), { code: 'RESTORE_IMPOSSIBLE', message: /\.log in \S+ is damaged: / }),
  )
  // The mark tells that the end is missing.
  const lastName = names.at(-1)!
  await changed(join(archived.folder, lastName), null, () =>
    assert.rejects(restore(), { code: 'RESTORE_IMPOSSIBLE', message: /are missing in / }),
  )
  assert.equal(await restore(), WRITES)
})

test('a file that is named as another one, or of another historian, is not taken for it', async (t) => {
  const { archived, names, plan } = await makeArchive(t)
  const [one, other] = names.slice(-2) as [string, string]
  const path = join(archived.folder, one)
  const { firstSequence } = parseArchiveName(one)!
  const kindOf = () => {
    const why = plan(firstSequence - 1)
    return 'kind' in why ? why.kind : null
  }
  await changed(path, readFileSync(join(archived.folder, other)), () => assert.equal(kindOf(), 'damaged'))
  const renamed = join(archived.folder, `${one.slice(0, 17)}9${one.slice(18)}`)
  renameSync(path, renamed)
  assert.equal(kindOf(), 'damaged')
  renameSync(renamed, path)
  const strange = { ...archived, id: 'cd'.repeat(16) }
  assert.throws(
    () => planReplay(systemFiles, strange, firstSequence - 1, null, signal),
    (error) => error instanceof NoWayThere && error.why.kind === 'damaged',
  )
})

test('a record that was damaged in the log before it was archived is named, and moments before it are restored', async (t) => {
  const folder = temporaryFolder(t)
  const [data, archive, backup] = ['data', 'archive', 'backup'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  mkdirSync(archive)
  const directory = await openDataDirectory(data, { owner: true })
  const historian = historianDirectory(data, 'local')
  const store = await openFileStore(historian, {
    historian: 'local',
    owner: true,
    archive: { folder: archive, everyMs: 3_600_000, keepBytes: 1 << 30 },
    limits: { reserveBytes: 0 },
  })
  for (let number = 1; number <= 5; number++) await changeOne(store, number)
  await backupDataDirectory(data, backup, signal)
  for (let number = 6; number <= 9; number++) await changeOne(store, number)
  await wait(5)
  const moment = Date.now() * 1000
  await wait(5)
  await changeOne(store, 10)
  const wal = join(historian, 'wal')
  const segments = readdirSync(wal).filter((name) => name.endsWith('.wal'))
  const path = join(wal, segments.sort().at(-1)!)
  const bytes = readFileSync(path)
  // Behind the last record are zeros.
  const end = bytes.findLastIndex((byte) => byte !== 0)
  bytes[end - 20]! ^= 1
  writeFileSync(path, bytes)
  await store.close()
  await directory.close()

  const restore = (to: number | null, target: string) =>
    restoreDataDirectory(backup, target, { to, only: null, archiveOf: () => archive }, signal)
  await assert.rejects(restore(null, join(folder, 'all')), {
    code: 'RESTORE_IMPOSSIBLE',
    message: /\.log in \S+ is damaged: the checksum of record 10 of the log is wrong/,
  })
  await restore(moment, join(folder, 'before'))
  assert.equal(changesIn(await readModel(historianDirectory(join(folder, 'before'), 'local'))), 9)
})

test('while the disk of the archive is full the service writes on and says so; what waits comes later', {
  skip: noSmallDisk,
}, async (t) => {
  const cwd = temporaryFolder(t)
  const archive = mountSmallDisk(t, 1)
  const config = join(cwd, 'plant.yaml')
  writeFileSync(config, `historians: {local: {type: embedded, archive: ${archive}, archiveSeconds: 1}}\n`)
  // The first process archives; every worker says what it says.
  const args = ['--config', config, '--workers', '2']
  const service = await serve(args, { cwd, env: { TIDEMARK_LOG_LEVEL: 'error' } })
  const write = async (number: number) => {
    const body = { createTags: true, points: { 'local/A': [{ timestamp: number * 1000, value: number }] } }
    const answer = await service.post('/historian/write/points', body, service.writeKey)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
  }
  const reason = async () => {
    const response = await fetch(`${service.url}/health/ready`, {
      headers: { 'X-Api-Key': service.writeKey },
    })
    const { status, historians } = (await response.json()) as {
      status: string
      historians: { state: string; reason?: string }[]
    }
    assert.deepEqual([response.status, status, historians[0]!.state], [200, 'ready', 'up'])
    return historians[0]!.reason ?? null
  }
  await write(1)
  const filler = join(archive, 'filler')
  fillDisk(filler)
  // One worker hears of it before the other, and either may answer.
  for (let number = 2, inARow = 0; inARow < 8; number++) {
    await write(number)
    const said = await reason()
    if (said !== null) assert.equal(said, 'the log cannot be archived: the disk is full')
    inARow = said === null ? 0 : inARow + 1
    await wait(20)
  }
  for (let number = 1_000; number < 1_020; number++) await write(number)
  assert.equal(service.stderr().match(/the log cannot be archived/g)!.length, 1)
  const metrics = await (
    await fetch(`${service.url}/metrics`, { headers: { 'X-Api-Key': service.writeKey } })
  ).text()
  assert.match(
    metrics,
    /^tidemark_historian_archive_lag_seconds\{historian="local",type="embedded"\} [\d.]+$/m,
  )
  rmSync(filler)
  for (let inARow = 0; inARow < 8; await wait(50)) inARow = (await reason()) === null ? inARow + 1 : 0
  assert.equal(await service.stop(), 0)
  const [id] = readdirSync(join(archive, 'local'))
  const found = readdirSync(join(archive, 'local', id!)).flatMap((name) => parseArchiveName(name) ?? [])
  let next = 1
  for (const { firstSequence, lastSequence } of found) {
    assert.equal(firstSequence, next)
    next = lastSequence + 1
  }
  assert.ok(next > 20)
  assert.ok(existsSync(join(archive, 'local', id!, 'archived-until')))
})
