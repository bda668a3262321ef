import assert from 'node:assert/strict'
import { readFileSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { until } from '../../../test/until.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { openFiles, openInProcess } from '../files/open-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { AppendFailed, inlineDevice } from './device.ts'
import { LogWriter } from './log-writer.ts'
import { type Publication, PublicationReader, Publisher, publicationName } from './publication.ts'
import { RemovedSpans } from './removed-spans.ts'
import { ThreadDevice } from './thread-device.ts'
import { bodyOf, expected, readBack, startLog, versionOf } from './wal.fixture.ts'

/** Writes records 1 to n, so many in a group; gives where each group ends, the beginning first. */
async function writeGroups(log: LogWriter, count: number, each: number): Promise<number[]> {
  const ends = [64]
  for (let first = 1; first <= count; first += each) {
    const numbers = Array.from({ length: Math.min(each, count - first + 1) }, (_, i) => first + i)
    await log.append(numbers.map(bodyOf))
    ends.push(log.position.offset)
  }
  return ends
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => expected(i + 1))
const NAME = '00000001-00000001.wal'

test('records come back as they were written, in order', async (t) => {
  const folder = temporaryFolder(t)
  const log = startLog(folder)
  await writeGroups(log, 40, 7)
  assert.equal(log.nextSequence, 41)
  const read = readBack(folder)
  assert.deepEqual(read.records, upTo(40))
  assert.deepEqual(read.damages, [])
  assert.deepEqual(read.segments, [{ name: NAME, bytes: log.position.offset }])
  await log.close()
})

test('the thread of a log does what is done here', async (t) => {
  const folder = temporaryFolder(t)
  const log = new LogWriter(new ThreadDevice(() => {}), folder, { token: 1, generation: 1, nextSequence: 1 })
  await writeGroups(log, 20, 3)
  log.rotate()
  // More than the buffer holds at first, and what comes behind it.
  const times = Float64Array.from({ length: 100_000 }, (_, i) => i)
  const points = { times, values: times, statuses: new Uint8Array(100_000) }
  await log.append([
    {
      catalog: null,
      removed: RemovedSpans.none,
      points: { tags: Uint32Array.of(1), offsets: Uint32Array.of(0, 100_000), points },
    },
  ])
  await log.append([bodyOf(22)])
  await log.close()
  const read = readBack(folder)
  assert.deepEqual(read.damages, [])
  assert.equal(read.records.length, 22)
  assert.deepEqual(read.records[21], expected(22))
  assert.equal(read.rotations, 1)
})

for (const [where, isAside] of [
  ['this thread', false],
  ['a thread of its own', true],
] as const) {
  test(`a segment that is dropped is closed, and the log goes on at once: on ${where}`, async (t) => {
    const folder = temporaryFolder(t)
    const { files, paths } = openFiles()
    const device = isAside ? new ThreadDevice(() => {}) : inlineDevice(files)
    const log = new LogWriter(device, folder, { token: 1, generation: 1, nextSequence: 1 })
    const open = () => (isAside ? (openInProcess(folder) ?? []) : paths)
    await log.append([bodyOf(1)])
    log.rotate()
    log.dropUntil(1)
    await until(() => open().length === 0, 'it is closed')
    await log.append([bodyOf(2)])
    log.rotate()
    log.dropUntil(2)
    await log.append([bodyOf(3)])
    // The one that is written stays, and so does one that is being begun.
    log.dropUntil(2)
    await log.append([bodyOf(4)])
    log.rotate()
    const appended = log.append([bodyOf(5)])
    log.dropUntil(3)
    await appended
    log.rotate()
    log.dropUntil(4)
    await log.close()
    assert.deepEqual(open(), [])
    assert.deepEqual(
      readBack(folder).segments.map(({ name }) => name.slice(9, 17)),
      ['00000001', '00000002', '00000003', '00000004'],
    )
    assert.deepEqual(readBack(folder).records, upTo(5))
  })
}

test('a thread that is refused a segment says why, and goes on', async (t) => {
  const folder = temporaryFolder(t)
  const device = new ThreadDevice(() => {})
  await assert.rejects(device.begin(join(folder, 'none', 'a.wal'), folder, new Uint8Array(64)), {
    code: 'ENOENT',
  })
  await device.begin(join(folder, 'a.wal'), folder, new Uint8Array(64))
  await device.close()
})

test('a log that is cut anywhere loses the group at its end, and says nothing', async (t) => {
  const folder = temporaryFolder(t)
  const log = startLog(folder)
  const ends = await writeGroups(log, 12, 3)
  await log.close()
  const path = join(folder, NAME)
  const whole = readFileSync(path).subarray(0, ends.at(-1))
  for (let length = whole.length; length >= 64; length -= 4) {
    writeFileSync(path, whole.subarray(0, length))
    const groups = ends.filter((end) => end <= length).length - 1
    const read = readBack(folder)
    assert.deepEqual([read.records.length, read.damages], [groups * 3, []], `at ${length}`)
  }
})

test('what was published and cannot be read is damage, whatever follows', async (t) => {
  const folder = temporaryFolder(t)
  const log = startLog(folder)
  const ends = await writeGroups(log, 12, 3)
  const published = log.position
  await log.close()
  truncateSync(join(folder, NAME), ends[3]! + 20)
  const read = readBack(folder, versionOf(1), published)
  assert.deepEqual(read.records, upTo(9))
  assert.ok(read.damages.length > 0)
  assert.deepEqual(
    readBack(folder, versionOf(1), { ...published, offset: ends[3]!, lastSequence: 9 }).damages,
    [],
  )
})

test('a flipped bit is found: the last group is not there, of an earlier one the other records are', async (t) => {
  const folder = temporaryFolder(t)
  const log = startLog(folder)
  const ends = await writeGroups(log, 12, 3)
  await log.close()
  const path = join(folder, NAME)
  const whole = readFileSync(path).subarray(0, ends.at(-1))
  for (let at = 64; at < whole.length; at += 3) {
    const bytes = Buffer.from(whole)
    bytes[at]! ^= 1 << (at % 8)
    writeFileSync(path, bytes)
    const read = readBack(folder)
    const isLast = at >= ends.at(-2)!
    if (isLast) assert.deepEqual([read.records, read.damages], [upTo(9), []], `at ${at}`)
    else {
      assert.ok(read.damages.length > 0, `at ${at} it is said`)
      const all = upTo(12).map((one) => JSON.stringify(one))
      for (const one of read.records)
        assert.ok(all.includes(JSON.stringify(one)), `at ${at} nothing wrong is read`)
      assert.ok(read.records.length >= 9, `at ${at} the others are read: ${read.records.length}`)
    }
  }
})

test('a group whose sync failed does not count once another one is there', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const log = startLog(folder, 1, files)
  await log.append([bodyOf(1)])
  files.plan = (call) => (call === 'sync' ? { code: 'EIO' } : null)
  await assert.rejects(log.append([bodyOf(2)]), (error) => error instanceof AppendFailed && !error.isIntact)
  // It is whole, and nobody knows that it failed: it may count.
  assert.deepEqual(readBack(folder).records, upTo(2))
  files.plan = () => null
  await log.append([bodyOf(9)])
  const read = readBack(folder)
  assert.deepEqual(read.records, [expected(1), expected(9, 2)])
  assert.deepEqual(read.damages, [])
  assert.deepEqual(
    read.segments.map(({ name }) => name),
    [NAME, '00000001-00000002.wal'],
  )
  await log.close()
})

