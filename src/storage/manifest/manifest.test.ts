import assert from 'node:assert/strict'
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { Damage } from '../damage.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import type { PartInfo } from '../parts/part.ts'
import {
  listManifests,
  ManifestWriter,
  manifestName,
  oldManifests,
  readManifest,
  readMore,
} from './manifest-file.ts'
import { applyEdit, type Version } from './version.ts'

const VERSION: Version = {
  number: 1,
  token: 3,
  historian: 'plant',
  id: 'ab'.repeat(16),
  parts: [],
  catalog: null,
  flushedSequence: 0,
  flushedGeneration: 0,
  accepted: [{ name: '00000002-00000001.wal', bytes: 100 }],
  kept: [],
  retention: null,
}

function part(number: number, change: Partial<PartInfo> = {}): PartInfo {
  return {
    name: `00000003-0000000${number}.part`,
    bytes: 1000,
    firstSequence: number,
    lastSequence: number,
    firstTime: -5,
    lastTime: 5.0,
    points: 10,
    tags: 2,
    tombstones: 0,
    ...change,
  }
}

const NOWHERE = { at: 8, bytes: 0 }
const SECTIONS = { table: NOWHERE, tombstones: NOWHERE, smallTags: NOWHERE, largeTags: NOWHERE }

const onlyTombstones = part(2, {
  firstTime: Number.POSITIVE_INFINITY,
  lastTime: Number.NEGATIVE_INFINITY,
  points: 0,
})

const last = (folder: string) => {
  const place = listManifests(systemFiles, folder).at(-1)!
  return readManifest(systemFiles, folder, place)
}

test('edits make one version after the other, and all of them are read again', async (t) => {
  const folder = temporaryFolder(t)
  const writer = new ManifestWriter(systemFiles, folder, VERSION)
  await writer.begin()
  await writer.edit({ add: [part(1)], flushedSequence: 1, flushedGeneration: 1, accepted: [] })
  const first = readManifest(systemFiles, folder, writer.place)
  await writer.edit({ add: [onlyTombstones], catalog: { name: 'c', bytes: 7 } })
  await writer.edit({ add: [part(3)], remove: [part(1).name] })
  writer.close()
  const { version, bytes } = last(folder)
  assert.deepEqual(version, writer.version)
  assert.equal(bytes, writer.bytes)
  assert.equal(version.number, 4)
  assert.deepEqual(version.parts, [onlyTombstones, part(3)])
  assert.deepEqual(readMore(systemFiles, folder, writer.place, first, bytes), { version, bytes })
  assert.deepEqual(readManifest(systemFiles, folder, writer.place, first.bytes), first)
})

test('an edit that contradicts the version is refused', () => {
  assert.throws(() => applyEdit(VERSION, { remove: ['none'] }), /has no part none/)
})

test('the end of an edit that a power cut left is not there; anything else that cannot be read is damage', async (t) => {
  const folder = temporaryFolder(t)
  const writer = new ManifestWriter(systemFiles, folder, VERSION)
  await writer.begin()
  const first = writer.bytes
  await writer.edit({ add: [part(1)] })
  const before = writer.bytes
  const versionBefore = writer.version
  await writer.edit({ add: [part(3)] })
  writer.close()
  const path = join(folder, manifestName(writer.place))
  const whole = readFileSync(path)
  for (let length = before; length < whole.length; length++) {
    writeFileSync(path, whole)
    truncateSync(path, length)
    assert.deepEqual(last(folder).version, versionBefore)
    appendFileSync(path, Buffer.alloc(500))
    assert.deepEqual(last(folder).version, versionBefore)
  }
  for (let at = first; at < before; at++) {
    const bytes = Buffer.from(whole)
    bytes[at]! ^= 1 << (at % 8)
    writeFileSync(path, bytes)
    assert.throws(() => last(folder), Damage, `at ${at}`)
  }
  for (let at = 0; at < first; at++) {
    const bytes = Buffer.from(whole)
    bytes[at]! ^= 1 << (at % 8)
    writeFileSync(path, bytes)
    assert.throws(() => last(folder), Damage, `at ${at}`)
  }
})

