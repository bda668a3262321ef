import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { makeColumns, reverseColumns, sliceColumns } from '../../series/columns.ts'
import type { RangeResult } from '../../series/reads.ts'
import { instantFromUs } from '../../time/instant.ts'
import type { RawRange } from './point-source.ts'
import { TagReads } from './tag-reads.ts'

/** A tag with a point at each of 1,000 microseconds, and what was fetched of it. */
function fetcher(): { fetched: string[]; fetch: (missing: RawRange) => Promise<RangeResult> } {
  const all = makeColumns(1_000)
  for (let i = 0; i < 1_000; i++) all.times[i] = i
  const fetched: string[] = []
  const fetch = async ({ from, to, order, limit }: RawRange): Promise<RangeResult> => {
    fetched.push(`${from} ${to} ${order} ${limit}`)
    const points = sliceColumns(all, from, Math.min(to, 1_000))
    const ordered = order === 'asc' ? points : reverseColumns(points)
    return { points: sliceColumns(ordered, 0, limit), more: ordered.times.length > limit }
  }
  return { fetched, fetch }
}

function rangeOf(from: number, to: number, order: 'asc' | 'desc' = 'asc', limit = 5_000): RawRange {
  return { from: instantFromUs(from), to: instantFromUs(to), order, limit }
}

function timesOf({ points: { times } }: RangeResult): string {
  return `${times[0]} .. ${times.at(-1)} (${times.length})`
}

test('a range fetches only what is missing of it', async () => {
  const { fetched, fetch } = fetcher()
  const reads = new TagReads(() => true)
  await reads.range(rangeOf(100, 200), fetch)
  assert.equal(timesOf(await reads.range(rangeOf(50, 150), fetch)), '50 .. 149 (100)')
  assert.equal(timesOf(await reads.range(rangeOf(60, 300, 'desc'), fetch)), '299 .. 60 (240)')
  assert.equal(timesOf(await reads.range(rangeOf(50, 300), fetch)), '50 .. 299 (250)')
  assert.deepEqual(fetched, ['100 200 asc 5000', '50 100 asc 5000', '200 300 desc 5000'])
})

test('a page is cut at its limit, whatever of it was known before', async () => {
  const { fetched, fetch } = fetcher()
  const reads = new TagReads(() => true)
  await reads.range(rangeOf(100, 110), fetch)
  const page = await reads.range(rangeOf(100, 900, 'asc', 15), fetch)
  assert.equal(timesOf(page), '100 .. 114 (15)')
  assert.equal(page.more, true)
  const same = await reads.range(rangeOf(100, 900, 'asc', 10), fetch)
  assert.deepEqual([timesOf(same), same.more], ['100 .. 109 (10)', true])
  const last = await reads.range(rangeOf(990, 1_100, 'asc', 10), fetch)
  assert.deepEqual([timesOf(last), last.more], ['990 .. 999 (10)', false])
  assert.deepEqual(fetched, ['100 110 asc 5000', '110 900 asc 5', '990 1100 asc 10'])
})

test('a range waits for one on its way that holds it, and fails with it', async () => {
  const { fetched, fetch } = fetcher()
  const reads = new TagReads(() => true)
  const both = [reads.range(rangeOf(0, 500), fetch), reads.range(rangeOf(100, 200), fetch)]
  assert.deepEqual((await Promise.all(both)).map(timesOf), ['0 .. 499 (500)', '100 .. 199 (100)'])
  assert.deepEqual(fetched, ['0 500 asc 5000'])
  const failing = async (): Promise<RangeResult> => {
    throw new Error('gone')
  }
  const failed = [reads.range(rangeOf(600, 900), failing), reads.range(rangeOf(700, 800), failing)]
  for (const one of await Promise.allSettled(failed)) assert.equal(one.status, 'rejected')
  assert.equal(timesOf(await reads.range(rangeOf(700, 800), fetch)), '700 .. 799 (100)')
})

test('a range within one that is damaged elsewhere is fetched by itself', async () => {
  const { fetch } = fetcher()
  const reads = new TagReads(() => true)
  const damaged = async (missing: RawRange): Promise<RangeResult> => {
    if (missing.from > 100) return fetch(missing)
    throw new TidemarkError('STORAGE_CORRUPT', { historian: 'plant', reason: 'x' })
  }
  const [whole, within] = await Promise.allSettled([
    reads.range(rangeOf(0, 500), damaged),
    reads.range(rangeOf(200, 300), damaged),
  ])
  assert.equal(whole!.status, 'rejected')
  assert.ok(within!.status === 'fulfilled')
  assert.equal(timesOf(within.value), '200 .. 299 (100)')
})

test('a range that is read as a whole and a page that reaches beyond it fetch once what both hold', async () => {
  const [whole, page] = [rangeOf(0, 500), rangeOf(300, 600, 'desc', 1_000)]
  for (const [ranges, expected] of [
    [
      [whole, page],
      ['0 500 asc 5000', '500 600 desc 1000'],
    ],
    [
      [page, whole],
      ['300 600 desc 1000', '0 300 asc 5000'],
    ],
  ] as const) {
    const { fetched, fetch } = fetcher()
    const reads = new TagReads(() => true)
    await Promise.all(ranges.map((range) => reads.range(range, fetch)))
    assert.deepEqual(fetched, expected)
  }
})

test('a range that is read as a whole waits for pages of it that are on their way', async () => {
  const { fetched, fetch } = fetcher()
  const reads = new TagReads(() => true)
  const both = [reads.range(rangeOf(300, 400, 'desc', 20), fetch), reads.range(rangeOf(0, 500), fetch)]
  assert.deepEqual((await Promise.all(both)).map(timesOf), ['399 .. 380 (20)', '0 .. 499 (500)'])
  assert.deepEqual(fetched, ['300 400 desc 20', '0 380 asc 5000', '400 500 asc 4600'])
})

test('a page has each point once, also where another read of its beginning is answered before it', async () => {
  for (const [order, from, to] of [
    ['asc', 0, 3],
    ['desc', 497, 500],
  ] as const) {
    const { fetched, fetch } = fetcher()
    const reads = new TagReads(() => true)
    const { promise: overtaken, resolve: goOn } = Promise.withResolvers<void>()
    const page = reads.range(rangeOf(0, 500, order, 5), async (missing) => {
      await overtaken
      return fetch(missing)
    })
    const beginning = await reads.range(rangeOf(from, to, order === 'asc' ? 'desc' : 'asc', 10), fetch)
    assert.equal(beginning.points.times.length, 3)
    goOn()
    const { points, more } = await page
    assert.deepEqual([...points.times], order === 'asc' ? [0, 1, 2, 3, 4] : [499, 498, 497, 496, 495])
    assert.equal(more, true)
    assert.equal(fetched.length, 2)
  }
})

test('once memory is used up, ranges are fetched and not kept', async () => {
  const { fetched, fetch } = fetcher()
  const reads = new TagReads(() => false)
  await reads.range(rangeOf(0, 10), fetch)
  await reads.range(rangeOf(0, 10), fetch)
  assert.equal(fetched.length, 2)
})

test('a point inside what was fetched is known', async () => {
  const { fetch } = fetcher()
  const reads = new TagReads(() => true)
  await reads.range(rangeOf(100, 200), fetch)
  assert.equal(reads.point('after', instantFromUs(150))?.time, 151)
  assert.equal(reads.point('after', instantFromUs(199)), null)
})
