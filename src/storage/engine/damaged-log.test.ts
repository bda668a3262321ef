import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()
const limits = { reserveBytes: 0, idleMergeAfterMs: 1e9, unlinkSoonestMs: 0 }
const owner = { historian: 'plant', owner: true, limits }
const batch = (tag: string) => writeBatch([{ tag, points: makeColumns(1) }], true)

/** Has an owner write a tag in each request. */
async function write(
  folder: string,
  tags: readonly string[],
  flushed: readonly string[] = [],
): Promise<void> {
  const store = await openFileStore(folder, owner)
  for (const tag of flushed) await store.write(batch(tag), signal)
  if (flushed.length > 0) await store.flush()
  for (const tag of tags) await store.write(batch(tag), signal)
  await store.close()
}

/** Paths of the segments, and what is in them, by name. */
function segmentsIn(folder: string): readonly string[] {
  const wal = join(folder, 'wal')
  return readdirSync(wal)
    .filter((name) => name.endsWith('.wal'))
    .map((name) => join(wal, name))
}

const contentsOf = (paths: readonly string[]) => paths.map((path) => [path, readFileSync(path)] as const)
const endOf = (path: string) => readFileSync(path).findLastIndex((byte) => byte !== 0)

function flipBit(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes[at]! ^= 1
  writeFileSync(path, bytes)
}

const DAMAGES: readonly { readonly what: string; harm(path: string): void }[] = [
  { what: 'the last record is changed', harm: (path) => flipBit(path, endOf(path)) },
  { what: 'the header is changed', harm: (path) => flipBit(path, 20) },
  { what: 'the end is missing', harm: (path) => truncateSync(path, endOf(path) - 4) },
  { what: 'all but the header is missing', harm: (path) => truncateSync(path, 64) },
  { what: 'the file is empty', harm: (path) => truncateSync(path, 0) },
  { what: 'the file is missing', harm: (path) => rmSync(path) },
]

for (const isAccepted of [false, true]) {
  for (const { what, harm } of DAMAGES) {
    test(`${what} of a segment that ${isAccepted ? 'a later' : 'the last'} owner accepted: so it stays, at every start`, async (t) => {
      const folder = temporaryFolder(t)
      await write(folder, ['a', 'b'], ['flushed', 'flushed too'])
      // It accepts the segment of the owner before, and has one of its own.
      if (isAccepted) await write(folder, ['c'])
      const segments = segmentsIn(folder)
      harm(segments[0]!)
      const left = contentsOf(segmentsIn(folder))
      const said = new Set<string>()
      for (let start = 0; start < 3; start++) {
        const store = await openFileStore(folder, owner)
        try {
          await assert.rejects(store.checkHealth(signal), (error: Error) => {
            said.add(error.message)
            return (error as Error & { code: string }).code === 'STORAGE_CORRUPT'
          })
          assert.ok((await store.check(signal)).problems.length > 0)
          assert.match(store.leftOut!, /reads without what is damaged of its log/)
          await assert.rejects(store.write(batch('z'), signal), { code: 'STORAGE_CORRUPT' })
          await assert.rejects(store.deleteTags(['flushed'], false, signal), { code: 'STORAGE_CORRUPT' })
          await assert.rejects(store.flush(), { code: 'STORAGE_CORRUPT' })
          assert.equal((await store.findTags(['flushed'], signal))[0]?.name, 'flushed')
        } finally {
          await store.close()
        }
        assert.deepEqual(contentsOf(segmentsIn(folder)), left)
      }
      assert.equal(said.size, 1)
    })
  }
}

test('what was damaged of the log counts again when it is put back', async (t) => {
  const folder = temporaryFolder(t)
  await write(folder, ['a', 'b'])
  const [path] = segmentsIn(folder)
  const whole = readFileSync(path!)
  truncateSync(path!, 64)
  for (let start = 0; start < 2; start++) await (await openFileStore(folder, owner)).close()
  writeFileSync(path!, whole)
  const store = await openFileStore(folder, owner)
  await store.checkHealth(signal)
  assert.deepEqual(
    (await store.findTags(['a', 'b'], signal)).map((tag) => tag?.name),
    ['a', 'b'],
  )
  await store.write(batch('c'), signal)
  await store.close()
})

test('a write that failed is not taken for the acknowledged one of a segment that is missing: changes are refused', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const before = await openFileStore(folder, { ...owner, files })
  await before.write(batch('a'), signal)
  files.plan = (call) => (call === 'sync' ? { code: 'EIO' } : null)
  await assert.rejects(before.write(batch('failed'), signal), { code: 'WRITE_OUTCOME_UNKNOWN' })
  files.plan = () => null
  await before.write(batch('acknowledged'), signal)
  await before.close()
  rmSync(segmentsIn(folder).at(-1)!)
  for (let start = 0; start < 2; start++) {
    const store = await openFileStore(folder, owner)
    await assert.rejects(store.checkHealth(signal), { code: 'STORAGE_CORRUPT' })
    assert.match((await store.check(signal)).problems.join(), /segment 2 of the log is missing/)
    await assert.rejects(store.write(batch('z'), signal), { code: 'STORAGE_CORRUPT' })
    await store.close()
  }
})

test('a damaged log on a full disk is said to be damaged', async (t) => {
  const folder = temporaryFolder(t)
  await write(folder, ['a', 'b'])
  truncateSync(segmentsIn(folder)[0]!, 64)
  const files = new FailingFiles(systemFiles, (call) => (call === 'create' ? { code: 'ENOSPC' } : null))
  const store = await openFileStore(folder, { ...owner, files })
  await assert.rejects(store.checkHealth(signal), { code: 'STORAGE_CORRUPT' })
  await assert.rejects(store.write(batch('z'), signal), { code: 'STORAGE_CORRUPT' })
  await store.close()
})