test('after an edit that failed the next one begins a new manifest, in which it does not count', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const writer = new ManifestWriter(files, folder, VERSION)
  await writer.begin()
  for (const call of ['write', 'sync'] as const) {
    const { version } = writer
    files.plan = (one) => (one === call ? { code: 'EIO' } : null)
    await assert.rejects(writer.edit({ add: [part(9)] }), { code: 'EIO' })
    assert.deepEqual(writer.version, version)
    await assert.rejects(writer.edit({ add: [part(9)] }), { code: 'EIO' })
    files.plan = () => null
    await writer.edit({ flushedSequence: writer.version.flushedSequence + 1 })
    assert.deepEqual(last(folder).version, writer.version)
    assert.deepEqual(writer.version.parts, [])
  }
  writer.close()
  assert.ok(oldManifests(systemFiles, folder, writer.place).length > 0)
})

test('a manifest is given as replaced once, and not before a later one is durable', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const writer = new ManifestWriter(files, folder, VERSION)
  await writer.begin()
  const names = () => listManifests(systemFiles, folder).map(manifestName)
  const [first] = names()
  await writer.edit({ flushedSequence: 1 })
  assert.deepEqual(writer.takeReplaced(), [])
  for (const failed of ['write', 'sync']) {
    files.plan = (call) => (call === failed ? { code: 'EIO' } : null)
    await assert.rejects(writer.edit({ flushedSequence: 2 }), { code: 'EIO' })
    assert.deepEqual(writer.takeReplaced(), [])
  }
  files.plan = (call) => (call === 'syncFolder' ? { code: 'EIO' } : null)
  await assert.rejects(writer.edit({ flushedSequence: 2 }), { code: 'EIO' })
  const [, second] = names()
  assert.deepEqual([names().length, writer.takeReplaced()], [2, []])
  files.plan = () => null
  await writer.edit({ flushedSequence: 2 })
  assert.deepEqual(writer.takeReplaced(), [first, second])
  assert.deepEqual(writer.takeReplaced(), [])
  await writer.edit({ flushedSequence: 3 })
  assert.deepEqual(writer.takeReplaced(), [])
  writer.close()
})

test('a manifest that was not finished is none', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  files.plan = (one) => (one === 'rename' ? { code: 'EIO' } : null)
  await assert.rejects(new ManifestWriter(files, folder, VERSION).begin(), { code: 'EIO' })
  assert.deepEqual(listManifests(systemFiles, folder), [])
})

test('watermarks of retention are read again, those of rules that removed nothing too', async (t) => {
  const folder = temporaryFolder(t)
  const writer = new ManifestWriter(systemFiles, folder, VERSION)
  await writer.begin()
  const retention = { clock: 7, matches: ['a*', 'b'], watermarks: [5, Number.NEGATIVE_INFINITY] }
  await writer.edit({ retention })
  await writer.edit({ flushedSequence: 1 })
  assert.deepEqual(last(folder).version.retention, retention)
  await writer.edit({ retention: null })
  writer.close()
  assert.equal(last(folder).version.retention, null)
})

for (const [what, edit, message] of [
  [
    'that are no watermarks',
    { retention: { clock: 1, matches: ['a'], watermarks: [] } },
    /watermarks of retention/,
  ],
  [
    'of a rule that is no text',
    { retention: { clock: 1, matches: [3], watermarks: [1] } },
    /watermarks of retention/,
  ],
  ...[1_000, 12].map(
    (at) =>
      [
        `of a section at ${at}`,
        { add: [part(1, { sections: { ...SECTIONS, table: { at, bytes: 8 } } })] },
        /the field add of an edit/,
      ] as const,
  ),
  [
    'that it does not know',
    { forget: ['a'] },
    /an edit of the manifest has the field forget, which this version/,
  ],
] as const) {
  test(`a manifest with fields ${what} is refused`, async (t) => {
    const folder = temporaryFolder(t)
    const writer = new ManifestWriter(systemFiles, folder, VERSION)
    await writer.begin()
    await writer.edit(edit as object)
    writer.close()
    assert.throws(
      () => last(folder),
      (error) => error instanceof Damage && message.test(error.message),
    )
  })
}
