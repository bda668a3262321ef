import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import type { FindPoint } from '../../series/reads.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import type { FileStore } from './file-store.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()
const MONTHS = 120
const MONTH_US = 30 * 86_400e6
/** Tags that share pages with those that are read: each month has several pages of them. */
const FILLERS = 600
/** The page of the table, and that of the tag; the table stays in the cache. */
const READS_OF_A_PART = 2
/** Of a tag with many points in it the page of the index, and the block. */
const READS_OF_A_LARGE_RUN = 3

const monthly = Array.from({ length: MONTHS }, (_, month) => month)
/** In which months each tag has points. */
const TAGS: Readonly<Record<string, readonly number[]>> = {
  'first month': [0],
  'last month': [MONTHS - 1],
  'one a year': monthly.filter((month) => month % 12 === 5),
  'every month': monthly,
}
const LARGE = 'many points in three months'
const LARGE_MONTHS = [3, 50, 100]

/** Makes a part for each month, which nothing merges. */
async function fill(folder: string): Promise<void> {
  const store = await open(folder, systemFiles)
  for (const month of monthly) {
    const from = month * MONTH_US
    const entries = Array.from({ length: FILLERS }, (_, i) => ({
      tag: `filler ${i}`,
      points: pointsFrom(from, 20),
    }))
    for (const [tag, months] of Object.entries(TAGS)) {
      if (months.includes(month)) entries.push({ tag, points: pointsFrom(from, 2) })
    }
    if (LARGE_MONTHS.includes(month)) entries.push({ tag: LARGE, points: pointsFrom(from, 3_000) })
    await store.write(writeBatch(entries, true), signal)
    await store.flush()
  }
  await store.close()
}

function pointsFrom(from: number, count: number) {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) {
    points.times[i] = from + i * 1e6
    points.values[i] = Math.sqrt(i + from)
  }
  return points
}

function open(folder: string, files: FailingFiles | typeof systemFiles): Promise<FileStore> {
  const limits = {
    flush: { points: 1e9, records: 1e9, ageMs: 1e9 },
    merge: { partitionBytes: 1e12, fanIn: 1e6, largestBytes: 1e12 },
    reserveBytes: 0,
  }
  return openFileStore(folder, { historian: 'plant', owner: true, limits, files })
}

test('a point of a sparse tag over 120 parts reads only parts that have the tag, at most two pages of each', async (t) => {
  const folder = temporaryFolder(t)
  await fill(folder)
  let reads = 0
  const files = new FailingFiles(systemFiles, (call, path) => {
    if (call === 'read' && path.endsWith('.part')) reads++
    return null
  })
  /** What a read costs of the historian as it is after a start. */
  const cost = async (tag: string, find: FindPoint, at: number) => {
    const store = await open(folder, files)
    reads = 0
    const { times } = await store.readPoints([{ tag, find, at }], signal)
    const cold = reads
    await store.close()
    return { time: times[0]!, cold }
  }
  const end = MONTHS * MONTH_US
  const said: string[] = []
  for (const [tag, months] of Object.entries(TAGS)) {
    const newest = await cost(tag, 'before-or-at', end)
    assert.equal(newest.time, months.at(-1)! * MONTH_US + 1e6)
    assert.ok(
      newest.cold <= READS_OF_A_PART * months.length,
      `${tag}: ${newest.cold} pages for the newest point`,
    )
    const at = 60 * MONTH_US
    const before = await cost(tag, 'before', at)
    const last = months.findLast((month) => month < 60)
    assert.equal(before.time, last === undefined ? Number.NaN : last * MONTH_US + 1e6)
    assert.ok(
      before.cold <= READS_OF_A_PART * months.length,
      `${tag}: ${before.cold} pages for a point before`,
    )
    said.push(`${tag}, in ${months.length} parts: ${newest.cold} and ${before.cold}`)
  }
  const large = await cost(LARGE, 'before', end)
  assert.equal(large.time, 100 * MONTH_US + 2_999e6)
  assert.ok(large.cold <= READS_OF_A_LARGE_RUN * LARGE_MONTHS.length)
  assert.equal((await cost('no tag', 'before', end)).cold, 0)
  t.diagnostic(`pages read: ${said.join('; ')}; ${LARGE}: ${large.cold}`)
})
