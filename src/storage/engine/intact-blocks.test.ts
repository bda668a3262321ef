import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Span } from '../blocks/spans.ts'
import { Damage } from '../damage.ts'
import type { PartRun } from '../parts/part.ts'
import { countPoints } from '../reads/point-reads.ts'
import { IntactBlocks, type LayerOf, readIntactRange } from './intact-blocks.ts'
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

/** A layer, which of its blocks are damaged, and whether its index is. */
const damagedLayer = fc.tuple(layer, fc.array(fc.nat({ max: 29 }), { maxLength: 3 }), fc.nat({ max: 9 }))
type DamagedLayer = readonly [LayerContent, readonly number[], number]

/** Has blocks of a run throw when they are opened; gives their times. */
function damageBlocks(run: PartRun, blocks: readonly number[]): readonly Span[] {
  const damaged = new Set(blocks.map((block) => block % run.blocks))
  const open = run.open.bind(run)
  run.open = (block, view) => {
    if (damaged.has(block)) throw new Damage('the checksum of a page is wrong')
    open(block, view)
  }
  return [...damaged].map((block) => ({ from: run.blockFirst(block), to: run.blockLast(block) + 1 }))
}

/** What each layer has, what of it is damaged, and what can be known of the points. */
function build(contents: readonly DamagedLayer[]) {
  const layers: (() => LayerOf)[] = []
  const model = new Map<number, Point>()
  const lost: Span[] = []
  for (const [content, blocks, index] of contents) {
    const { run, cuts, source } = sourceOf(content)
    const times = content.points.map(([time]) => time)
    const whole = { from: Math.min(...times), to: Math.max(...times) + 1 }
    const isGone = run !== null && index === 0
    const damaged = run === null ? [] : isGone ? [whole] : damageBlocks(run, blocks)
    layers.push(() => ({ source: isGone ? null : source, cuts, damaged: isGone ? whole : null }))
    // What a damaged block held is not known: it may be a point of any time within.
    for (const time of model.keys()) if (isIn(damaged, time) && !isIn(cuts, time)) model.delete(time)
    for (const point of content.points) {
      if (!isIn(cuts, point[0]) && !isIn(damaged, point[0])) model.set(point[0], point)
    }
    for (const { from, to } of damaged) {
      for (let time = from; time < to; time++) if (!isIn(cuts, time)) lost.push({ from: time, to: time + 1 })
    }
  }
  const all = [...model.values()].sort((a, b) => a[0] - b[0])
  return { blocks: () => new IntactBlocks(layers.map((make) => make())), all, lost }
}

test('beside damage all points are read that are certain, and what may be missing is said', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(damagedLayer, { maxLength: 5 }),
      fc.integer({ min: -3, max: TIMES + 3 }),
      fc.integer({ min: 1, max: TIMES }),
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom('asc', 'desc'),
      async (contents, from, length, limit, order) => {
        const { blocks, all, lost } = build(contents)
        const to = from + length
        const inside = all.filter(([time]) => time >= from && time < to)
        const wanted = order === 'asc' ? inside : inside.toReversed()
        const {
          points,
          more,
          missing = [],
        } = await readIntactRange(blocks(), { from, to, order, limit }, PACE)
        assert.deepEqual(toPoints(points), wanted.slice(0, limit))
        assert.equal(more, wanted.length > limit)
        const last = points.times.at(-1)
        const reached = !more || last === undefined ? { from, to } : reachedBy(order, last, from, to)
        for (let time = reached.from; time < reached.to; time++) {
          assert.equal(isIn(missing, time), isIn(lost, time), `whether ${time} is missing`)
        }
        for (const [i, span] of missing.entries()) {
          assert.ok(span.from >= reached.from && span.to <= reached.to && span.from < span.to)
          assert.ok(i === 0 || span.from > missing[i - 1]!.to)
        }
        assert.equal(await countPoints(blocks(), from, to, Number.POSITIVE_INFINITY, PACE), inside.length)
      },
    ),
    { numRuns: Number(process.env.FC_RUNS ?? 400) },
  )
})

function reachedBy(order: 'asc' | 'desc', last: number, from: number, to: number): Span {
  return order === 'asc' ? { from, to: last + 1 } : { from: last, to }
}
