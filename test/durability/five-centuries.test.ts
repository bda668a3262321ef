import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type TagPoints, writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { FailingFiles } from '../../src/storage/files/failing-files.fixture.ts'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import { listManifests, manifestName, readManifest } from '../../src/storage/manifest/manifest-file.ts'
import type { Edit } from '../../src/storage/manifest/version.ts'
import { MERGE_LIMITS, type PlanMerge } from '../../src/storage/merge/merge.ts'
import { planIdleMerge, planMerge, planThoroughMerge } from '../../src/storage/merge/plan-merge.ts'
import type { PartInfo } from '../../src/storage/parts/part.ts'
import { until } from '../until.ts'
import { temporaryFolder } from './folder.ts'
import { randomOf } from './random.ts'

/* Points of all times that are accepted: how many files there are does not follow from how many months they lie in. */

const FROM_US = Date.UTC(1700, 0, 1) * 1000
const TO_US = Date.UTC(2200, 0, 1) * 1000
const POINTS = 100_000
const TAGS = 50
const FLUSHES = 25
/** Parts that one flush writes, and files of the historian at any time. */
const MOST_PARTS_OF_A_FLUSH = 8
const MOST_FILES = 200

const { signal } = new AbortController()
const EVER = { from: FROM_US, to: TO_US, order: 'asc', limit: POINTS } as const

/** So many points of all tags, spread over five centuries. */
function spread(count: number, random: (below: number) => number): TagPoints[] {
  const each = count / TAGS
  return Array.from({ length: TAGS }, (_, tag) => {
    const points = makeColumns(each)
    for (let i = 0; i < each; i++) {
      // One in each of as many spans of the same length: no two have the same time.
      points.times[i] = FROM_US + Math.floor(((i + random(1e6) / 1e6) * (TO_US - FROM_US)) / each)
      points.values[i] = random(1e6) / 1000
    }
    return { tag: `tag ${tag}`, points }
  })
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile()).length

async function assertHasAll(store: FileStore, expected: ReadonlyMap<string, ReadonlyMap<number, number>>) {
  const tags = [...expected.keys()]
  const read = await store.readRanges(
    tags.map((tag) => ({ tag, ...EVER })),
    signal,
  )
  for (const [i, tag] of tags.entries()) {
    const { times, values } = read[i]!.points
    const known = expected.get(tag)!
    assert.equal(times.length, known.size, tag)
    for (const [at, time] of times.entries()) assert.equal(values[at], known.get(time), `${tag} at ${time}`)
  }
}

test('a flush of 100,000 points over five centuries writes at most 8 files', async (t) => {
  const folder = temporaryFolder(t)
  const limits = {
    flush: { points: 1e9, records: 1e9, ageMs: 1e9, packedAside: 1 },
    reserveBytes: 0,
    idleMergeAfterMs: 1e9,
  }
  const store = await openFileStore(folder, { historian: 'plant', owner: true, limits })
  await store.write(writeBatch(spread(POINTS, randomOf(1)), true), signal)
  await store.flush()
  const parts = readdirSync(join(folder, 'parts'))
  assert.ok(parts.length >= 1 && parts.length <= MOST_PARTS_OF_A_FLUSH, `${parts.length} parts`)
  assert.equal(store.measure().journalPoints, 0)
  await store.close()
})

/** The edits of the manifest that counts. */
function editsOf(folder: string): Edit[] {
  const manifests = join(folder, 'manifest')
  const bytes = readFileSync(join(manifests, manifestName(listManifests(systemFiles, manifests).at(-1)!)))
  const texts: string[] = []
  for (let at = 0; at < bytes.length; at += 8 + bytes.readUInt32LE(at)) {
    texts.push(bytes.toString('utf8', at + 8, at + 8 + bytes.readUInt32LE(at)))
  }
  return texts.slice(1).map((text) => JSON.parse(text) as Edit)
}

function partsOf(folder: string): readonly PartInfo[] {
  const manifests = join(folder, 'manifest')
  return readManifest(systemFiles, manifests, listManifests(systemFiles, manifests).at(-1)!).version.parts
}

/** @param partitionBytes  at which merges cut parts by time */
async function flushAndMerge(t: TestContext, partitionBytes: number): Promise<readonly PartInfo[]> {
  const folder = temporaryFolder(t)
  let created = 0
  let mostFiles = 0
  const files = new FailingFiles(systemFiles, (call, path) => {
    if (call !== 'create') return null
    if (path.endsWith('.part')) created++
    mostFiles = Math.max(mostFiles, filesIn(folder) + 1)
    return null
  })
  const merge = { ...MERGE_LIMITS, partitionBytes }
  const limits = {
    flush: { points: 1e9, records: 1e9, ageMs: 1e9 },
    merge,
    reserveBytes: 0,
    // When the last flush was made.
    idleMergeAfterMs: 2_000,
    // What merges replaced is counted until then: on a slow machine not that of the whole test.
    unlinkSoonestMs: 1_000,
    thoroughMergeEveryMs: 0,
  }
  const store = await openFileStore(folder, { historian: 'plant', owner: true, limits, files })
  const random = randomOf(2)
  const expected = new Map<string, Map<number, number>>()
  for (let flush = 0; flush < FLUSHES; flush++) {
    const entries = spread(POINTS / FLUSHES, random)
    for (const { tag, points } of entries) {
      const known = expected.get(tag) ?? new Map<number, number>()
      expected.set(tag, known)
      for (const [i, time] of points.times.entries()) known.set(time, points.values[i]!)
    }
    await store.write(writeBatch(entries, true), signal)
    await store.flush()
  }
  const isLeft = (plan: PlanMerge) => plan(partsOf(folder), merge, new Set()) !== null
  await until(() => ![planMerge, planIdleMerge, planThoroughMerge].some(isLeft), 'all is merged')
  const parts = partsOf(folder)
  const edits = editsOf(folder)
  const flushed = edits.flatMap(({ flushedSequence, add }) =>
    flushedSequence === undefined ? [] : [add!.length],
  )
  assert.equal(flushed.length, FLUSHES)
  assert.ok(Math.max(...flushed) <= MOST_PARTS_OF_A_FLUSH, `flushes wrote ${flushed} parts`)
  assert.ok(mostFiles < MOST_FILES, `${mostFiles} files`)
  // None but those that edits name were written.
  assert.equal(
    created,
    edits.reduce((sum, { add }) => sum + (add?.length ?? 0), 0),
  )
  await assertHasAll(store, expected)
  assert.deepEqual((await store.check(signal)).problems, [])
  await store.close()
  // What merges replaced goes at the end.
  assert.deepEqual(readdirSync(join(folder, 'parts')).sort(), parts.map(({ name }) => name).sort())
  t.diagnostic(
    `${FLUSHES} flushes, ${created} parts written, at most ${mostFiles} files, ${parts.length} parts and ${filesIn(folder)} files in the end`,
  )
  return parts
}

test('with 100,000 points over five centuries there are less than 200 files at any time, and few when all is merged', async (t) => {
  const parts = await flushAndMerge(t, MERGE_LIMITS.partitionBytes)
  assert.ok(parts.length <= 5, `${parts.length} parts`)
})

test('also where merges cut them by time there are less than 200 files', async (t) => {
  // Ten years have more, and three months less.
  const parts = await flushAndMerge(t, 10_000)
  assert.ok(parts.length >= 50, `${parts.length} parts`)
})
