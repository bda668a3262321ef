import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { TidemarkError } from '../../src/errors/tidemark-error.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import type { SignalShape } from '../../src/series/reads.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import type { MergeLimits } from '../../src/storage/merge/merge.ts'
import { BlockCache, PageReader } from '../../src/storage/parts/block-cache.ts'
import { openPartStore } from '../../src/storage/parts/file-part-store.ts'
import { readFooter } from '../../src/storage/parts/footer.ts'
import { PageTable } from '../../src/storage/parts/page-table.ts'
import { STORED_AGGREGATES } from '../../src/storage/reads/signal-reads.ts'
import type { Instant } from '../../src/time/instant.ts'
import { randomOf } from './random.ts'
import { SimulatedDisk } from './simulated-disk.ts'

/*
 * Damage in a part of which tags have pages and blocks of their own. Whatever is read, aggregates from summaries too,
 * is what it was, or an error of a tag whose page is damaged, before and after points are flushed and merged beside it.
 */

/** Places that are damaged, one after the other, over all parts. */
const PLACES = Math.ceil(Number(process.env.ROT_PLACES ?? 2_000) / 25)

const LARGE_TAGS = 3
const LARGE_POINTS = 4_000
const SMALL_TAGS = 60
const SMALL_POINTS = 30
const STEP_US = 1e9
const END_US = (LARGE_POINTS + 1) * STEP_US

const { signal } = new AbortController()
const SHAPE: SignalShape = { stepped: false, holdUntil: (2 * END_US) as Instant }
/** Two windows, of which each has whole blocks, and one behind all points. */
const EDGES = Float64Array.of(0, END_US * 0.6, END_US, END_US * 1.5)
const TIMES = Float64Array.from({ length: 40 }, (_, i) => (i * END_US) / 38 + 7)

/** Nothing is merged, or all that can be. */
const NO_MERGES: MergeLimits = { partitionBytes: 1e9, fanIn: 100, largestBytes: 1 }
const MERGES: MergeLimits = { partitionBytes: 1e9, fanIn: 2, largestBytes: 1e9 }

function open(files: SimulatedDisk, folder: string, merge: MergeLimits): Promise<FileStore> {
  const limits = {
    flush: { points: 1e9, records: 1e9, ageMs: 1e9 },
    merge,
    cacheBytes: 1 << 20,
    unlinkAfterMs: 0,
    reserveBytes: 0,
    idleMergeAfterMs: 1e9,
  }
  return openFileStore(folder, { historian: 'plant', owner: true, limits, files })
}

const TAGS = [
  ...Array.from({ length: LARGE_TAGS }, (_, i) => `large ${i}`),
  ...Array.from({ length: SMALL_TAGS }, (_, i) => `small ${i}`),
]

/** Points of all tags, those of large ones in this part of their times. */
async function write(store: FileStore, seed: number, from: number, to: number): Promise<void> {
  const random = randomOf(seed)
  const entries = TAGS.map((tag) => {
    const count = Math.floor((tag.startsWith('large') ? LARGE_POINTS : SMALL_POINTS) * (to - from))
    const points = makeColumns(count)
    for (let i = 0; i < count; i++) {
      points.times[i] = Math.floor(END_US * (from + ((i + 0.5) * (to - from)) / count))
      // All bits of them: large ones have several blocks.
      points.values[i] = random(2 ** 31) / (1 + random(2 ** 31))
      points.statuses[i] = random(50) === 0 ? 1 : 0
    }
    return { tag, points }
  })
  await store.write(writeBatch(entries, true), signal)
}

/** Reads of one tag: what is stored, what is worked out of it, and what it is now. */
const READS = {
  range: async (store, tag) => {
    const [read] = await store.readRanges([{ tag, from: -1e17, to: 1e17, order: 'asc', limit: 1e6 }], signal)
    const { times, values, statuses } = read!.points
    return [times, values, statuses]
  },
  aggregates: async (store, tag) => {
    const query = { ...SHAPE, tag, edges: EDGES, aggregates: STORED_AGGREGATES }
    const [found] = await store.readAggregates([query], signal)
    return STORED_AGGREGATES.map((name) => found![name]!)
  },
  current: async (store, tag) => {
    const found = await store.readPoints([{ tag, find: 'before-or-at', at: 1e17 }], signal)
    return [found.times, found.values]
  },
  interpolated: (store, tag) => store.readInterpolated([{ ...SHAPE, tag, times: TIMES }], signal),
} satisfies Record<string, (store: FileStore, tag: string) => Promise<readonly (Float64Array | Uint8Array)[]>>
const KINDS = Object.keys(READS) as readonly (keyof typeof READS)[]

type Answers = ReadonlyMap<string, readonly (Float64Array | Uint8Array)[]>

async function answersOf(store: FileStore): Promise<Answers> {
  const answers = new Map<string, readonly (Float64Array | Uint8Array)[]>()
  for (const tag of TAGS)
    for (const kind of KINDS) answers.set(`${kind} ${tag}`, await READS[kind](store, tag))
  return answers
}

const isClose = (a: number, b: number) =>
  Object.is(a, b) || Math.abs(a - b) <= 1e-9 * Math.max(1e-9, Math.abs(a), Math.abs(b))

