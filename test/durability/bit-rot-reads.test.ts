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
import { STORED_AGGREGATES } from '../../src/storage/reads/signal-reads.ts'
import type { Instant } from '../../src/time/instant.ts'
import { until } from '../until.ts'
import { isWithin, layoutOf, mayFail, type PartLayout } from './part-layout.ts'
import { randomOf } from './random.ts'
import { SimulatedDisk } from './simulated-disk.ts'

/*
 * Damage in a part of which tags have pages and blocks of their own. Whatever is read, aggregates from summaries too,
 * is what it was, or an error of a tag of which something is lost, or may be, before and after points are flushed and
 * merged beside it.
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

const WIDE = [
  ...Array.from({ length: LARGE_TAGS }, (_, i) => `large ${i}`),
  ...Array.from({ length: SMALL_TAGS }, (_, i) => `small ${i}`),
]
/** Of one part alone, at the times of the others. */
const BESIDE = ['beside 0', 'beside 1']
const TAGS = [...WIDE, ...BESIDE]

/** Points of tags, those of large ones in this part of their times. */
async function write(store: FileStore, seed: number, from: number, to: number, tags = WIDE): Promise<void> {
  const random = randomOf(seed)
  const entries = tags.map((tag) => {
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

function reachOf(
  part: PartLayout,
  others: readonly PartLayout[],
  damaged: { readonly at: number; readonly isCut: boolean },
): Reach {
  // Tags were made in this order, from 1 on.
  const all = new Set(TAGS.map((_, i) => i + 1))
  const tags = new Set([...mayFail(part, others, damaged, all)].map((tag) => TAGS[tag - 1]!))
  const { at, isCut } = damaged
  const isInPages = at >= 8 && at < part.sections.table.at
  // A block and a page of summaries are those of one tag.
  const isOne = !isCut && isInPages && !part.pages.some((page) => isWithin(page, at))
  return { tags, most: isOne ? 1 : tags.size }
}

function assertWithin(failed: ReadonlySet<string>, { tags, most }: Reach, what: string): void {
  assert.ok(
    failed.size <= most && failed.isSubsetOf(tags),
    `${what}: ${[...failed].join(', ')} cannot be read`,
  )
}

test('beside damage of a part no read gives a wrong number and other tags answer, merged or not', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-rot-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const disk = new SimulatedDisk()
  const first = await open(disk, folder, NO_MERGES)
  await write(first, 1, 0, 1)
  await first.flush()
  await write(first, 2, 0.3, 0.7)
  await first.deletePoints([{ tag: 'large 1', from: END_US * 0.4, to: END_US * 0.45 }], false, signal)
  await first.flush()
  await write(first, 4, 0.2, 0.8, BESIDE)
  await first.flush()
  // In the log.
  await write(first, 3, 0.9, 1)
  const expected = await answersOf(first)
  await first.close()
  const parts = [...disk.contents()].filter(([path]) => path.endsWith('.part'))
  assert.equal(parts.length, 3)
  const layouts = parts.map(([path]) => layoutOf(disk, path))
  const tally = { harmless: 0, one: 0, several: 0, all: 0 }
  for (const [number, [path, content]] of parts.entries()) {
    const layout = layouts[number]!
    const pagesEnd = layout.sections.table.at
    const each = Math.ceil(PLACES / parts.length)
    for (let i = 0; i < each; i++) {
      // One of four behind the pages, where few bytes are.
      const isBehind = i % 4 === 3
      const at = Math.floor(
        isBehind ? pagesEnd + (i * (content.length - pagesEnd)) / each : (i * pagesEnd) / each,
      )
      const isCut = i % 8 === 1
      const damaged = content.slice(0, isCut ? at : content.length)
      if (!isCut) damaged[at]! ^= 1 << (i % 8)
      // A read that meets a damaged table has the pages looked for, and fails.
      const meetTable = async (met: FileStore) => {
        if (isCut || !isWithin(layout.sections.table, at)) return
        await until(
          async () => (await compare(met, expected, what)).size === 0,
          `${what}: its pages are found`,
        )
      }
      const reach = reachOf(layout, layouts, { at, isCut })
      const what = `${basename(path)}, ${isCut ? 'cut' : 'bit flipped'} at ${at}`
      const copy = disk.copy(new Map([[path, damaged]]))
      const store = await open(copy, folder, NO_MERGES)
      await meetTable(store)
      const failed = await compare(store, expected, what)
      assertWithin(failed, reach, what)
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
      await meetTable(merging)
      assertWithin(await compare(merging, expected, `${what}, merged`), reach, `${what}, merged`)
      const after = await merging.check(signal)
      assert.ok(problems.length === 0 || after.problems.length > 0, `${what}: what is damaged was merged`)
      await merging.close()
    }
  }
  t.diagnostic(JSON.stringify(tally))
  assert.ok(tally.one > 0 && tally.several > 0)
})
