import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { open, STEPS } from '../../../test/durability/workload.ts'
import { anyValue, withOther } from '../../../test/property/other-json.ts'
import { archiveSegment } from '../archive/archive-segment.ts'
import { NoWayThere, planReplay } from '../archive/read-archive.ts'
import { Damage } from '../damage.ts'
import { readFile } from '../files/files.ts'
import { systemFiles } from '../files/system-files.ts'
import { listManifests, ManifestWriter, manifestName, readManifest } from '../manifest/manifest-file.ts'
import type { RetentionState } from '../manifest/retention-state.ts'
import { readFooter } from '../parts/footer.ts'
import { GROUP_HEADER_BYTES } from '../wal/group.ts'
import { PublicationReader, Publisher, publicationName } from '../wal/publication.ts'
import { SEGMENT_HEADER_BYTES } from '../wal/segment.ts'
import { bodyOf, readBack, startLog } from '../wal/wal.fixture.ts'

/*
 * What has a right checksum and was never written: each decoder takes it or says that it is damaged. It comes to an
 * end, takes no memory that the file has not, and throws nothing else. Those of records, pages, blocks, catalogs and
 * tombstones are tried beside their code.
 */

const NUMBERS = [0, 1, 7, 8, 2 ** 31, 2 ** 32 - 1]
const { signal } = new AbortController()

