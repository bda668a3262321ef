import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { instantFromUs } from '../time/instant.ts'
import { makeColumns, type PointColumns, STATUS_BAD, sliceColumns } from './columns.ts'
import { SignalIntegrator, timeAverages } from './integrate.ts'
import { valuesFromPoints } from './interpolate.ts'

type Row = readonly [time: number, value: number, bad?: boolean]

function columnsOf(rows: readonly Row[]): PointColumns {
  const columns = makeColumns(rows.length)
  rows.forEach(([time, value, bad], i) => {
    columns.times[i] = time
    columns.values[i] = value
    if (bad) columns.statuses[i] = STATUS_BAD
  })
  return columns
}

function integrate(
  rows: readonly Row[],
  spans: readonly (readonly [number, number])[],
  { stepped = false, holdUntil = 1e15, page = 1000 },
) {
  const integrator = new SignalIntegrator(
    Float64Array.from(spans, ([start]) => start),
    Float64Array.from(spans, ([, end]) => end),
    { stepped, holdUntil: instantFromUs(holdUntil) },
  )
  const points = columnsOf(rows)
  for (let i = 0; i < rows.length; i += page) {
    integrator.add(sliceColumns(points, i, Math.min(rows.length, i + page)))
  }
  return integrator.finish()
}

test('the integral of a line is that of its trapezoids, of a stepped signal that of its rectangles', () => {
  const rows: Row[] = [
    [0, 0],
    [10, 20],
    [20, 20],
  ]
  assert.deepEqual(integrate(rows, [[0, 20]], {}).integrals, Float64Array.of(300))
  assert.deepEqual(integrate(rows, [[0, 20]], { stepped: true }).integrals, Float64Array.of(200))
})

test('a span that cuts segments takes its share of them, and one without a value adds and covers nothing', () => {
  const rows: Row[] = [
    [0, 0],
    [10, 20],
  ]
  const spans = [
    [-20, -10],
    [-10, 5],
    [5, 6],
    [6, 6],
    [8, 30],
  ] as const
  assert.deepEqual(integrate(rows, spans, { holdUntil: 15 }), {
    integrals: Float64Array.of(0, 25, 11, 0, 36 + 100),
    coveredUs: Float64Array.of(0, 5, 1, 0, 7),
  })
})

test('a time average is over the part that has a value', () => {
  const { integrals, coveredUs } = integrate(
    [[10, 4]],
    [
      [0, 10],
      [0, 20],
    ],
    { holdUntil: 15 },
  )
  assert.deepEqual(timeAverages({ integrals, coveredUs }), Float64Array.of(Number.NaN, 4))
})

const rows = fc
  .uniqueArray(
    fc.tuple(fc.integer({ min: 0, max: 80 }), fc.integer({ min: -50, max: 50 }), fc.nat({ max: 3 })),
    {
      maxLength: 30,
      selector: ([time]) => time,
    },
  )
  .map((rows) => rows.sort(([a], [b]) => a - b).map(([time, value, bad]): Row => [time, value, bad === 0]))

const spans = fc
  .array(fc.integer({ min: -5, max: 90 }), { maxLength: 12 })
  .map((edges) => edges.sort((a, b) => a - b))
  .map((edges) => edges.flatMap((edge, i) => (i % 2 ? [[edges[i - 1]!, edge] as const] : [])))

test('integrals are those added up microsecond by microsecond, however the points are paged', () => {
  fc.assert(
    fc.property(
      rows,
      spans,
      fc.boolean(),
      fc.integer({ min: 0, max: 100 }),
      fc.integer({ min: 1, max: 9 }),
      (rows, spans, stepped, holdUntil, page) => {
        const shape = { stepped, holdUntil: instantFromUs(holdUntil) }
        const grid = Float64Array.from({ length: 100 }, (_, i) => i - 6)
        const points = columnsOf(rows)
        const left = valuesFromPoints(points, null, null, grid, shape, 'at')
        const right = valuesFromPoints(points, null, null, grid, shape, 'before')
        const found = integrate(rows, spans, { stepped, holdUntil, page })
        spans.forEach(([start, end], i) => {
          let integral = 0
          let covered = 0
          for (let t = start; t < end; t++) {
            const one = (left[t + 6]! + right[t + 7]!) / 2
            if (Number.isNaN(one)) continue
            integral += one
            covered++
          }
          assert.ok(Math.abs(found.integrals[i]! - integral) < 1e-9)
          assert.equal(found.coveredUs[i], covered)
        })
      },
    ),
  )
})

test('a million small segments add up without drift', () => {
  const rows = Array.from({ length: 1_000_001 }, (_, i): Row => [i * 100_000, 0.1])
  assert.equal(integrate(rows, [[0, 1e11]], {}).integrals[0], 1e10)
})
