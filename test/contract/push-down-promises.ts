import assert from 'node:assert/strict'
import type { Historian, RangeQuery, SignalShape } from '../../src/historian/contract.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { signalAggregates, WindowAggregator } from '../../src/series/aggregate.ts'
import { type AggregateColumns, type AggregateName, aggregateOf } from '../../src/series/aggregate-names.ts'
import { concatColumns, type PointColumns, STATUS_BAD, sliceColumns } from '../../src/series/columns.ts'
import { GapFinder } from '../../src/series/gaps.ts'
import { SignalIntegrator } from '../../src/series/integrate.ts'
import { interpolate } from '../../src/series/interpolate.ts'
import { PlotSampler } from '../../src/series/plot.ts'
import { WindowSignal } from '../../src/series/window-signal.ts'
import { at, EVER, points, ramp } from './points.ts'
import { type Bench, gapsOf, type Promised } from './subject.ts'

/** A tag with gaps, runs of BAD points and more points than any block holds. */
async function plant(bench: Bench): Promise<{ readonly tag: string; readonly raw: PointColumns }> {
  const wave = concatColumns([ramp(9_000, 1_000, 100), ramp(2_000, 2_000_000, 50), ramp(3, 9_000_000, 1)])
  for (let i = 0; i < wave.values.length; i++) {
    wave.values[i] = 1e6 + Math.sin(i / 50) + (i % 7) * 0.01
    if (i % 97 < 3 || (i > 5_000 && i < 5_040)) wave.statuses[i] = STATUS_BAD
  }
  const tag = bench.tag()
  await bench.historian.write(writeBatch([{ tag, points: wave }], true), bench.context)
  return { tag, raw: wave }
}

const SHAPES: readonly SignalShape[] = [
  { stepped: false, holdUntil: at(12_000_000) },
  { stepped: true, holdUntil: at(12_000_000) },
  { stepped: false, holdUntil: at(500_000) },
  { stepped: true, holdUntil: at(0) },
]

/** Shorter and longer than the steps of the tag, as long as one of them, and some that whole blocks are without. */
const GAPS = gapsOf(50, 99, 100, 101, 3000, 1500000)

/** Those that the historian computes push-downs for. */
function shapesOf({ capabilities }: Historian): readonly SignalShape[] {
  if (!capabilities.signalGaps) return SHAPES
  return [...SHAPES, ...SHAPES.flatMap((shape) => GAPS.map((maxGapUs) => ({ ...shape, maxGapUs })))]
}

function assertClose(actual: Float64Array, expected: Float64Array, message: string): void {
  assert.equal(actual.length, expected.length, message)
  for (let i = 0; i < actual.length; i++) {
    if (Number.isNaN(expected[i]!)) assert.ok(Number.isNaN(actual[i]!), `${message} at ${i}: ${actual[i]}`)
    else {
      const allowed = 1e-9 * Math.max(1, Math.abs(expected[i]!))
      assert.ok(
        Math.abs(actual[i]! - expected[i]!) <= allowed,
        `${message} at ${i}: ${actual[i]} is not ${expected[i]}`,
      )
    }
  }
}

/** Integrals from all raw points. */
export function integralsOf(raw: PointColumns, starts: Float64Array, ends: Float64Array, shape: SignalShape) {
  const signal = new SignalIntegrator(starts, ends, shape)
  signal.add(raw)
  return signal.finish()
}

/** Aggregates from all raw points. */
export function aggregatesOf(
  raw: PointColumns,
  edges: Float64Array,
  aggregates: readonly AggregateName[],
  shape: SignalShape,
): AggregateColumns {
  const windows = new WindowAggregator(edges, aggregates, shape.holdUntil)
  windows.add(raw)
  const signal = new WindowSignal(edges, aggregates, shape)
  signal.add(raw)
  const ofPoints = windows.finish()
  return { ...ofPoints, ...signalAggregates(signal.finish(), windows.rises(), aggregates, shape.stepped) }
}

/** All points of a range, page by page. */
async function allPages(
  historian: Historian,
  query: RangeQuery,
  context: Bench['context'],
): Promise<PointColumns> {
  const parts: PointColumns[] = []
  let from = query.from
  for (let more = true; more; ) {
    const [page] = await historian.readRanges([{ ...query, from }], context)
    const { times } = page!.points
    assert.ok(times.length <= query.limit)
    parts.push(page!.points)
    more = page!.more
    assert.ok(!more || times.length > 0)
    from = at((times.at(-1) ?? from) + 1)
  }
  const found = concatColumns(parts)
  assert.ok(found.times.every((time, i) => i === 0 || time > found.times[i - 1]!))
  return found
}