/** Bytes of which some are others: at places of a header, as 32-bit numbers or as single bytes. */
const changes = (bytes: number) =>
  fc.array(
    fc.record({
      at: fc.nat(bytes - 4),
      value: fc.oneof(fc.constantFrom(...NUMBERS), fc.nat(2 ** 32 - 1)),
      isByte: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  )

function apply(
  bytes: Buffer,
  from: number,
  made: readonly { at: number; value: number; isByte: boolean }[],
): void {
  for (const { at, value, isByte } of made) {
    if (isByte) bytes[from + at] = value & 0xff
    else bytes.writeUInt32LE(value >>> 0, from + (at & ~3))
  }
}

/** Checksum of bytes, behind them. */
function setChecksum(bytes: Buffer, from: number, length: number): void {
  bytes.writeUInt32LE(crc32(bytes.subarray(from, from + length)), from + length)
}

/** Damage, or what it gives. */
function attempt<T>(work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    assert.ok(error instanceof Damage || error instanceof NoWayThere, String(error))
    return null
  }
}

async function someLog(folder: string): Promise<{ readonly path: string; readonly whole: Buffer }> {
  const log = startLog(folder)
  for (let i = 1; i <= 4; i++) await log.append([bodyOf(2 * i - 1), bodyOf(2 * i)])
  const { offset } = log.position
  await log.close()
  const path = join(folder, '00000001-00000001.wal')
  return { path, whole: readFileSync(path).subarray(0, offset) }
}

test('whatever the headers of a segment and of its groups say, the log is read or damaged', async (t) => {
  const folder = temporaryFolder(t)
  const { path, whole } = await someLog(folder)
  const groups: number[] = []
  for (let at = SEGMENT_HEADER_BYTES; at < whole.length; at += whole.readUInt32LE(at + 8)) groups.push(at)
  assert.equal(groups.length, 4)
  const places = [
    { from: 0, length: SEGMENT_HEADER_BYTES - 4 },
    ...groups.map((from) => ({ from, length: GROUP_HEADER_BYTES - 4 })),
  ]
  fc.assert(
    fc.property(fc.constantFrom(...places), changes(40), ({ from, length }, made) => {
      const bytes = Buffer.from(whole)
      apply(bytes, from, made)
      setChecksum(bytes, from, length)
      writeFileSync(path, bytes)
      const { records } = readBack(folder)
      assert.ok(records.length <= 8)
    }),
    { numRuns: 1_500 },
  )
})

test('whatever an archived segment says, there is a way to a moment or a reason', async (t) => {
  const folder = temporaryFolder(t)
  const [wal, archive] = [join(folder, 'wal'), join(folder, 'archive')]
  mkdirSync(archive)
  const { path, whole } = await someLog(wal)
  const id = 'ab'.repeat(16)
  const place = { archive, folder: join(archive, id) }
  archiveSegment(systemFiles, { place, id, path, bytes: whole.length })
  const [name] = readdirSync(place.folder)
  const archived = join(place.folder, name!)
  const file = readFileSync(archived)
  const header = file.length - whole.length
  const group = header + SEGMENT_HEADER_BYTES
  fc.assert(
    fc.property(
      fc.constantFrom('archive', 'segment', 'group'),
      changes(40),
      fc.constantFrom(0, 4, 7),
      (kind, made, after) => {
        const bytes = Buffer.from(file)
        if (kind === 'segment') {
          apply(bytes, header, made)
          setChecksum(bytes, header, SEGMENT_HEADER_BYTES - 4)
        } else if (kind === 'group') {
          apply(bytes, group, made)
          setChecksum(bytes, group, GROUP_HEADER_BYTES - 4)
        }
        bytes.writeUInt32LE(crc32(bytes.subarray(header)), 72)
        if (kind === 'archive') apply(bytes, 8, made)
        setChecksum(bytes, 0, 76)
        writeFileSync(archived, bytes)
        attempt(() => planReplay(systemFiles, { folder: place.folder, id }, after, null, signal))
      },
    ),
    { numRuns: 1_500 },
  )
})

test('whatever an owner published, it is read, or nothing is', (t) => {
  const folder = temporaryFolder(t)
  const publisher = new Publisher(systemFiles, folder, 1)
  publisher.publish({ segment: 1, offset: 64, lastSequence: 1, manifest: 1, manifestBytes: 10 })
  publisher.close()
  const path = join(folder, publicationName(1))
  const whole = readFileSync(path)
  fc.assert(
    fc.property(changes(40), fc.boolean(), (made, isImmutable) => {
      const bytes = Buffer.from(whole)
      apply(bytes, 0, made)
      if (isImmutable) setChecksum(bytes, 0, 40)
      writeFileSync(path, bytes)
      const reader = new PublicationReader(systemFiles, folder)
      reader.read()
      reader.close()
    }),
    { numRuns: 500 },
  )
})

/** Texts of the entries of a manifest. */
function textsOf(manifest: Buffer): string[] {
  const texts: string[] = []
  for (let at = 0; at < manifest.length; at += 8 + manifest.readUInt32LE(at)) {
    texts.push(manifest.toString('utf8', at + 8, at + 8 + manifest.readUInt32LE(at)))
  }
  return texts
}

function entryOf(text: string): Buffer {
  const bytes = Buffer.from(text)
  const header = Buffer.alloc(8)
  header.writeUInt32LE(bytes.length, 0)
  header.writeUInt32LE(crc32(bytes), 4)
  return Buffer.concat([header, bytes])
}

/** Has other values in the entries of the newest manifest, one at a time, and reads it. */
function changeEntries(folder: string, numRuns: number): void {
  const place = listManifests(systemFiles, folder).at(-1)!
  const path = join(folder, manifestName(place))
  const texts = textsOf(readFileSync(path))
  assert.ok(texts.length > 3)
  fc.assert(
    fc.property(
      fc.nat(texts.length - 1),
      fc.nat(),
      fc.oneof(anyValue, fc.constant('no JSON')),
      (n, at, other) => {
        const changed = other === 'no JSON' ? texts[n]!.slice(1) : withOther(texts[n]!, at, other)
        writeFileSync(path, Buffer.concat(texts.map((text, i) => entryOf(i === n ? changed : text))))
        const read = attempt(() => readManifest(systemFiles, folder, place))
        if (read === null) return
        const { version } = read
        for (const { name, firstTime, lastTime } of version.parts) {
          assert.match(name, /^[\w.-]+$/)
          assert.ok(typeof firstTime === 'number' && typeof lastTime === 'number')
        }
        for (const { name, bytes } of [...version.accepted, ...version.kept]) {
          assert.match(name, /^[\w.-]+$/)
          assert.ok(Number.isSafeInteger(bytes), name)
        }
        assert.ok(Number.isSafeInteger(version.flushedSequence))
        assert.ok(['undefined', 'number'].includes(typeof version.copiedAt))
        assert.ok(['undefined', 'string'].includes(typeof version.follows))
        if (version.retention === null) return
        const { clock, matches, watermarks } = version.retention
        assert.equal(typeof clock, 'number')
        assert.equal(matches.length, watermarks.length)
        assert.ok(watermarks.every((time) => typeof time === 'number'))
      },
    ),
    { numRuns },
  )
}

test('whatever the entries of a manifest say, it is a version or damaged', async (t) => {
  const folder = temporaryFolder(t)
  const store = await open(systemFiles, folder)
  for (const step of STEPS) await step.run(store)
  await store.close()
  changeEntries(join(folder, 'manifest'), 2_000)
})

test('whatever a manifest says of copies, retention and the archive, it is a version or damaged', async (t) => {
  const folder = temporaryFolder(t)
  const retention: RetentionState = {
    clock: 1.7e15,
    matches: ['flow*', '*'],
    watermarks: [1.6e15, Number.NEGATIVE_INFINITY],
  }
  const kept = [
    { name: '00000001-00000001.wal', bytes: 64 },
    { name: '00000001-00000002.wal', bytes: 128 },
  ]
  const writer = new ManifestWriter(systemFiles, folder, {
    number: 1,
    token: 2,
    historian: 'plant',
    id: 'ab'.repeat(16),
    parts: [],
    catalog: null,
    flushedSequence: 5,
    flushedGeneration: 1,
    accepted: kept,
    kept,
    copiedAt: 1.7e15,
    follows: 'cd'.repeat(16),
    retention,
  })
  await writer.begin()
  await writer.edit({ retention: { ...retention, watermarks: [1.65e15, 1.6e15] } })
  await writer.edit({ kept: kept.slice(1), accepted: [] })
  await writer.edit({ retention: null })
  await writer.edit({ retention, kept: [] })
  writer.close()
  changeEntries(folder, 1_500)
})

test('whatever the footer of a part says, it is one or damaged', async (t) => {
  const folder = temporaryFolder(t)
  const fixture = join(import.meta.dirname, '../../../test/fixtures/part-v1')
  const [name] = readdirSync(fixture).filter((one) => one.endsWith('.part'))
  const whole = Buffer.from(readFile(systemFiles, join(fixture, name!)))
  const length = whole.readUInt32LE(whole.length - 16)
  const start = whole.length - 24 - length
  const text = whole.toString('utf8', start, start + length)
  const tail = whole.subarray(whole.length - 8)
  const path = join(folder, name!)
  fc.assert(
    fc.property(fc.nat(), fc.oneof(anyValue, fc.constant('no JSON')), (at, other) => {
      const json = Buffer.from(other === 'no JSON' ? text.slice(1) : withOther(text, at, other))
      const footer = Buffer.alloc(json.length + 16)
      json.copy(footer)
      footer.writeDoubleLE(start, json.length)
      footer.writeUInt32LE(json.length, json.length + 8)
      footer.writeUInt32LE(crc32(footer.subarray(0, json.length + 12)), json.length + 12)
      writeFileSync(path, Buffer.concat([whole.subarray(0, start), footer, tail]))
      const file = systemFiles.open(path)
      try {
        attempt(() => readFooter(file))
      } finally {
        file.close()
      }
    }),
    { numRuns: 1_000 },
  )
})