test('a disk that is full takes nothing of a group, and more when it has room', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const log = startLog(folder, 1, files)
  await log.append([bodyOf(1)])
  files.plan = (call) => (call === 'write' ? { code: 'ENOSPC', short: true } : null)
  await assert.rejects(log.append([bodyOf(2)]), (error) => error instanceof AppendFailed && error.isIntact)
  assert.deepEqual(readBack(folder).records, upTo(1))
  files.plan = (call) =>
    call === 'truncate' ? { code: 'EIO' } : call === 'write' ? { code: 'ENOSPC', short: true } : null
  await assert.rejects(log.append([bodyOf(2)]), (error) => error instanceof AppendFailed && !error.isIntact)
  files.plan = (call) => (call === 'create' ? { code: 'ENOSPC' } : null)
  for (let i = 0; i < 3; i++) await assert.rejects(log.append([bodyOf(2)]), { code: 'ENOSPC' })
  assert.deepEqual(
    log.completed().map(({ name }) => name),
    ['00000001-00000001.wal'],
    'what is refused leaves nothing in memory',
  )
  files.plan = () => null
  await log.append([bodyOf(2)])
  await log.append([bodyOf(3)])
  const read = readBack(folder)
  assert.deepEqual([read.records, read.damages], [upTo(3), []])
  await log.close()
})

