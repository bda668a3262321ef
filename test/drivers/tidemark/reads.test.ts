import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { SignalShape } from '../../../src/historian/contract.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import { makeColumns, type PointColumns, STATUS_BAD } from '../../../src/series/columns.ts'
import { SignalIntegrator } from '../../../src/series/integrate.ts'
import { interpolate } from '../../../src/series/interpolate.ts'
import { END_INSTANT, MIN_INSTANT } from '../../../src/time/instant.ts'
import { MemoryHistorian } from '../../contract/memory-historian.ts'
import { assertPoints, at, points } from '../../contract/points.ts'
import { configFor, connect, startUpstream } from './upstream.ts'

const context = { signal: new AbortController().signal }
const COUNT = 30_000
const upstream = await startUpstream('plant')
const { historian, meter } = await connect(configFor(upstream, 'plant'))
const model = new MemoryHistorian('model')
after(() => historian.close())

/** A wave of points every 100 microseconds, some of them BAD. */
function wave(): PointColumns {
  const columns = makeColumns(COUNT)
  for (let i = 0; i < COUNT; i++) {
    columns.times[i] = i * 100
    columns.values[i] = Math.sin(i / 70) * 50
    if (i % 31 < 4) columns.statuses[i] = STATUS_BAD
  }
  return columns
}

before(async () => {
  for (const each of [historian, model]) {
    await each.write(writeBatch([{ tag: 'WAVE', points: wave() }], true), context)
  }
  meter.reset()
})

const SHAPES: readonly SignalShape[] = [
  { stepped: false, holdUntil: at(3_500_000) },
  { stepped: true, holdUntil: at(3_500_000) },
  { stepped: false, holdUntil: at(1_000_000) },
]

/** Times whose distances follow no rule. */
function irregular(count: number, mostStep: number): Float64Array {
  let time = -1_000
  return Float64Array.from({ length: count }, (_, i) => {
    time += 1 + ((i * 7_919) % mostStep)
    return time
  })
}

describe('good points beside times, whether these are many or few for the points between them', () => {
  const cases: readonly (readonly [title: string, times: Float64Array])[] = [
    ['few times', irregular(5, 900_000)],
    ['many times between few points', irregular(2_000, 60)],
    ['times as dense as the points', irregular(2_000, 3_000)],
    ['some times over all points', irregular(40, 120_000)],
    ['times before and after all points', Float64Array.from({ length: 40 }, (_, i) => -5_000 + i * 300_000)],
  ]
  for (const [title, times] of cases) {
    test(title, async () => {
      const found = await historian.readBoundingValues(['WAVE', 'none'], times, context)
      const expected = await model.readBoundingValues(['WAVE', 'none'], times, context)
      assert.deepEqual(found, expected)
    })
  }
})

test('values at times without any order are those of the line between good points', async () => {
  for (const times of [irregular(300, 9_000), irregular(70, 45_000)]) {
    const [boundingValues] = await model.readBoundingValues(['WAVE'], times, context)
    const queries = SHAPES.map((shape) => ({ tag: 'WAVE', times, ...shape }))
    const found = await historian.readInterpolated(queries, context)
    SHAPES.forEach((shape, i) => {
      const expected = interpolate(boundingValues!, times, shape)
      found[i]!.forEach((value, j) => {
        const isSame = Number.isNaN(value)
          ? Number.isNaN(expected[j]!)
          : Math.abs(value - expected[j]!) < 1e-9
        assert.ok(isSame, `${value} is not ${expected[j]} at ${times[j]}`)
      })
    })
  }
})

test('integrals over spans that join and that do not, before, in and after the points', async () => {
  const spans = [
    [-5_000, -1_000],
    [-1_000, 50],
    [50, 50],
    [50, 400_001],
    [400_001, 800_002],
    [900_000, 2_999_900],
    [2_999_900, 3_200_000],
    [3_400_000, 4_000_000],
  ] as const
  const starts = Float64Array.from(spans, ([start]) => start)
  const ends = Float64Array.from(spans, ([, end]) => end)
  const queries = SHAPES.map((shape) => ({ tag: 'WAVE', starts, ends, ...shape }))
  const found = await historian.readIntegrals([...queries, { ...queries[0]!, tag: 'none' }], context)
  queries.forEach((query, i) => {
    const integrator = new SignalIntegrator(starts, ends, query)
    integrator.add(wave())
    const { integrals, coveredUs } = integrator.finish()
    assert.deepEqual(found[i]!.coveredUs, coveredUs)
    found[i]!.integrals.forEach((value, j) => {
      assert.ok(
        Math.abs(value - integrals[j]!) <= 1e-9 * Math.max(1, Math.abs(integrals[j]!)),
        `${value} ${integrals[j]}`,
      )
    })
  })
  assert.deepEqual([...found.at(-1)!.integrals, ...found.at(-1)!.coveredUs], Array(16).fill(0))
})

