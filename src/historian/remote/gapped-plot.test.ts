import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeColumns, type PointColumns } from '../../series/columns.ts'
import { PlotSampler } from '../../series/plot.ts'
import { type GappedColumn, GappedPlot } from './gapped-plot.ts'

type Row = readonly [time: number, value: number, bad: boolean]

const rows = fc
  .uniqueArray(fc.tuple(fc.nat(60), fc.nat(4), fc.nat(4)), { maxLength: 30, selector: ([time]) => time })
  .map((all) => all.sort(([a], [b]) => a - b).map(([time, value, bad]): Row => [time, value, bad === 0]))

const setting = fc.record({
  rows,
  edges: fc
    .uniqueArray(fc.integer({ min: -5, max: 70 }), { minLength: 2, maxLength: 6 })
    .map((edges) => Float64Array.from(edges).sort()),
  stepped: fc.boolean(),
  maxGapUs: fc.constantFrom(1, 2, 5, 9),
})

/** What a server says of the points of a column. */
function columnOf(inside: readonly Row[], maxGapUs: number): GappedColumn {
  const good = inside.filter(([, , bad]) => !bad)
  const values = good.map(([, value]) => value)
  const least = good.find(([, value]) => value === Math.min(...values))
  const greatest = good.find(([, value]) => value === Math.max(...values))
  const none = [Number.NaN, Number.NaN] as const
  const [firstGoodTime, first] = good[0] ?? none
  const [lastGoodTime, last] = good.at(-1) ?? none
  const [minTime, min] = least ?? none
  const [maxTime, max] = greatest ?? none
  const said = {
    count: inside.length,
    numGood: good.length,
    firstTime: inside[0]![0],
    firstGoodTime,
    first,
    lastGoodTime,
    last,
    min,
    minTime,
    max,
    maxTime,
    firstBadTime: inside.find(([, , bad]) => bad)?.[0] ?? Number.NaN,
    ...(good.length === 3 && { middle: { time: good[1]![0], value: good[1]![1] } }),
  }
  const isGap = (time: number, i: number) => i + 1 < good.length && good[i + 1]![0] - time > maxGapUs
  const gaps = good.filter(([time], i) => isGap(time, i)).map(([time]) => time)
  // The first after each point that is given, as a server says it.
  const after = [firstGoodTime, minTime, maxTime].map((given) => gaps.find((time) => time >= given))
  return { ...said, gaps: after.map((time) => time ?? null) }
}

function pointsOf(all: readonly Row[]): PointColumns {
  const points = makeColumns(all.length)
  all.forEach(([time, value, bad], i) => {
    points.times[i] = time
    points.values[i] = value
    points.statuses[i] = Number(bad)
  })
  return points
}

test('a chart from what is said of its columns has the breaks of one from points', () => {
  fc.assert(
    fc.property(setting, ({ rows: all, edges, stepped, maxGapUs }) => {
      const gaps = { stepped, maxGapUs }
      const plot = new PlotSampler(edges, { gaps })
      plot.add(pointsOf(all))
      const columns = Array.from(edges.subarray(1), (end, i) =>
        all.filter(([time]) => time >= edges[i]! && time < end),
      )
      const said = new GappedPlot(edges, stepped, maxGapUs)
      for (const inside of columns) if (inside.length > 0) said.add(columnOf(inside, maxGapUs))
      assert.deepEqual(said.finish(), plot.finish())
    }),
    { numRuns: 3_000 },
  )
})
