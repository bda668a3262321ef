import assert from 'node:assert/strict'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import type { Files } from '../files/files.ts'
import { systemFiles } from '../files/system-files.ts'
import { inlineDevice } from '../wal/device.ts'
import { LogWriter } from '../wal/log-writer.ts'
import { bodyOf } from '../wal/wal.fixture.ts'
import {
  ARCHIVE_HEADER_BYTES,
  archiveFolderOf,
  archiveName,
  decodeArchiveHeader,
  decodeMark,
  encodeMark,
  parseArchiveName,
} from './archive-file.ts'
import { archiveSegment, writeMark } from './archive-segment.ts'
import { startArchiveWriter } from './archive-thread.ts'

const ID = 'ab'.repeat(16)

/** A segment of some groups, one for each commit time. */
async function makeSegment(t: TestContext, times: readonly number[], firstNumber = 1) {
  const wal = join(temporaryFolder(t), 'wal')
  mkdirSync(wal)
  let group = 0
  const start = { token: 3, generation: 1, nextSequence: firstNumber }
  const log = new LogWriter(inlineDevice(systemFiles), wal, start, () => times[group]!)
  for (; group < times.length; group++) await log.append([bodyOf(group + 1), bodyOf(group + 2)])
  await log.close()
  return { path: join(wal, '00000003-00000001.wal'), bytes: log.bytes }
}

function makePlace(t: TestContext) {
  const archive = temporaryFolder(t)
  return { archive, folder: archiveFolderOf(archive, 'plant', ID) }
}

test('an archived segment says by itself whose it is, which records it has, and when they were committed', async (t) => {
  const segment = await makeSegment(t, [1_000, 3_000, 2_000], 11)
  const place = makePlace(t)
  archiveSegment(systemFiles, { place, id: ID, ...segment })
  const name = '0000000000000011-0000000000000016-00000003-00000001.log'
  assert.deepEqual(readdirSync(place.folder), [name])
  const bytes = readFileSync(join(place.folder, name))
  const { checksum, ...header } = decodeArchiveHeader(bytes)
  assert.ok(checksum > 0)
  assert.deepEqual(header, {
    id: ID,
    firstSequence: 11,
    lastSequence: 16,
    firstTime: 1_000,
    lastTime: 2_000,
    bytes: segment.bytes,
    token: 3,
    segment: 1,
  })
  // Without the zeros that reserve room in the log.
  assert.deepEqual(
    bytes.subarray(ARCHIVE_HEADER_BYTES),
    readFileSync(segment.path).subarray(0, segment.bytes),
  )
  assert.equal(archiveName(parseArchiveName(name)!), name)
})

test('the same segment is archived once, one that has grown again, and other records of the same numbers never', async (t) => {
  const segment = await makeSegment(t, [1, 2, 3])
  const place = makePlace(t)
  const files = new FailingFiles(systemFiles)
  archiveSegment(files, { place, id: ID, ...segment })
  files.plan = (call) => (call === 'write' || call === 'rename' ? { code: 'EIO' } : null)
  archiveSegment(files, { place, id: ID, ...segment })
  const [name] = readdirSync(place.folder)
  // One whose last group counts only since a later start.
  rmSync(join(place.folder, name!))
  const shorter = await shortened(segment)
  archiveSegment(systemFiles, { place, id: ID, ...shorter })
  archiveSegment(systemFiles, { place, id: ID, ...segment })
  assert.equal(readdirSync(place.folder).length, 2)
  // A copy of the historian was served as well.
  const other = await makeSegment(t, [1, 2])
  assert.throws(() => archiveSegment(systemFiles, { place, id: ID, ...other }), { code: 'OTHER_RECORDS' })
  // What was damaged in the archive is written anew.
  const bytes = readFileSync(join(place.folder, name!))
  const damaged = Buffer.from(bytes)
  damaged[75]! ^= 1
  writeFileSync(join(place.folder, name!), damaged)
  archiveSegment(systemFiles, { place, id: ID, ...segment })
  assert.deepEqual(readFileSync(join(place.folder, name!)), bytes)
})

/** Without its last group. */
async function shortened({ path }: { path: string; bytes: number }) {
  const bytes = readFileSync(path)
  let at = 64
  for (let group = 0; group < 2; group++) at += bytes.readUInt32LE(at + 8)
  return { path, bytes: at }
}

test('nothing has a name in the archive that is not whole, whatever fails', async (t) => {
  const segment = await makeSegment(t, [1, 2, 3])
  const whole = makePlace(t)
  archiveSegment(systemFiles, { place: whole, id: ID, ...segment })
  const [name] = readdirSync(whole.folder)
  const expected = readFileSync(join(whole.folder, name!))
  for (let failing = 0; ; failing++) {
    const place = makePlace(t)
    const files = new FailingFiles(systemFiles, (_call, _path, number) =>
      number === failing ? { code: 'ENOSPC', short: true } : null,
    )
    try {
      archiveSegment(files, { place, id: ID, ...segment })
      if (files.calls <= failing) break
    } catch (error) {
      assert.equal((error as { code?: unknown }).code, 'ENOSPC')
    }
    for (const one of systemFiles.list(place.folder).filter((found) => found.endsWith('.log'))) {
      assert.deepEqual(readFileSync(join(place.folder, one)), expected)
    }
    archiveSegment(systemFiles, { place, id: ID, ...segment })
    assert.deepEqual(readdirSync(place.folder), [name])
  }
})