test('the first and the last instant of all are in the ranges that hold them', async () => {
  const ends = points([MIN_INSTANT, 1], [END_INSTANT - 1, 2])
  await historian.write(writeBatch([{ tag: 'ENDS', points: ends }], true), context)
  const range = (from: number, to: number) => ({ tag: 'ENDS', from: at(from), to: at(to) })
  const all = range(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
  const last = range(END_INSTANT - 1, END_INSTANT)
  const queries = [
    all,
    last,
    range(END_INSTANT, all.to),
    range(all.from, MIN_INSTANT),
    range(MIN_INSTANT, MIN_INSTANT + 1),
  ]
  const found = await historian.readRanges(
    queries.map((query) => ({ ...query, order: 'desc', limit: 5 })),
    context,
  )
  assert.deepEqual(
    found.map(({ points: { values } }) => [...values]),
    [[2, 1], [2], [], [], [1]],
  )
  assert.deepEqual(await historian.estimatePoints(queries, 100, context), [2, 1, 0, 0, 1])
  const finds = [
    { find: 'before', at: END_INSTANT },
    { find: 'after', at: MIN_INSTANT - 1 },
    { find: 'before', at: MIN_INSTANT - 1 },
    { find: 'after', at: END_INSTANT },
  ] as const
  const single = await historian.readPoints(
    finds.map((query) => ({ tag: 'ENDS', ...query, at: at(query.at) })),
    context,
  )
  assertPoints(
    single,
    points([END_INSTANT - 1, 2], [MIN_INSTANT, 1], [Number.NaN, Number.NaN], [Number.NaN, Number.NaN]),
  )
})

test('windows, charts and gaps that end with the last instant of all hold the point that is there', async () => {
  const last = END_INSTANT - 1
  const stored = points([END_INSTANT - 9, 1], [last - 1, 7], [last, 2])
  await historian.write(writeBatch([{ tag: 'LATE', points: stored }], true), context)
  const edges = Float64Array.of(END_INSTANT - 10, END_INSTANT - 5, END_INSTANT)
  const shape = { tag: 'LATE', stepped: true, holdUntil: at(last) }
  const names = ['count', 'last'] as const
  const grids = [edges, edges.slice(1), Float64Array.of(last, END_INSTANT)]
  const windows = await historian.readAggregates(
    grids.map((grid) => ({ ...shape, edges: grid, aggregates: names })),
    context,
  )
  assert.deepEqual(
    windows.map(({ count, last }) => [[...count!], [...last!]]),
    [
      [
        [1, 2],
        [1, 2],
      ],
      [[2], [2]],
      [[1], [2]],
    ],
  )
  const spans = { ...shape, starts: edges.slice(0, 2), ends: edges.slice(1) }
  const [integrals] = await historian.readIntegrals([spans], context)
  assert.deepEqual(
    [integrals!.integrals, integrals!.coveredUs].map((all) => [...all]),
    [
      [4, 10],
      [4, 4],
    ],
  )
  const [chart] = await historian.readPlots([{ tag: 'LATE', stepped: true, edges }], context)
  assertPoints(chart!.points, stored)
  const gaps = { from: at(last - 5), to: at(END_INSTANT), longerThanUs: 3, limit: 5 }
  const pages = await historian.readGaps(
    ['LATE', 'ENDS'].map((tag) => ({ tag, ...gaps })),
    context,
  )
  assert.deepEqual(
    pages.map(({ from, to }) => [[...from], [...to]]),
    [
      [[last - 5], [last - 1]],
      [[last - 5], [last]],
    ],
  )
})
