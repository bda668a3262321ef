import assert from 'node:assert/strict'
import { makeColumns, type PointColumns } from '../../src/series/columns.ts'
import { type Instant, instantFromUs } from '../../src/time/instant.ts'

/** [time in microseconds, value, status]; status left out is OK. */
export type Row = readonly [time: number, value: number, status?: number]

/** Points from rows, in the order given. */
export function points(...rows: readonly Row[]): PointColumns {
  const columns = makeColumns(rows.length)
  rows.forEach(([time, value, status], index) => {
    columns.times[index] = time
    columns.values[index] = value
    columns.statuses[index] = status ?? 0
  })
  return columns
}

/** `count` good points from `from` on, `step` apart; the value is the index. */
export function ramp(count: number, from: number, step: number): PointColumns {
  const columns = makeColumns(count)
  for (let i = 0; i < count; i++) {
    columns.times[i] = from + i * step
    columns.values[i] = i
  }
  return columns
}

export function rows(columns: PointColumns): Row[] {
  return Array.from(columns.times, (time, index) => [time, columns.values[index]!, columns.statuses[index]!])
}

/** Compares bit by bit: -0 is not 0. */
export function assertPoints(actual: PointColumns, expected: PointColumns, message?: string): void {
  assert.deepEqual(actual.times, expected.times, message ?? 'times')
  assert.deepEqual(bits(actual.values), bits(expected.values), message ?? 'values')
  assert.deepEqual(actual.statuses, expected.statuses, message ?? 'statuses')
}

function bits(values: Float64Array): BigUint64Array {
  return new BigUint64Array(values.slice().buffer)
}

export const at = (us: number): Instant => instantFromUs(us)

/** All of a tag's time. */
export const EVER = { from: at(Number.MIN_SAFE_INTEGER), to: at(Number.MAX_SAFE_INTEGER) }
