import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeColumns, type PointColumns } from '../../series/columns.ts'
import type { ReadPace } from '../pause.ts'
import type { PointBlocks } from '../reads/point-blocks.ts'
import { countPoints, readPoint, readRange } from '../reads/point-reads.ts'
import {
  type LayerContent,
  layer,
  layered,
  PACE,
  type Point,
  sourceOf,
  TIMES,
  toPoints,
} from './layered-blocks.fixture.ts'
import { LayeredBlocks } from './layered-blocks.ts'

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Gives the points of [from, to) to `take`, block by block in time order; what it is given is a copy. */
async function forEachPage(
  blocks: PointBlocks,
  from: number,
  to: number,
  snapshot: ReadPace,
  take: (points: PointColumns) => void,
): Promise<void> {
  const { view } = blocks
  let found = blocks.seekCovering(from)
  while (found) {
    const start = view.lowerBound(from)
    const end = view.lowerBound(to)
    if (start >= end) return
    const { lastTime } = view
    take(view.columns(start, end))
    if (snapshot.isDue()) await snapshot.pause()
    found = blocks.seekAfter(lastTime + 1)
  }
}

test('layers read as one: ranges in both orders, points beside an instant, pages and sums', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(layer, { minLength: 0, maxLength: 5 }),
      fc.integer({ min: -3, max: TIMES + 3 }),
      fc.integer({ min: 1, max: TIMES }),
      fc.integer({ min: 1, max: 12 }),
      async (layers, from, length, limit) => {
        const { blocks, all } = layered(layers)
        const to = from + length
        const inside = all.filter(([time]) => time >= from && time < to)
        for (const order of ['asc', 'desc'] as const) {
          const read = await readRange(blocks(), { from, to, order, limit }, PACE)
          const wanted = order === 'asc' ? inside : inside.toReversed()
          assert.deepEqual(toPoints(read.points), wanted.slice(0, limit))
          assert.equal(read.more, wanted.length > limit)
        }
        const pages: Point[] = []
        await forEachPage(blocks(), from, to, PACE, (page) => pages.push(...toPoints(page)))
        assert.deepEqual(pages, inside)
        assert.equal(await countPoints(blocks(), from, to, Number.POSITIVE_INFINITY, PACE), inside.length)
        const target = makeColumns(1)
        const one = blocks()
        for (let at = from; at < to; at++) {
          const finds = {
            before: all.findLast(([time]) => time < at),
            'before-or-at': all.findLast(([time]) => time <= at),
            after: all.find(([time]) => time > at),
            'after-or-at': all.find(([time]) => time >= at),
          } as const
          for (const [find, wanted] of Object.entries(finds)) {
            const has = readPoint(one, find as keyof typeof finds, at, target, 0)
            assert.deepEqual(has ? toPoints(target)[0] : undefined, wanted, `${find} ${at}`)
          }
        }
      },
    ),
    { numRuns: Number(process.env.FC_RUNS ?? 400) },
  )
})

test('every point of a range comes once, by a summary or as itself, whatever the sink takes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(layer, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: -3, max: TIMES }),
      fc.integer({ min: 1, max: TIMES }),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
      async (layers, from, length, takes) => {
        const { blocks, all } = layered(layers)
        const to = from + length
        const inside = all.filter(([time]) => time >= from && time < to)
        let at = 0
        let asked = 0
        await blocks().eachZoneMap(from, to, PACE, {
          takeZoneMap({ count, firstTime, lastTime, sum }) {
            if (!takes[asked++ % takes.length]) return false
            const points = inside.slice(at, at + count)
            assert.equal(points[0]?.[0], firstTime)
            assert.equal(points.at(-1)?.[0], lastTime)
            const good = points.filter(([, , status]) => status === 0)
            assert.equal(
              sum,
              good.reduce((total, [, value]) => total + value, 0),
            )
            at += count
            return true
          },
          takePoints(points) {
            assert.deepEqual(toPoints(points), inside.slice(at, at + points.times.length))
            at += points.times.length
          },
        })
        assert.equal(at, inside.length)
      },
    ),
    { numRuns: Number(process.env.FC_RUNS ?? 400) },
  )
})

test('deleted ranges are cut out of a block once, however many ranges of it are asked for', () => {
  const points = Array.from({ length: 30 }, (_, time): [number, number, 0] => [time, time, 0])
  const cuts: LayerContent['cuts'] = [
    [3, 1],
    [20, 2],
  ]
  const { source } = sourceOf({ points, each: 30, pageBlocks: 1, wider: 0, cuts, isMemory: false })
  const first = source.points(0, 10)
  assert.deepEqual(first.times, Float64Array.of(0, 1, 2, 4, 5, 6, 7, 8, 9))
  const second = source.points(15, 25)
  assert.deepEqual(second.times, Float64Array.of(15, 16, 17, 18, 19, 22, 23, 24))
  assert.equal(second.times.buffer, first.times.buffer)
})

for (const [title, pause] of [
  ['while others are let in', turn],
  [
    'of a read that is aborted',
    async () => {
      await turn()
      throw new Error('gone')
    },
  ],
] as const) {
  test(`blocks that cannot be read ${title} are an error of the read and nobody else's`, async () => {
    const points = Array.from({ length: 30 }, (_, time): [number, number, 0] => [time, time, 0])
    const { source, run } = sourceOf({ points, each: 9, pageBlocks: 1, wider: 0, cuts: [], isMemory: false })
    run!.load = () => Promise.reject(new Error('cut off'))
    const sink = { takeZoneMap: () => false, takePoints: () => {} }
    const read = new LayeredBlocks([source]).eachZoneMap(0, 30, { isDue: () => false, pause }, sink)
    await assert.rejects(read, pause === turn ? /cut off/ : /gone/)
    // What nobody has met by now fails the test.
    await turn()
  })
}
