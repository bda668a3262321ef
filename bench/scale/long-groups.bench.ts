import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WriteBatch } from '../../src/historian/contract.ts'
import { makeColumns } from '../../src/series/columns.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { expect, type Measurement, quantile } from '../measure.ts'
import { longestTurn } from '../turns/in-process.ts'

/**
 * The longest turn of the event loop of the owner of a historian while it makes one very large change, and of a process
 * that follows it while it takes the change: both in this process, one after the other, without HTTP. Figures are
 * processor time of the thread of the event loop. GROUP_ROUNDS takes another number of rounds, GROUP_CASES those with
 * a name that has this text.
 */
const ROUNDS = Number(process.env.GROUP_ROUNDS ?? 5)
const CASES = process.env.GROUP_CASES ?? ''
const { signal } = new AbortController()

const HEAP = '--max-semi-space-size=8'
// Collections of garbage are those of the service.
if (!process.execArgv.includes(HEAP)) {
  const { status } = spawnSync(process.execPath, [HEAP, import.meta.filename], { stdio: 'inherit' })
  process.exit(status ?? 1)
}

const SECOND = 1_000_000
const START = Date.UTC(2026, 0, 1) * 1_000

const nameOf = (i: number) => `PLANT${i % 2}.AREA${Math.floor(i / 1_000)}.UNIT-${i}.PV`

/** The same points for each of some tags, a second apart but for one in 50. */
function batch(tags: readonly string[], each: number, round: number): WriteBatch {
  const points = makeColumns(tags.length * each)
  const offsets = new Uint32Array(tags.length + 1)
  for (let i = 0, at = 0; i < tags.length; i++) {
    for (let k = 0; k < each; k++, at++) {
      points.times[at] = START + (round * each + k) * SECOND + (k % 50 === 49 ? 1 : 0)
      points.values[at] = (at * 7_919) % 1_000
      points.statuses[at] = k % 97 === 96 ? 1 : 0
    }
    offsets[i + 1] = (i + 1) * each
  }
  return { tags, offsets, points, createTags: true }
}

interface Place {
  readonly owner: Awaited<ReturnType<typeof openFileStore>>
  readonly reader: Awaited<ReturnType<typeof openFileStore>>
}

const measurements: Measurement[] = []

/**
 * @param change  gives one large change of a round, which is measured
 * @param undo    brings back what the next round begins with
 */
async function run(
  name: string,
  before: (place: Place) => Promise<unknown>,
  change: (place: Place, round: number) => () => Promise<unknown>,
  undo: (place: Place, round: number) => Promise<unknown>,
  read: (place: Place) => Promise<unknown> = ({ reader }) =>
    Promise.resolve(reader.findTags(['none'], signal)),
): Promise<void> {
  if (!name.includes(CASES)) return
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-groups-'))
  // Nothing is flushed by itself.
  const limits = { flush: { points: 1e9, records: 1e9, ageMs: 1e9 }, idleMergeAfterMs: 1e9, reserveBytes: 0 }
  const owner = await openFileStore(folder, { historian: 'bench', owner: true, limits })
  const reader = await openFileStore(folder, { historian: 'bench', owner: false, limits })
  const place = { owner, reader }
  const owned: number[] = []
  const followed: number[] = []
  try {
    await before(place)
    for (let round = 0; round <= ROUNDS; round++) {
      await read(place)
      const own = await longestTurn(change(place, round))
      const taken = await longestTurn(() => read(place))
      // The first one is not compiled yet.
      if (round > 0) owned.push(own)
      if (round > 0) followed.push(taken)
      await undo(place, round)
    }
  } finally {
    await reader.close()
    await owner.close()
    rmSync(folder, { recursive: true, force: true })
  }
  for (const [who, times] of [
    ['owner', owned],
    ['follower', followed],
  ] as const) {
    const sorted = times.toSorted((a, b) => a - b)
    measurements.push({
      name: `long-groups/${name}/${who}`,
      runs: times.length,
      medianMs: quantile(sorted, 0.5),
      p99Ms: sorted.at(-1)!,
      items: null,
      note: 'longest turn, processor; p99 is the longest one of all',
    })
  }
}

const nothing = async () => {}
const flush = async ({ owner, reader }: Place) => {
  await owner.flush()
  await reader.findTags(['none'], signal)
}
const many = Array.from({ length: 200_000 }, (_, i) => nameOf(i))
const fewer = many.slice(0, 125_000)
const wide = many.slice(0, 46_000)
const deleteTags =
  (tags: readonly string[]) =>
  async ({ owner, reader }: Place) => {
    await owner.deleteTags(tags, false, signal)
    await owner.flush()
    await reader.findTags(['none'], signal)
  }

