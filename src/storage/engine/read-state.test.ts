import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import type { RangeResult } from '../../historian/contract.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { changedFiles } from '../files/changed-files.fixture.ts'
import type { Files } from '../files/files.ts'
import { systemFiles } from '../files/system-files.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()
const ALL = { from: 0, to: 1_000, order: 'asc', limit: 1_000 } as const
const TAGS = Array.from({ length: 20 }, (_, i) => `tag ${i}`)

const batchOf = (tags: readonly string[], time: number) =>
  writeBatch(
    tags.map((tag) => {
      const points = makeColumns(1)
      points.times[0] = time
      return { tag, points }
    }),
    true,
  )

/** Files that tell of each sync of the log, in the turn of the event loop in which its commit ends. */
function tellingSyncs(synced: () => void): Files {
  return changedFiles(systemFiles, (file) => {
    if (!file.path.endsWith('.wal')) return {}
    return {
      syncNow() {
        file.syncNow()
        synced()
      },
    }
  })
}

test('reads of several tags that begin while a commit ends, and a flush behind it, have one state of all of them', async (t) => {
  const reads: Promise<readonly RangeResult[]>[] = []
  const queries = TAGS.map((tag) => ({ tag, ...ALL }))
  let isFlushing = false
  // Each `await` of the commit, and of the flush behind it, has a read beside it.
  const readOn = async () => {
    for (let i = 0; isFlushing && i < 20; i++) {
      reads.push(store.readRanges(queries, signal))
      await null
    }
  }
  const limits = { reserveBytes: 0, flush: { points: 1e9, records: 1e9, ageMs: 1e9 } }
  const store = await openFileStore(temporaryFolder(t), {
    historian: 'plant',
    owner: true,
    files: tellingSyncs(() => void readOn()),
    limits,
  })
  t.after(() => store.close())
  let time = 0
  await store.write(batchOf(TAGS, ++time), signal)
  for (let flush = 0; flush < 5; flush++) {
    isFlushing = true
    const flushing = store.flush().finally(() => {
      isFlushing = false
    })
    for (let i = 0; isFlushing && i < 30; i++) await store.write(batchOf(TAGS, ++time), signal)
    isFlushing = false
    await flushing
  }
  let last = 0
  for (const results of await Promise.all(reads)) {
    const counts = results.map(({ points }) => points.times.length)
    assert.equal(Math.min(...counts), Math.max(...counts), `points of the tags: ${counts}`)
    assert.ok(counts[0]! >= last, 'a later read has no fewer points')
    last = counts[0]!
  }
  assert.ok(last > 5 && reads.length > 100)
})