/**
 * How the signal compares with thresholds at, right after and between the points of `all`, from the first good one to
 * the last: for each time how many thresholds it is at or above and above; -1 without a value.
 */
function classesOf(
  points: PointColumns,
  all: PointColumns,
  thresholds: readonly number[],
  stepped: boolean,
  maxGapUs = Number.POSITIVE_INFINITY,
): readonly number[] {
  const goodOf = ({ times, values, statuses }: PointColumns) =>
    Array.from(times, (time, i) => ({ time, value: values[i]!, bad: statuses[i] === STATUS_BAD })).filter(
      ({ bad }) => !bad,
    )
  const good = goodOf(points)
  const ends = goodOf(all)
  const times = [...all.times].flatMap((time, i) => [time, time + 1, (time + (all.times[i + 1] ?? time)) / 2])
  let next = 0
  return times
    .filter((time) => ends.length > 0 && time >= ends[0]!.time && time <= ends.at(-1)!.time)
    .sort((a, b) => a - b)
    .map((time) => {
      while (next < good.length && good[next]!.time <= time) next++
      const last = good[next - 1]!
      const after = good[next]
      let value = last.value
      if (after !== undefined && time > last.time) {
        const length = after.time - last.time
        if (length > maxGapUs && (!stepped || time >= last.time + maxGapUs)) return -1
        if (!stepped) value += ((after.value - last.value) * (time - last.time)) / length
      }
      return thresholds.reduce((sum, one) => sum + Number(value >= one) + Number(value > one), 0)
    })
}

const capable = (historian: Historian) => historian.capabilities