await run(
  'write/4600000-of-a-tag',
  nothing,
  ({ owner }, round) => {
    const points = batch(['ONE'], 4_600_000, round)
    return () => owner.write(points, signal)
  },
  flush,
)
await run(
  'write/46000-tags-x-100',
  ({ owner }) => owner.write(batch(wide, 1, 1_000_000), signal),
  ({ owner }, round) => {
    const points = batch(wide, 100, round)
    return () => owner.write(points, signal)
  },
  flush,
)
await run(
  'write/125000-new-tags-x-7',
  nothing,
  ({ owner }, round) => {
    const points = batch(fewer, 7, round)
    return () => owner.write(points, signal)
  },
  deleteTags(fewer),
)
await run(
  'write/200000-new-tags-x-1',
  nothing,
  ({ owner }, round) => {
    const points = batch(many, 1, round)
    return () => owner.write(points, signal)
  },
  deleteTags(many),
)
await run(
  'delete/125000-tags-a-point-of-7',
  ({ owner }) => owner.write(batch(fewer, 7, 0), signal),
  ({ owner }) => {
    const ranges = fewer.map((tag) => ({ tag, from: START + 3 * SECOND, to: START + 3 * SECOND + 1 }))
    return () => owner.deletePoints(ranges, false, signal)
  },
  async (place) => {
    await place.owner.deleteTags(fewer, false, signal)
    await flush(place)
    await place.owner.write(batch(fewer, 7, 0), signal)
    await place.reader.findTags(['none'], signal)
  },
)
await run(
  'metadata/200000-tags',
  ({ owner }) => owner.write(batch(many, 1, 0), signal),
  ({ owner }, round) => {
    const description = `Value ${round}`
    const entries = many.map((name) => ({ name, description, units: 'bar', stepped: true }))
    return () => owner.putTags(entries, 'update', signal)
  },
  nothing,
)
await run(
  'rename/200000-tags',
  ({ owner }) => owner.write(batch(many, 1, 0), signal),
  ({ owner }, round) => {
    const [before, after] = [round === 0 ? '' : `.${round}`, `.${round + 1}`]
    const renames = many.map((name) => ({ from: name + before, to: name + after }))
    return () => owner.renameTags(renames, false, signal)
  },
  nothing,
)
await run(
  'delete/200000-tags',
  ({ owner }) => owner.write(batch(many, 1, 0), signal),
  ({ owner }) =>
    () =>
      owner.deleteTags(many, false, signal),
  async (place, round) => {
    await place.owner.write(batch(many, 1, round), signal)
    await place.reader.findTags(['none'], signal)
  },
)
/** What 46,000 tags have in memory, in one call. */
const readAll = async (store: Place['owner']) => {
  const ranges = wide.map((tag) => ({
    tag,
    from: START,
    to: START + 1e6 * SECOND,
    order: 'asc' as const,
    limit: 1_000,
  }))
  const found = await store.readRanges(ranges, signal)
  expect(
    found.every(({ points }) => points.times.length === 100),
    'all points are read',
  )
}
await run(
  'read/46000-tags-x-100-in-memory',
  ({ owner }) => owner.write(batch(wide, 100, 0), signal),
  ({ owner }) =>
    () =>
      readAll(owner),
  nothing,
  ({ reader }) => readAll(reader),
)

/** The first search by description of a historian with a million tags. */
if ('search'.includes(CASES) || CASES === '') {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-groups-'))
  const owner = await openFileStore(folder, { historian: 'bench', owner: true })
  for (let from = 0; from < 1_000_000; from += 100_000) {
    await owner.putTags(
      Array.from({ length: 100_000 }, (_, i) => ({
        name: nameOf(from + i),
        description: `${(from + i) % 10 === 0 ? 'Pressure' : 'Level'} of vessel ${from + i}`,
        units: 'bar',
        stepped: false,
      })),
      'create',
      signal,
    )
  }
  for (const name of ['first', 'second']) {
    const turn = await longestTurn(async () => {
      const page = await owner.searchTags(
        {
          matches: (_tag: string, description: string | null) => /^pressure/i.test(description ?? ''),
          foldedPrefix: 'pressure',
          foldedPattern: 'pressure*',
          after: null,
          limit: 100,
        },
        signal,
      )
      expect(page.tags.length === 100, 'tags are found')
    })
    measurements.push({
      name: `long-groups/search/${name}-by-description`,
      runs: 1,
      medianMs: turn,
      p99Ms: turn,
      items: null,
      note: 'longest turn, processor',
    })
  }
  await owner.close()
  rmSync(folder, { recursive: true, force: true })
}

process.stdout.write(JSON.stringify(measurements))
