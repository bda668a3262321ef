import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeColumns } from '../../series/columns.ts'
import { Damage } from '../damage.ts'
import { countPoints, readPoint, readRange } from '../reads/point-reads.ts'
import {
  isIn,
  type LayerContent,
  layer,
  PACE,
  type Point,
  sourceOf,
  TIMES,
  toPoints,
} from './layered-blocks.fixture.ts'
import { LayeredBlocks } from './layered-blocks.ts'
import { DamagedSource, type Source } from './sources.ts'

const DAMAGE = new Damage('the checksum of a page is wrong')

const damaged = fc.record({
  layer: fc.nat({ max: 4 }),
  first: fc.integer({ min: 0, max: TIMES }),
  length: fc.integer({ min: 1, max: 20 }),
})

/** Layers with one that cannot be read, and the points that there are without it, and with points at all its times. */
function build(layers: readonly LayerContent[], lost: { layer: number; first: number; length: number }) {
  const span = { firstTime: lost.first, lastTime: lost.first + lost.length - 1 }
  const place = Math.min(lost.layer, layers.length)
  const sources: Source[] = []
  const without = new Map<number, Point>()
  const withAll = new Map<number, Point>()
  const addLost = () => {
    sources.push(new DamagedSource(span, DAMAGE))
    for (let time = span.firstTime; time <= span.lastTime; time++) withAll.set(time, [time, 99, 0])
  }
  for (const [i, content] of layers.entries()) {
    if (i === place) addLost()
    const { source, cuts } = sourceOf(content)
    sources.push(source)
    for (const point of content.points) {
      if (isIn(cuts, point[0])) continue
      without.set(point[0], point)
      withAll.set(point[0], point)
    }
  }
  if (place === layers.length) addLost()
  const sorted = (points: ReadonlyMap<number, Point>) => [...points.values()].sort((a, b) => a[0] - b[0])
  return {
    blocks: () => new LayeredBlocks(sources),
    span,
    worlds: [sorted(without), sorted(withAll)] as const,
  }
}

/** What `read` gives; `null` where it fails with the damage. */
async function attempt<T>(read: () => T | Promise<T>): Promise<{ readonly result: T } | null> {
  try {
    return { result: await read() }
  } catch (error) {
    if (error === DAMAGE) return null
    throw error
  }
}

test('beside a layer that cannot be read what needs nothing of its times is answered, and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(layer, { maxLength: 4 }),
      damaged,
      fc.integer({ min: -3, max: TIMES + 3 }),
      fc.integer({ min: 1, max: TIMES }),
      fc.integer({ min: 1, max: 12 }),
      async (layers, lost, from, length, limit) => {
        const { blocks, span, worlds } = build(layers, lost)
        const to = from + length
        const isBeside = to <= span.firstTime || from > span.lastTime
        const inside = worlds.map((points) => points.filter(([time]) => time >= from && time < to))
        for (const order of ['asc', 'desc'] as const) {
          const read = await attempt(() => readRange(blocks(), { from, to, order, limit }, PACE))
          assert.ok(read !== null || !isBeside, `${order} beside it`)
          for (const points of read === null ? [] : inside) {
            const wanted = order === 'asc' ? points : points.toReversed()
            assert.deepEqual(toPoints(read!.result.points), wanted.slice(0, limit))
            assert.equal(read!.result.more, wanted.length > limit)
          }
        }
        const counted = await attempt(() => countPoints(blocks(), from, to, Number.POSITIVE_INFINITY, PACE))
        assert.deepEqual(counted, isBeside ? { result: inside[0]!.length } : null)
        const target = makeColumns(1)
        for (let at = from; at < to; at++) {
          const finds = {
            before: (points: readonly Point[]) => points.findLast(([time]) => time < at),
            'before-or-at': (points: readonly Point[]) => points.findLast(([time]) => time <= at),
            after: (points: readonly Point[]) => points.find(([time]) => time > at),
            'after-or-at': (points: readonly Point[]) => points.find(([time]) => time >= at),
          } as const
          for (const [find, look] of Object.entries(finds)) {
            const read = await attempt(() => {
              const has = readPoint(blocks(), find as keyof typeof finds, at, target, 0)
              return has ? toPoints(target)[0] : undefined
            })
            const [wanted] = worlds.map(look)
            const isBefore = find.startsWith('before')
            const isNearer = isBefore
              ? at < span.firstTime || (wanted !== undefined && wanted[0] > span.lastTime)
              : at > span.lastTime || (wanted !== undefined && wanted[0] < span.firstTime)
            assert.ok(read !== null || !isNearer, `${find} ${at} beside it`)
            for (const points of read === null ? [] : worlds) {
              assert.deepEqual(read!.result, look(points), `${find} ${at}`)
            }
          }
        }
      },
    ),
    { numRuns: Number(process.env.FC_RUNS ?? 400) },
  )
})
