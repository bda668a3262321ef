import assert from 'node:assert/strict'
import type { Historian, SignalShape } from '../../src/historian/contract.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { WindowAggregator } from '../../src/series/aggregate.ts'
import type { AggregateColumns, AggregateName } from '../../src/series/aggregate-names.ts'
import { concatColumns, type PointColumns, STATUS_BAD } from '../../src/series/columns.ts'
import { SignalIntegrator, timeAverages } from '../../src/series/integrate.ts'
import { interpolate } from '../../src/series/interpolate.ts'
import { at, EVER, points, ramp } from './points.ts'
import type { Bench, Promised } from './subject.ts'

/** A tag with gaps, BAD stretches and more points than any block holds. */
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
  const windows = new WindowAggregator(edges, aggregates)
  windows.add(raw)
  const timeAvg = timeAverages(integralsOf(raw, edges.subarray(0, -1), edges.subarray(1), shape))
  return { ...windows.finish(), timeAvg }
}

const capable = (historian: Historian) => historian.capabilities

export function declarePushDownPromises(promised: Promised): void {
  promised('a push-down is there exactly when the capabilities say so', async ({ historian }) => {
    const { aggregates, interpolation, integrals, deletePoints, deleteTags, renameTags } = capable(historian)
    if (aggregates.length > 0) assert.equal(typeof historian.readAggregates, 'function')
    if (interpolation) assert.equal(typeof historian.readInterpolated, 'function')
    if (integrals) assert.equal(typeof historian.readIntegrals, 'function')
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
    for (const shape of SHAPES) {
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

  promised('aggregates of a tag without points are empty', async (bench) => {
    const { aggregates } = capable(bench.historian)
    if (aggregates.length === 0) return
    const query = { tag: bench.tag(), edges: Float64Array.of(0, 10, 20), aggregates, ...SHAPES[0]! }
    const [found] = await bench.historian.readAggregates!([query], bench.context)
    for (const name of aggregates) {
      const empty = name === 'count' || name === 'numGood' || name === 'numBad' ? 0 : Number.NaN
      assert.deepEqual([...found![name]!], [empty, empty], name)
    }
  })

  promised('interpolated values equal those from neighbours', async (bench) => {
    if (!capable(bench.historian).interpolation) return
    const { tag } = await plant(bench)
    const times = Float64Array.from({ length: 1_000 }, (_, index) => 500 + index * 11_003)
    const [neighbours] = await bench.historian.readNeighbours([tag], times, bench.context)
    for (const shape of SHAPES) {
      const [found] = await bench.historian.readInterpolated!([{ tag, times, ...shape }], bench.context)
      assertClose(found!, interpolate(neighbours!, times, shape), 'interpolated')
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
    for (const shape of SHAPES) {
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
