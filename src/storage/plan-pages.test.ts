import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { temporaryFolder } from '../../test/durability/folder.ts'
import { makeColumns } from '../series/columns.ts'
import { TAIL } from './block-key.ts'
import { Changes } from './changes.ts'
import { openDatabase, openEnvironment } from './environment.ts'
import { planPages } from './plan-pages.ts'
import { Snapshot } from './snapshot.ts'
import { joinStretches, type Stretch, stretchOf } from './stretch.ts'
import { PageCheck } from './summary-check.ts'
import { PAGE_BLOCKS } from './summary-page.ts'
import { SummaryPages } from './summary-pages.ts'

const { signal } = new AbortController()
const TAG = 7

/** A block of three points, a hundred wide; one in ten is as if it were plain. */
function blockAt(time: number, seed: number): Stretch | null {
  if (seed % 10 === 0) return null
  const points = makeColumns(3)
  for (let i = 0; i < 3; i++) {
    points.times[i] = time + i * 40
    points.values[i] = 1e6 + ((seed * (i + 1)) % 101) / 100
    points.statuses[i] = (seed + i) % 17 === 0 ? 1 : 0
  }
  return stretchOf(points, 0, 3)
}

/** Places of blocks, the place being the time in hundreds; `isRemoval` removes them where they are. */
const step = fc.record({
  isRemoval: fc.boolean(),
  seed: fc.nat(1_000),
  places: fc.oneof(
    // A run that follows on, one anywhere, and some far apart.
    fc
      .tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 1, max: 150 }))
      .map(([from, count]) => Array.from({ length: count }, (_, i) => from + i)),
    // All from one on, which can leave the newest pages without blocks.
    fc.integer({ min: -50, max: 400 }).map((from) => Array.from({ length: 550 - from }, (_, i) => from + i)),
    fc.uniqueArray(fc.integer({ min: -50, max: 450 }), { minLength: 1, maxLength: 40 }),
    fc.tuple(fc.integer({ min: -50, max: 450 })),
  ),
})

test('pages of summaries are those of the blocks, whatever changes, and a walk finds them', async (t) => {
  const root = openEnvironment(temporaryFolder(t))
  t.after(() => root.close())
  const points = openDatabase(root, 'points')
  const summaries = openDatabase(root, 'summaries')
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 25 }),
      fc.integer({ min: -6_000, max: 46_000 }),
      fc.integer({ min: -6_000, max: 46_000 }),
      async (steps, a, b) => {
        await summaries.clearAsync()
        root.resetReadTxn()
        const model = new Map<number, Stretch | null>()
        for (const { isRemoval, seed, places } of steps) {
          const changed = new Map<number, Stretch | null | undefined>()
          for (const place of places) {
            const time = place * 100
            if (isRemoval && !model.has(time)) continue
            changed.set(time, isRemoval ? undefined : blockAt(time, seed + place + 50))
          }
          const changes = new Changes(points, summaries)
          planPages(changes, new SummaryPages(summaries, { options: undefined }, TAG), TAG, changed)
          await changes.apply()
          root.resetReadTxn()
          for (const [time, stretch] of changed) {
            if (stretch === undefined) model.delete(time)
            else model.set(time, stretch)
          }
          const ascending = [...model].sort(([one], [two]) => one - two)
          const check = new PageCheck(summaries)
          const snapshot = new Snapshot(root, signal)
          for (const [time, stretch] of ascending) {
            check.add({ tag: TAG, time, stretch }, (compare) => compare(), snapshot)
          }
          check.finish(snapshot)
          assertWalk(new SummaryPages(summaries, snapshot, TAG), ascending, Math.min(a, b), Math.max(a, b))
        }
      },
    ),
    { numRuns: 60 },
  )
})

/** All blocks that begin in a range, and the last one before it, are among those of the pages, in order; few others are. */
function assertWalk(
  pages: SummaryPages,
  blocks: readonly (readonly [number, Stretch | null])[],
  from: number,
  to: number,
): void {
  const found = [...pages.walk(from, to)]
  const times = found.flatMap((page) => page.blocks().map(({ time }) => time))
  const before = blocks.findLast(([time]) => time <= from)
  const expected = blocks.filter(([time]) => time < to && (time > from || time === before?.[0]))
  const start = expected.length === 0 ? 0 : times.indexOf(expected[0]![0])
  assert.deepEqual(
    times.slice(start, start + expected.length),
    expected.map(([time]) => time),
  )
  assert.ok(start >= 0 && start < PAGE_BLOCKS && times.length < expected.length + 2 * PAGE_BLOCKS)
  for (const page of found) {
    const stretches = page.blocks().map(({ stretch }) => stretch)
    const whole = stretches.includes(null) ? null : joinStretches(stretches as Stretch[])
    assert.ok(page.count === 1 || isDeepStrictEqual(page.whole, whole))
  }
}

test('a check finds pages that are not those of the blocks', async (t) => {
  const root = openEnvironment(temporaryFolder(t))
  t.after(() => root.close())
  const summaries = openDatabase(root, 'summaries')
  const changes = new Changes(openDatabase(root, 'points'), summaries)
  const blocks = Array.from({ length: 40 }, (_, i) => ({ time: i * 100, stretch: blockAt(i * 100, 1) }))
  changes.putPage(TAG, 0, blocks.slice(0, 30))
  changes.putPage(TAG, TAIL, blocks.slice(30))
  await changes.apply()
  root.resetReadTxn()
  const check = (found: typeof blocks, tag = TAG) => {
    const pages = new PageCheck(summaries)
    const snapshot = new Snapshot(root, signal)
    for (const block of found) pages.add({ tag, ...block }, (compare) => compare(), snapshot)
    pages.finish(snapshot)
  }
  check(blocks)
  assert.throws(() => check(blocks.slice(0, 39)), /without a block/)
  assert.throws(() => check(blocks.toSpliced(5, 1)), /without a block/)
  assert.throws(() => check([]), /without a block/)
  assert.throws(() => check([...blocks, { time: 4_000, stretch: null }]), /missing/)
  assert.throws(() => check(blocks.toSpliced(5, 0, { time: 450, stretch: null })), /missing/)
  assert.throws(() => check(blocks, TAG + 1), /missing/)
  assert.throws(() => check(blocks.with(7, { time: 700, stretch: blockAt(700, 2) })), /not that of the block/)
})