export function declarePushDownPromises(promised: Promised): void {
  promised('a push-down is there exactly when the capabilities say so', async ({ historian }) => {
    const { aggregates, interpolation, integrals, plots, gaps, deletePoints, deleteTags, renameTags } =
      capable(historian)
    if (aggregates.length > 0) assert.equal(typeof historian.readAggregates, 'function')
    if (interpolation) assert.equal(typeof historian.readInterpolated, 'function')
    if (integrals) assert.equal(typeof historian.readIntegrals, 'function')
    if (gaps) assert.equal(typeof historian.readGaps, 'function')
    if (plots) assert.equal(typeof historian.readPlots, 'function')
    if (deletePoints) assert.equal(typeof historian.deletePoints, 'function')
    if (deleteTags) assert.equal(typeof historian.deleteTags, 'function')
    if (renameTags) assert.equal(typeof historian.renameTags, 'function')
  })

  promised('aggregates equal those from raw points', async (bench) => {
    const { aggregates } = capable(bench.historian)
    if (aggregates.length === 0) return
    const { tag, raw } = await plant(bench)
    const edgeLists = [
      Float64Array.of(0, 20_000_000),
      Float64Array.of(1_000, 1_001, 1_100, 1_101, 901_000, 2_000_000, 2_000_001),
      Float64Array.from({ length: 101 }, (_, index) => index * 25_000),
      Float64Array.of(-500, 0, 999),
      Float64Array.of(9_000_002, 9_000_003, 11_000_000, 13_000_000),
      Float64Array.of(501_000, 505_000),
    ]
    for (const shape of shapesOf(bench.historian)) {
      for (const edges of edgeLists) {
        const [found] = await bench.historian.readAggregates!(
          [{ tag, edges, aggregates, ...shape }],
          bench.context,
        )
        const expected = aggregatesOf(raw, edges, aggregates, shape)
        for (const name of aggregates) {
          assertClose(found![name]!, expected[name]!, `${name} of ${edges.length} edges`)
        }
      }
    }
  })

  promised(
    'of equal extremes the earliest counts, and a column of three points gives them all',
    async (bench) => {
      const { aggregates, plots } = capable(bench.historian)
      const tag = bench.tag()
      const raw = points(
        [1, 5],
        [2, 5],
        [3, 1],
        [4, 1],
        [5, 5],
        [6, 1],
        [11, 1],
        [12, 2],
        [13, 3],
        [21, 7],
        [22, 7],
      )
      for (const bad of [4, 7]) raw.statuses[bad] = STATUS_BAD
      await bench.historian.write(writeBatch([{ tag, points: raw }], true), bench.context)
      const edges = Float64Array.of(0, 10, 20, 30)
      const names = aggregates.filter((name) => name === 'minTime' || name === 'maxTime')
      if (names.length > 0) {
        const query = { tag, edges, aggregates: names, ...SHAPES[0]! }
        const [found] = await bench.historian.readAggregates!([query], bench.context)
        const expected = { minTime: [at(3), at(11), at(21)], maxTime: [at(1), at(13), at(21)] } as const
        for (const name of names) assert.deepEqual([...found![name]!], expected[name as 'minTime'], name)
      }
      for (const columns of [edges, Float64Array.of(0, 4, 14, 30), Float64Array.of(2, 6, 22)]) {
        if (!plots) return
        const plot = new PlotSampler(columns, { gaps: { stepped: false } })
        plot.add(raw)
        const [found] = await bench.historian.readPlots!(
          [{ tag, edges: columns, stepped: false }],
          bench.context,
        )
        assert.deepEqual(found, plot.finish())
      }
    },
  )

  promised('aggregates of a tag without points are empty', async (bench) => {
    const { aggregates } = capable(bench.historian)
    if (aggregates.length === 0) return
    const query = { tag: bench.tag(), edges: Float64Array.of(0, 10, 20), aggregates, ...SHAPES[0]! }
    const [found] = await bench.historian.readAggregates!([query], bench.context)
    for (const name of aggregates) {
      // All of the windows lie before `now`, and nothing of them has a value.
      const empty = name === 'coverage' ? 0 : aggregateOf(name).empty
      assert.deepEqual([...found![name]!], [empty, empty], name)
    }
  })

  promised('interpolated values equal those from bounding values', async (bench) => {
    if (!capable(bench.historian).interpolation) return
    const { tag } = await plant(bench)
    const times = Float64Array.from({ length: 1_000 }, (_, index) => 500 + index * 11_003)
    const [boundingValues] = await bench.historian.readBoundingValues([tag], times, bench.context)
    for (const shape of shapesOf(bench.historian)) {
      const [found] = await bench.historian.readInterpolated!([{ tag, times, ...shape }], bench.context)
      assertClose(found!, interpolate(boundingValues!, times, shape), 'interpolated')
    }
  })

  promised('integrals equal those from raw points', async (bench) => {
    if (!capable(bench.historian).integrals) return
    const { tag, raw } = await plant(bench)
    const spanLists: readonly (readonly (readonly number[])[])[] = [
      [[0, 20_000_000]],
      [[1_000, 1_000]],
      [
        [0, 999],
        [1_000, 1_050],
        [1_050, 1_060],
        [300_001, 800_007],
        [1_500_000, 1_600_000],
        [1_700_000, 2_000_025],
        [9_000_001, 9_000_002],
        [11_000_000, 15_000_000],
      ],
      Array.from({ length: 200 }, (_, index) => [index * 500, index * 500 + 301]),
    ]
    for (const shape of shapesOf(bench.historian)) {
      for (const spans of spanLists) {
        const starts = Float64Array.from(spans, ([start]) => start!)
        const ends = Float64Array.from(spans, ([, end]) => end!)
        const [found] = await bench.historian.readIntegrals!([{ tag, starts, ends, ...shape }], bench.context)
        const expected = integralsOf(raw, starts, ends, shape)
        assertClose(found!.integrals, expected.integrals, 'integral')
        assertClose(found!.coveredUs, expected.coveredUs, 'covered')
      }
    }
  })

  promised('plots equal those from raw points', async (bench) => {
    if (!capable(bench.historian).plots) return
    const { tag, raw } = await plant(bench)
    const edgeLists = [
      Float64Array.of(0, 20_000_000),
      Float64Array.of(1_000, 1_001, 1_100, 1_101, 901_000, 2_000_000, 2_000_001),
      Float64Array.from({ length: 1_001 }, (_, index) => index * 2_500),
      Float64Array.from({ length: 8 }, (_, index) => index * 131_007),
      Float64Array.of(501_000, 502_000, 505_000),
      Float64Array.of(9_000_002, 9_000_003, 11_000_000, 13_000_000),
      Float64Array.of(-500, 0, 999),
      // Columns of two or three points each, and of one or two.
      Float64Array.from({ length: 101 }, (_, index) => 1_000 + index * 251),
      Float64Array.from({ length: 101 }, (_, index) => 1_000 + index * 151),
    ]
    const { signalGaps } = capable(bench.historian)
    for (const edges of edgeLists) {
      for (const stepped of [false, true]) {
        for (const maxGapUs of signalGaps
          ? [undefined, ...gapsOf(99, 100, 1_000, 900_000, 5_000_000)]
          : [undefined]) {
          const gaps = maxGapUs === undefined ? { stepped } : { stepped, maxGapUs }
          const plot = new PlotSampler(edges, { gaps })
          plot.add(raw)
          const [found] = await bench.historian.readPlots!([{ tag, edges, ...gaps }], bench.context)
          assert.deepEqual(found, plot.finish(), `${edges.length} edges, ${maxGapUs}`)
        }
      }
    }
    const none = { tag: bench.tag(), edges: Float64Array.of(0, 10, 20), stepped: false }
    const [empty] = await bench.historian.readPlots!([none], bench.context)
    assert.equal(empty!.points.times.length, 0)
    assert.equal(empty!.sampled, false)
  })

  promised('gaps equal those between raw points', async (bench) => {
    if (!capable(bench.historian).gaps) return
    const { tag, raw } = await plant(bench)
    for (const [from, to] of [
      [0, 20_000_000],
      [1_001, 900_900],
      [501_050, 503_000],
      [-500, 1_000],
      [9_000_003, 9_000_100],
    ] as const) {
      for (const longerThanUs of [10, 99, 100, 101, 400, 5_000, 1_000_000, 90_000_000]) {
        for (const limit of [1, 3, 100_000]) {
          const search = { from, to, longerThanUs, limit }
          const finder = new GapFinder(search)
          const start = raw.times.findIndex((time) => time >= from)
          const end = raw.times.filter((time) => time < to).length
          finder.add(sliceColumns(raw, start < 0 ? raw.times.length : start, end))
          const [found] = await bench.historian.readGaps!([{ tag, ...search }], bench.context)
          assert.deepEqual(found, finder.finish(), JSON.stringify(search))
        }
      }
    }
    const search = { from: 0, to: 10, longerThanUs: 5, limit: 1 }
    const [none] = await bench.historian.readGaps!([{ tag: bench.tag(), ...search }], bench.context)
    assert.deepEqual([...none!.from, ...none!.to, ...none!.bad], [0, 10, 0])
  })

  promised(
    'points that comparisons leave out make no difference to them',
    async ({ historian, ...bench }) => {
      if (!capable(historian).comparisons) return
      const { tag, raw } = await plant({ historian, ...bench })
      const good = raw.values.filter((_, i) => raw.statuses[i] !== STATUS_BAD)
      for (const thresholds of [
        [1e6],
        [0],
        [2e6],
        [1e6 - 0.5, 1e6 + 0.9],
        [good[77]!, Math.max(...good), 0.1],
      ]) {
        for (const maxGapUs of [undefined, ...gapsOf(50, 100, 3_000)]) {
          const compared = { thresholds, ...(maxGapUs !== undefined && { maxGapUs }) }
          for (const [from, to, limit] of [
            [0, 20_000_000, 1_500],
            [501_050, 503_000, 3],
          ] as const) {
            const range = { tag, from: at(from), to: at(to), compared }
            const given = await allPages(historian, { ...range, order: 'asc', limit }, bench.context)
            const inRange = sliceColumns(
              raw,
              raw.times.filter((time) => time < from).length,
              raw.times.filter((time) => time < to).length,
            )
            for (const stepped of [false, true]) {
              const expected = classesOf(inRange, inRange, thresholds, stepped, maxGapUs)
              const found = classesOf(given, inRange, thresholds, stepped, maxGapUs)
              assert.deepEqual(found, expected, JSON.stringify({ compared, from, limit, stepped }))
            }
            const [count] = await historian.estimatePoints([range], 1e9, bench.context)
            assert.ok(count! >= given.times.length, `${count} estimated, ${given.times.length} given`)
          }
        }
      }
    },
  )

  promised('the raw points that push-downs work on are those that are read', async (bench) => {
    const { tag, raw } = await plant(bench)
    const [read] = await bench.historian.readRanges(
      [{ tag, ...EVER, order: 'asc', limit: 1_000_000 }],
      bench.context,
    )
    assert.deepEqual(read!.points.times, raw.times)
    assert.notDeepEqual(read!.points.times, points([1, 1]).times)
  })
}
