import type { Side } from '../series/interpolate.ts'
import type { SlidingOp } from './sliding-stretch.ts'
import type { Model, RawPoint, Reference } from './slow-reference.fixture.ts'
import type { WindowOp } from './window-series.ts'

/** SLIDINGAGG and WINDOWAGG worked out anew for each window, from the slow reference of their input. */
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

/** The points of all windows that hold any instant of [first, last]. @param origin where one of them begins */
export function slowWindows(
  input: Model,
  op: WindowOp,
  us: number,
  origin: number,
  reach: { readonly first: number; readonly last: number },
  reference: Reference,
): readonly { readonly time: number; readonly value: number }[] {
  const points: { time: number; value: number }[] = []
  const all = reference.rawTimes(input).map((time) => reference.rawPoint(input, time))
  const isMiddle = op === 'AVG' || op === 'STDDEV' || op === 'VAR'
  for (let start = startOf(reach.first, us, origin); start <= reach.last; start += us) {
    const good = all
      .filter(({ time, bad }) => !bad && time >= start && time < start + us)
      .map(({ value }) => value)
    if (good.length === 0 && op !== 'COUNT') continue
    const value = {
      AVG: () => sum(good) / good.length,
      MIN: () => Math.min(...good),
      MAX: () => Math.max(...good),
      COUNT: () => good.length,
      STDDEV: () => Math.sqrt(variance(good)),
      VAR: () => variance(good),
      SUM: () => sum(good),
    }[op]()
    points.push({ time: start + (isMiddle ? Math.floor(us / 2) : 0), value })
  }
  return points
}

export function startOf(at: number, us: number, origin: number): number {
  return at - ((((at - origin) % us) + us) % us)
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