test('a missing segment is damage, and so is a missing number', async (t) => {
  const folder = temporaryFolder(t)
  const log = startLog(folder)
  for (let i = 1; i <= 3; i++) {
    await log.append([bodyOf(i)])
    log.rotate()
  }
  await log.close()
  systemFiles.remove(join(folder, '00000001-00000002.wal'))
  const read = readBack(folder)
  assert.deepEqual(read.records, [expected(1), expected(3)])
  assert.ok(read.damages.some((one) => /segment 2 .* missing/.test(one)))
  assert.ok(read.damages.some((one) => /records 2 to 2 .* missing/.test(one)))
})

test('a segment whose header cannot be read is damage when it has groups, and nothing when it was not made', async (t) => {
  const folder = temporaryFolder(t)
  const log = startLog(folder)
  for (let i = 1; i <= 2; i++) {
    await log.append([bodyOf(i)])
    log.rotate()
  }
  await log.close()
  const last = join(folder, '00000001-00000002.wal')
  const whole = readFileSync(last)
  const bytes = Buffer.from(whole)
  bytes[20]! ^= 1
  writeFileSync(last, bytes)
  // Nothing was published: only the segment itself tells that something was there.
  assert.deepEqual(readBack(folder).damages, ['the checksum of the header of a segment of the log is wrong'])
  writeFileSync(last, whole)
  for (const length of [0, 30, 64]) {
    for (const name of ['00000001-00000000.wal', '00000001-00000003.wal']) {
      const path = join(folder, name)
      writeFileSync(path, Buffer.alloc(length, 7))
      const { records, damages } = readBack(folder)
      assert.deepEqual([records, damages], [upTo(2), []], `${name} with ${length} bytes`)
      systemFiles.remove(path)
    }
  }
})

test('what is flushed is not read, and bytes behind those that a successor accepted do not count', async (t) => {
  const folder = temporaryFolder(t)
  const log = startLog(folder)
  await log.append([bodyOf(1)])
  log.rotate()
  await log.append([bodyOf(2)])
  const accepted = log.position.offset
  await log.append([bodyOf(3)])
  await log.close()
  assert.deepEqual(readBack(folder, versionOf(1, { flushedGeneration: 1, flushedSequence: 1 })).records, [
    expected(2),
    expected(3),
  ])
  const successor = versionOf(2, {
    flushedSequence: 1,
    accepted: [{ name: '00000001-00000002.wal', bytes: accepted }],
  })
  assert.deepEqual(readBack(folder, successor).records, [expected(2)])
})

const publicationOf = (token: number): Publication => ({
  token,
  segment: 2,
  offset: 2 ** 40,
  lastSequence: 12,
  manifest: 7,
  manifestBytes: 99,
})

test('what was published is read again, and half of it is nothing', (t) => {
  const folder = temporaryFolder(t)
  const reader = new PublicationReader(systemFiles, folder)
  assert.equal(reader.read(), null)
  const publisher = new Publisher(systemFiles, folder, 3)
  assert.equal(reader.read(), null)
  publisher.publish(publicationOf(3))
  const read = reader.read()
  assert.deepEqual(read, publicationOf(3))
  assert.equal(reader.read(), read)
  publisher.publish({ ...publicationOf(3), lastSequence: 13 })
  assert.deepEqual(reader.read(), { ...publicationOf(3), lastSequence: 13 })
  const path = join(folder, publicationName(3))
  writeFileSync(path, readFileSync(path).fill(0, 20, 24))
  assert.equal(reader.read(), null)
  publisher.close()
  reader.close()
})