test('one that is killed amid what another one is about to name leaves nothing unfinished under that name', async (t) => {
  const segment = await makeSegment(t, [1, 2, 3])
  const place = makePlace(t)
  const mark = { lastSequence: 6, until: 1 }
  /** Does something twice: the second time, which is killed at a write, before the first gives its file the name. */
  const twice = (work: (files: Files) => void, killedAt: number) => {
    let writes = 0
    const killed = new FailingFiles(systemFiles, (call) => {
      if (call === 'write') writes++
      return writes > killedAt ? { code: 'EIO', short: true } : null
    })
    const first = new FailingFiles(systemFiles, (call) => {
      if (call === 'rename') assert.throws(() => work(killed), { code: 'EIO' })
      return null
    })
    try {
      work(first)
    } catch (error) {
      assert.equal((error as { code?: unknown }).code, 'ENOENT')
    }
  }
  twice((files) => archiveSegment(files, { place, id: ID, ...segment }), 1)
  twice((files) => writeMark(files, place, mark), 0)
  for (const name of readdirSync(place.folder)) {
    const bytes = readFileSync(join(place.folder, name))
    if (name.endsWith('.log')) assert.equal(bytes.length, ARCHIVE_HEADER_BYTES + segment.bytes)
    if (name === 'archived-until') assert.deepEqual(decodeMark(bytes), mark)
  }
  archiveSegment(systemFiles, { place, id: ID, ...segment })
  writeMark(systemFiles, place, mark)
  assert.deepEqual(readdirSync(place.folder).length, 2)
})

test('a file of the archive that was cut is written anew', async (t) => {
  const segment = await makeSegment(t, [1, 2, 3])
  const place = makePlace(t)
  archiveSegment(systemFiles, { place, id: ID, ...segment })
  const [name] = readdirSync(place.folder)
  const path = join(place.folder, name!)
  const bytes = readFileSync(path)
  for (const length of [0, ARCHIVE_HEADER_BYTES + 1, bytes.length - 1]) {
    writeFileSync(path, bytes.subarray(0, length))
    archiveSegment(systemFiles, { place, id: ID, ...segment })
    assert.deepEqual(readFileSync(path), bytes)
  }
})

test('a segment that is damaged, or an archive that is not there, is an error, and nothing is made', async (t) => {
  const segment = await makeSegment(t, [1, 2, 3])
  const place = makePlace(t)
  assert.throws(() => archiveSegment(systemFiles, { place, id: ID, ...segment, bytes: segment.bytes - 8 }))
  assert.throws(() => archiveSegment(systemFiles, { place, id: ID, ...segment, bytes: segment.bytes + 1e6 }))
  assert.deepEqual(systemFiles.list(place.folder), [])
  const missing = { archive: join(place.archive, 'none'), folder: join(place.archive, 'none', 'plant', ID) }
  assert.throws(() => archiveSegment(systemFiles, { place: missing, id: ID, ...segment }), {
    code: 'NO_ARCHIVE',
  })
  assert.throws(() => writeMark(systemFiles, missing, { lastSequence: 1, until: 1 }), { code: 'NO_ARCHIVE' })
  assert.ok(!systemFiles.exists(missing.archive))
})

test('a mark is read as it was written, and no bit of it can be another', (t) => {
  const place = makePlace(t)
  const mark = { lastSequence: 12, until: 1_767_225_600_000_000 }
  writeMark(systemFiles, place, { lastSequence: 1, until: 1 })
  writeMark(systemFiles, place, mark)
  const bytes = readFileSync(join(place.folder, 'archived-until'))
  assert.deepEqual(decodeMark(bytes), mark)
  for (let bit = 0; bit < 28 * 8; bit++) {
    const changed = Buffer.from(encodeMark(mark))
    changed[bit >> 3]! ^= 1 << (bit & 7)
    const read = decodeMark(changed)
    assert.ok(read === null || (bit >= 32 && bit < 64), `bit ${bit}`)
  }
})

test('an archive that nobody has tidied up for years goes on', {
  skip: existsSync('/dev/shm') ? false : 'there is no file system in memory for so many files',
}, async (t) => {
  const segment = await makeSegment(t, [1, 2], 1_000_001)
  const archive = temporaryFolder(t, '/dev/shm')
  const place = { archive, folder: archiveFolderOf(archive, 'plant', ID) }
  mkdirSync(place.folder, { recursive: true })
  // One for each minute of some nine months.
  for (let i = 1; i <= 400_000; i++) {
    const name = archiveName({ firstSequence: i, lastSequence: i, token: 1, segment: i })
    closeSync(openSync(join(place.folder, name), 'w'))
  }
  const writer = startArchiveWriter()
  t.after(() => writer.close())
  const gap = await writer.archive({ place, id: ID, ...segment })
  assert.deepEqual(gap, { first: 400_001, last: 1_000_000 })
})

test('a file of the archive whose disk stopped amid its sync is not taken for archived by the next try either', async (t) => {
  const order = { place: makePlace(t), id: ID, ...(await makeSegment(t, [1_000])) }
  const files = new FailingFiles(systemFiles)
  files.plan = (call) => (call === 'confirm' ? { code: 'EROFS' } : null)
  for (let tries = 0; tries < 2; tries++) {
    assert.throws(() => archiveSegment(files, order), { code: 'EROFS' })
    assert.equal(readdirSync(order.place.folder).length, 1)
  }
  files.plan = () => null
  assert.equal(archiveSegment(files, order), null)
})
