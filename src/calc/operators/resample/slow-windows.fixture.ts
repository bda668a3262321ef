import type { Model, Reference } from '../../slow-reference.fixture.ts'
import type { WindowOp } from './ops.ts'

/**
 * WINDOWAGG worked out anew for each window, from the slow reference of its input: the points of all windows that hold
 * any instant of [first, last]; TOTAL with a unit of 4 us. @param origin where one of them begins
 */
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
    const bad = all.filter(({ time, bad }) => bad && time >= start && time < start + us).length
    const diff = reference.valueAt(input, start + us, 'before') - reference.valueAt(input, start)
    if (op === 'DIFF' && Number.isNaN(diff)) continue
    if (op === 'TOTAL' && reference.covered(input, start, start + us) === 0) continue
    if (good.length === 0 && !['COUNT', 'NUMGOOD', 'NUMBAD', 'DIFF', 'TOTAL'].includes(op)) continue
    const value = {
      AVG: () => sum(good) / good.length,
      MIN: () => Math.min(...good),
      MAX: () => Math.max(...good),
      COUNT: () => good.length,
      STDDEV: () => Math.sqrt(variance(good)),
      VAR: () => variance(good),
      SUM: () => sum(good),
      NUMGOOD: () => good.length,
      NUMBAD: () => bad,
      DIFF: () => diff,
      TOTAL: () => reference.integral(input, start, start + us) / 4,
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