test('the publication of the last owner that has one counts, whatever those before it publish and when', (t) => {
  const folder = temporaryFolder(t)
  const first = new Publisher(systemFiles, folder, 1)
  first.publish(publicationOf(1))
  const reader = new PublicationReader(systemFiles, folder)
  const tokenRead = () => [reader, new PublicationReader(systemFiles, folder)].map((one) => one.read()?.token)
  assert.deepEqual(tokenRead(), [1, 1])
  const third = new Publisher(systemFiles, folder, 3)
  assert.deepEqual(tokenRead(), [1, 1])
  third.publish(publicationOf(3))
  assert.deepEqual(tokenRead(), [3, 3])
  // Nobody reads what these say, however late.
  first.publish(publicationOf(1))
  const second = new Publisher(systemFiles, folder, 2)
  second.publish(publicationOf(2))
  assert.deepEqual(tokenRead(), [3, 3])
  // A reader that came while the next one had published nothing finds it when it has.
  const fourth = new Publisher(systemFiles, folder, 4)
  const other = new PublicationReader(systemFiles, folder)
  assert.equal(other.read()?.token, 3)
  fourth.publish(publicationOf(4))
  assert.deepEqual([other.read()?.token, ...tokenRead()], [4, 4, 4])
  assert.deepEqual(systemFiles.list(folder), [publicationName(4)])
})

test('a reader whose file was removed on another machine of a network file system finds that of the next owner', (t) => {
  const folder = temporaryFolder(t)
  new Publisher(systemFiles, folder, 1).publish(publicationOf(1))
  const files = new FailingFiles(systemFiles)
  const reader = new PublicationReader(files, folder)
  assert.equal(reader.read()?.token, 1)
  new Publisher(systemFiles, folder, 2).publish(publicationOf(2))
  files.plan = (call, path) =>
    call === 'read' && path.endsWith(publicationName(1)) ? { code: 'ESTALE' } : null
  assert.equal(reader.read()?.token, 2)
})

test('a publication counts under the name of its owner alone', (t) => {
  const folder = temporaryFolder(t)
  new Publisher(systemFiles, folder, 1).publish(publicationOf(1))
  writeFileSync(join(folder, publicationName(9)), readFileSync(join(folder, publicationName(1))))
  assert.equal(new PublicationReader(systemFiles, folder).read()?.token, 1)
})

test('an owner that cannot send readers of the one before it to its own publication has not published', (t) => {
  const folder = temporaryFolder(t)
  new Publisher(systemFiles, folder, 1).publish(publicationOf(1))
  const reader = new PublicationReader(systemFiles, folder)
  assert.equal(reader.read()?.token, 1)
  const files = new FailingFiles(systemFiles)
  const next = new Publisher(files, folder, 2)
  files.plan = (call, path) => (call === 'write' && path.endsWith('1') ? { code: 'EIO' } : null)
  assert.throws(() => next.publish(publicationOf(2)), { code: 'EIO' })
  files.plan = (call) => (call === 'remove' ? { code: 'EIO' } : null)
  next.publish(publicationOf(2))
  assert.equal(reader.read()?.token, 2)
  // What could not be removed is read by nobody, and goes with the next owner.
  assert.deepEqual(systemFiles.list(folder), [publicationName(1), publicationName(2)])
  const third = new Publisher(systemFiles, folder, 3)
  third.publish(publicationOf(3))
  assert.equal(reader.read()?.token, 3)
  assert.deepEqual(systemFiles.list(folder), [publicationName(3)])
})

test('a publication whose successor was lost in a power cut is the last one that is known', (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles, (call) => (call === 'remove' ? { code: 'EIO' } : null))
  new Publisher(systemFiles, folder, 1).publish(publicationOf(1))
  new Publisher(files, folder, 2).publish(publicationOf(2))
  const reader = new PublicationReader(systemFiles, folder)
  assert.equal(reader.read()?.token, 2)
  unlinkSync(join(folder, publicationName(2)))
  const other = new PublicationReader(systemFiles, folder)
  assert.equal(other.read()?.token, 1)
  new Publisher(systemFiles, folder, 3).publish(publicationOf(3))
  assert.equal(other.read()?.token, 3)
  // A part of the file did not reach the disk.
  truncateSync(join(folder, publicationName(3)), 48)
  assert.equal(new PublicationReader(systemFiles, folder).read()?.token, 3)
})
