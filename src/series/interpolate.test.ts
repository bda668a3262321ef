import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { instantFromUs } from '../time/instant.ts'
import { type PointColumns, STATUS_BAD, STATUS_OK } from './columns.ts'
import { goodPoints, interpolate, valueBetween, valuesFromPoints } from './interpolate.ts'
import type { BoundingValues } from './reads.ts'

function points(...rows: readonly (readonly [number, number, ('BAD' | undefined)?])[]): PointColumns {
  return {
    times: Float64Array.from(rows, ([time]) => time),
    values: Float64Array.from(rows, ([, value]) => value),
    statuses: Uint8Array.from(rows, ([, , bad]) => (bad ? STATUS_BAD : STATUS_OK)),
  }
}

/** The slow, obvious bounding values. */
function boundingValuesOf(all: PointColumns, times: readonly number[]): BoundingValues {
  const { times: t, values: v } = goodPoints(all)
  const before = times.map((at) => t.findLastIndex((time) => time <= at))
  const after = times.map((at) => t.findIndex((time) => time >= at))
  return {
    beforeTimes: Float64Array.from(before, (i) => t[i] ?? NaN),
    beforeValues: Float64Array.from(before, (i) => v[i] ?? NaN),
    afterTimes: Float64Array.from(after, (i) => t[i] ?? NaN),
    afterValues: Float64Array.from(after, (i) => v[i] ?? NaN),
  }
}

function at(all: PointColumns, stepped: boolean, holdUntil: number, times: readonly number[]) {
  const shape = { stepped, holdUntil: instantFromUs(holdUntil) }
  return [...interpolate(boundingValuesOf(all, times), Float64Array.from(times), shape)]
}

const FLOW = points([100, 10], [200, 30], [300, 99, 'BAD'], [400, 50])

test('a linear signal is on the line between its good points, whatever BAD point lies between', () => {
  assert.deepEqual(at(FLOW, false, 1000, [99, 100, 150, 200, 300, 399]), [NaN, 10, 20, 30, 40, 49.9])
})

test('a stepped signal is held until its next good point', () => {
  assert.deepEqual(at(FLOW, true, 1000, [99, 100, 150, 199, 200, 300, 400]), [NaN, 10, 10, 10, 30, 30, 50])
})

test('the last good point holds up to now, now included, and has no value beyond', () => {
  for (const stepped of [false, true]) {
    assert.deepEqual(at(FLOW, stepped, 500, [400, 450, 500, 501]), [50, 50, 50, NaN])
  }
})

test('points after now are seen and interpolated between, but the last of them is not held', () => {
  assert.deepEqual(at(FLOW, false, 50, [150, 200, 400, 401]), [20, 30, 50, NaN])
})

test('a line is exact at its ends, between equal values, and where the rise overflows', () => {
  assert.equal(valueBetween(100, 100, 0.1, 103, 0.7), 0.1)
  assert.equal(valueBetween(103, 100, 0.1, 103, 0.7), 0.7)
  assert.equal(valueBetween(101, 100, 0.3, 107, 0.3), 0.3)
  assert.equal(valueBetween(1, 0, -1.5e308, 2, 1.5e308), 0)
})

test('a limit from the left is what a stepped signal held until then, and the same value on a line', () => {
  const shape = (stepped: boolean) => ({ stepped, holdUntil: instantFromUs(500) })
  const before = (stepped: boolean, times: number[]) => [
    ...valuesFromPoints(FLOW, null, null, Float64Array.from(times), shape(stepped), 'before'),
  ]
  assert.deepEqual(before(true, [100, 101, 200, 300, 400, 401, 500, 501]), [NaN, 10, 10, 30, 30, 50, 50, NaN])
  assert.deepEqual(before(false, [100, 150, 200, 400, 500, 501]), [NaN, 20, 30, 50, 50, NaN])
})

const columns = fc
  .uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 25 })
  .chain((times) =>
    fc.tuple(
      fc.constant(times.sort((a, b) => a - b)),
      fc.array(fc.double({ min: -1e3, max: 1e3, noNaN: true }), {
        minLength: times.length,
        maxLength: times.length,
      }),
      fc.array(fc.nat({ max: 3 }), { minLength: times.length, maxLength: times.length }),
    ),
  )
  .map(([times, values, bad]) =>
    points(...times.map((time, i) => [time, values[i]!, bad[i] === 0 ? 'BAD' : undefined] as const)),
  )

test('values from a run of points and its edges are those from bounding values', () => {
  fc.assert(
    fc.property(columns, fc.nat(60), fc.nat(60), fc.boolean(), fc.nat(70), (all, a, b, stepped, hold) => {
      const from = Math.min(a, b)
      const to = Math.max(a, b)
      const shape = { stepped, holdUntil: instantFromUs(hold) }
      const good = goodPoints(all)
      const edge = (i: number) => (i < 0 || i >= good.times.length ? null : i)
      const prev = edge(good.times.findLastIndex((time) => time < from))
      const next = edge(good.times.findIndex((time) => time >= to))
      const inside = points(
        ...[...all.times]
          .map((time, i) => [time, all.values[i]!, all.statuses[i] ? 'BAD' : undefined] as const)
          .filter(([time]) => time >= from && time < to),
      )
      const times = Float64Array.from({ length: to - from + 1 }, (_, i) => from + i)
      const edgePoint = (i: number | null) =>
        i === null ? null : { time: good.times[i]!, value: good.values[i]! }
      assert.deepEqual(
        valuesFromPoints(inside, edgePoint(prev), edgePoint(next), times, shape, 'at'),
        interpolate(boundingValuesOf(all, [...times]), times, shape),
      )
    }),
  )
})

test('searching and walking give the same values', () => {
  const many = points(...Array.from({ length: 1000 }, (_, i) => [i * 7, Math.sin(i)] as const))
  const shape = { stepped: false, holdUntil: instantFromUs(10_000) }
  for (const side of ['at', 'before'] as const) {
    const all = Float64Array.from({ length: 7100 }, (_, i) => i)
    const walked = valuesFromPoints(many, null, null, all, shape, side)
    for (const time of [0, 1, 7, 3500, 6993, 6994, 7099]) {
      const [searched] = valuesFromPoints(many, null, null, Float64Array.of(time), shape, side)
      assert.ok(Object.is(searched, walked[time]), `${side} ${time}`)
    }
  }
})
