import type { Side } from '../series/interpolate.ts'
import type { SlidingOp } from './operators/rolling/ops.ts'
import type { Model, RawPoint, Reference } from './slow-reference.fixture.ts'

/** SLIDINGAGG worked out anew for each window, from the slow reference of their input; TOTAL with a unit of 4 us. */
export interface SlowWindows {
  valueAt(at: number, side: Side): number
  /** Ascending. */
  raw(): readonly RawPoint[]
}

export function slowSliding(
  input: Model,
  op: SlidingOp,
  us: number,
  reference: Reference,
  now: number,
): SlowWindows {
  const endsAtNow =
    !Number.isNaN(reference.valueAt(input, now)) && Number.isNaN(reference.valueAt(input, now + 1))
  const valueAt = (at: number, side: Side): number => {
    // From the left the window is that of one microsecond before, as far as points go.
    const last = side === 'at' ? at : at - 1
    const points = reference
      .rawTimes(input)
      .filter((time) => time > last - us && time <= last)
      .map((time) => reference.rawPoint(input, time))
    const good = points.filter(({ bad }) => !bad).map(({ value }) => value)
    switch (op) {
      case 'COUNT':
        return points.length
      case 'NUMGOOD':
        return good.length
      case 'NUMBAD':
        return points.length - good.length
      case 'SUM':
        return good.length === 0 ? Number.NaN : sum(good)
      case 'VAR':
        return variance(good)
      case 'STDDEV':
        return Math.sqrt(variance(good))
      case 'DIFF':
        return reference.valueAt(input, at, side) - reference.valueAt(input, at - us, side)
      case 'TOTAL':
        return reference.covered(input, at - us, at) === 0
          ? 0 * reference.valueAt(input, at, side)
          : reference.integral(input, at - us, at) / 4
      case 'AVG': {
        const covered = reference.covered(input, at - us, at)
        return covered === 0
          ? reference.valueAt(input, at, side)
          : reference.integral(input, at - us, at) / covered
      }
      case 'MIN':
      case 'MAX': {
        // Where a hold ends, what sloped until then has its last value.
        const inside = [...reference.rawTimes(input), ...(endsAtNow ? [now] : [])]
          .filter((time) => time > last - us && time <= last)
          .flatMap((time) => [reference.valueAt(input, time), reference.valueAt(input, time, 'before')])
        const ends = [reference.valueAt(input, at - us, side), reference.valueAt(input, at, side)]
        const values = [...inside, ...ends].filter((value) => !Number.isNaN(value))
        if (values.length === 0) return Number.NaN
        return op === 'MIN' ? Math.min(...values) : Math.max(...values)
      }
    }
  }
  return {
    valueAt,
    raw: () =>
      reference.rawTimes(input).map((time) => {
        const value = valueAt(time, 'at')
        return { time, value, bad: Number.isNaN(value) || reference.rawPoint(input, time).bad }
      }),
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** Sample variance in two passes. */
function variance(values: readonly number[]): number {
  if (values.length < 2) return values.length === 1 ? 0 : Number.NaN
  const mean = sum(values) / values.length
  return sum(values.map((value) => (value - mean) ** 2)) / (values.length - 1)
}
