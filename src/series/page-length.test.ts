import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { instantFromUs } from '../time/instant.ts'
import { WindowAggregator } from './aggregate.ts'
import type { AggregateName } from './aggregate-names.ts'
import { makeColumns, type PointColumns, STATUS_BAD, sliceColumns } from './columns.ts'
import { SignalIntegrator } from './integrate.ts'
import { WindowSignal } from './window-signal.ts'

const NAMES: readonly AggregateName[] = ['sum', 'avg', 'stdDev', 'variance', 'min', 'max', 'count']
const SIGNAL_NAMES: readonly AggregateName[] = ['timeAvg', 'percentGood']
const EDGES = Float64Array.of(0, 1_000, 1_010, 40_000, 90_000)

/** Enough points for more than one block of moments in a window, and values whose sums are rounded. */
function pointsOf(length: number, seed: number): PointColumns {
  const points = makeColumns(length)
  let state = seed
  const next = () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
  let time = 0
  for (let i = 0; i < length; i++) {
    time += 1 + Math.floor(next() * 12)
    points.times[i] = time
    points.values[i] = (next() - 0.5) / 3
    if (next() < 0.1) points.statuses[i] = STATUS_BAD
  }
  return points
}

function inPages(points: PointColumns, page: number, add: (page: PointColumns) => void): void {
  for (let from = 0; from < points.times.length; from += page)
    add(sliceColumns(points, from, Math.min(from + page, points.times.length)))
}

test('aggregates and integrals are the same to the last bit whatever the length of pages', () => {
  fc.assert(
    fc.property(
      fc.nat(1_000_000),
      fc.constantFrom(50, 700, 10_000),
      fc.boolean(),
      fc.constantFrom(undefined, 9),
      (seed, length, stepped, maxGapUs) => {
        const points = pointsOf(length, seed)
        const shape = {
          stepped,
          holdUntil: instantFromUs(80_000),
          ...(maxGapUs !== undefined && { maxGapUs }),
        }
        const answers = [20_000, 1, 2, 7, 512].map((page) => {
          const aggregator = new WindowAggregator(EDGES, NAMES)
          const integrator = new SignalIntegrator(EDGES.subarray(0, -1), EDGES.subarray(1), shape)
          const signal = new WindowSignal(EDGES, SIGNAL_NAMES, shape)
          inPages(points, page, (part) => {
            aggregator.add(part)
            integrator.add(part)
            signal.add(part)
          })
          const windows = Array.from(signal.finish().windows(), ({ integral, coveredUs }) => [
            integral,
            coveredUs,
          ])
          return { aggregates: aggregator.finish(), integrals: integrator.finish(), windows }
        })
        // Compares by Object.is.
        for (const answer of answers) assert.deepStrictEqual(answer, answers[0])
      },
    ),
    { numRuns: 40 },
  )
})