/** Compares all reads with what they must give; gives the tags of which some are refused. */
async function compare(store: FileStore, expected: Answers, what: string): Promise<ReadonlySet<string>> {
  const failed = new Set<string>()
  for (const tag of TAGS) {
    for (const kind of KINDS) {
      const read = `${what}: ${kind} of ${tag}`
      try {
        const found = await READS[kind](store, tag)
        for (const [i, column] of expected.get(`${kind} ${tag}`)!.entries()) {
          assert.equal(found[i]!.length, column.length, read)
          // Blocks that a merge made are summed up in another order.
          for (const [at, value] of column.entries()) {
            assert.ok(isClose(found[i]![at]!, value), `${read}: ${found[i]![at]} and not ${value}`)
          }
        }
      } catch (error) {
        if (!(error instanceof TidemarkError)) throw error
        assert.equal(error.code, 'STORAGE_CORRUPT', read)
        failed.add(tag)
      }
    }
  }
  return failed
}

/** Whose points may be lost with a byte of a part. */
interface Reach {
  readonly tags: ReadonlySet<string>
  /** Of these so many at most. */
  readonly most: number
}

interface Layout {
  /** Behind it are the table of pages, tombstones, sets of tags and the footer. */
  readonly pagesEnd: number
  reach(at: number): Reach
}

/** What stands where in a part, from its table of pages. */
async function layoutOf(disk: SimulatedDisk, path: string): Promise<Layout> {
  const name = basename(path)
  const file = disk.open(path)
  const { sections, info } = readFooter(file)
  const reader = new PageReader(file, name, file.size(), new BlockCache(0))
  const { small, index } = new PageTable(await reader.read(sections.table.at, sections.table.bytes))
  const part = openPartStore(disk, join(path, '..'), { cacheBytes: 0 }).open(info)
  // Tags were made in this order, from 1 on.
  const nameOf = (tag: number) => TAGS[tag - 1]!
  const tags = [...part.tags()]
  part.close()
  reader.close()
  const all: Reach = { tags: new Set(TAGS), most: TAGS.length }
  const large: Reach = { tags: new Set(TAGS.filter((tag) => tag.startsWith('large'))), most: LARGE_TAGS }
  assert.ok(small.count > 1 && index.count > 0)
  const pagesEnd = sections.table.at
  const reach = (at: number): Reach => {
    if (at < 8 || at >= pagesEnd) return all
    const pageOf = (list: typeof small) =>
      Array.from({ length: list.count }, (_, i) => i).find(
        (i) => at >= list.at(i) && at < list.at(i) + list.bytes(i),
      )
    const page = pageOf(small)
    if (page !== undefined) {
      const end = page + 1 < small.count ? small.firstTag(page + 1) : Number.POSITIVE_INFINITY
      const own = tags.filter((tag) => tag >= small.firstTag(page) && tag < end).map(nameOf)
      return { tags: new Set(own), most: own.length }
    }
    // A block and a page of summaries are those of one tag.
    return pageOf(index) === undefined ? { ...large, most: 1 } : large
  }
  return { pagesEnd, reach }
}

function assertWithin(failed: ReadonlySet<string>, { tags, most }: Reach, what: string): void {
  assert.ok(
    failed.size <= most && failed.isSubsetOf(tags),
    `${what}: ${[...failed].join(', ')} cannot be read`,
  )
}

test('beside damage in a page of a part no read gives a wrong number and other tags answer, merged or not', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-rot-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const disk = new SimulatedDisk()
  const first = await open(disk, folder, NO_MERGES)
  await write(first, 1, 0, 1)
  await first.flush()
  await write(first, 2, 0.3, 0.7)
  await first.deletePoints([{ tag: 'large 1', from: END_US * 0.4, to: END_US * 0.45 }], false, signal)
  await first.flush()
  // In the log.
  await write(first, 3, 0.9, 1)
  const expected = await answersOf(first)
  await first.close()
  const parts = [...disk.contents()].filter(([path]) => path.endsWith('.part'))
  assert.equal(parts.length, 2)
  const tally = { harmless: 0, one: 0, several: 0, all: 0 }
  for (const [path, content] of parts) {
    const { pagesEnd, reach } = await layoutOf(disk, path)
    const each = Math.ceil(PLACES / parts.length)
    for (let i = 0; i < each; i++) {
      // One of four behind the pages, where few bytes are.
      const isBehind = i % 4 === 3
      const at = Math.floor(
        isBehind ? pagesEnd + (i * (content.length - pagesEnd)) / each : (i * pagesEnd) / each,
      )
      const damaged = content.slice()
      damaged[at]! ^= 1 << (i % 8)
      const what = `${basename(path)}, bit flipped at ${at}`
      const copy = disk.copy(new Map([[path, damaged]]))
      const store = await open(copy, folder, NO_MERGES)
      const failed = await compare(store, expected, what)
      assertWithin(failed, reach(at), what)
      const { problems } = await store.check(signal)
      assert.ok(failed.size === 0 || problems.length > 0, `${what}: the check says nothing of it`)
      await store.close()
      tally[
        failed.size === 0
          ? 'harmless'
          : failed.size === 1
            ? 'one'
            : failed.size < TAGS.length
              ? 'several'
              : 'all'
      ]++

      const merging = await open(copy, folder, MERGES)
      await merging.write(writeBatch([{ tag: 'new', points: makeColumns(1) }], true), signal)
      await merging.flush()
      assertWithin(await compare(merging, expected, `${what}, merged`), reach(at), `${what}, merged`)
      const after = await merging.check(signal)
      assert.ok(problems.length === 0 || after.problems.length > 0, `${what}: what is damaged was merged`)
      await merging.close()
    }
  }
  t.diagnostic(JSON.stringify(tally))
  assert.ok(tally.one > 0 && tally.several > 0)
})
