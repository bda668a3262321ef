import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appended, EMPTY_SERIES, extremesOf, readingAt, type Series, signalAt } from './series.ts'

const NONE = Number.NaN

function series(points: readonly (readonly [number, number])[]): Series {
  return {
    ...EMPTY_SERIES,
    from: 0,
    to: 100,
    columns: 10,
    times: Float64Array.from(points, ([at]) => at),
    values: Float64Array.from(points, ([, value]) => value),
  }
}

test('a linear pen reads a point within reach, and the line between points', () => {
  const line = series([
    [10, 1],
    [20, 3],
    [90, 10],
  ])
  assert.deepEqual(readingAt(line, 11, false, 2), { at: 10, value: 1, kind: 'point' })
  assert.deepEqual(readingAt(line, 15, false, 2), { at: 15, value: 2, kind: 'line' })
  assert.deepEqual(readingAt(line, 95, false, 2), { at: 90, value: 10, kind: 'point' })
  assert.equal(readingAt(line, 9, false, 2), null)
})

test('a stepped pen reads the point that holds; one before what is loaded has no time of its own', () => {
  const steps = series([
    [0, 5],
    [50, 6],
  ])
  assert.deepEqual(readingAt(steps, 49, true, 2), { at: 0, value: 5, kind: 'earlier' })
  assert.deepEqual(readingAt(steps, 99, true, 2), { at: 50, value: 6, kind: 'point' })
})

test('behind a break there is no value until the next point', () => {
  const broken = series([
    [10, 1],
    [20, NONE],
    [40, 4],
  ])
  assert.deepEqual(readingAt(broken, 30, false, 2), { at: 20, value: null, kind: 'point' })
  assert.deepEqual(readingAt(broken, 15, false, 2), { at: 10, value: 1, kind: 'point' })
  assert.equal(signalAt(broken, 30, false), null)
  assert.equal(signalAt(broken, 40, false), 4)
})

test('extremes have the values at the edges of the span, and none of a break', () => {
  const line = series([
    [0, 0],
    [50, 100],
    [60, NONE],
    [80, 5],
  ])
  assert.deepEqual(extremesOf(line, 10, 20, false), [20, 40])
  assert.deepEqual(extremesOf(line, 10, 20, true), [0, 0])
  assert.deepEqual(extremesOf(line, 40, 90, false), [5, 100])
  assert.equal(extremesOf(line, 62, 70, false), null)
})

test('newer points are put behind those that are there, once', () => {
  const before = series([[10, 1]])
  const after = appended(before, [10, 20], [1, 2], 30)
  assert.deepEqual([...after.times], [10, 20])
  assert.equal(after.to, 100)
  assert.deepEqual([...appended(after, [20], [2], 130).times], [10, 20])
})
