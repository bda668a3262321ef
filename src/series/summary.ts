import { type PointColumns, STATUS_OK } from './columns.ts'
import { CompensatedSum } from './sum.ts'

/** What can be kept of some points to compute every aggregate of longer runs but the median and timeAvg. */
export interface Summary {
  /** All points, BAD ones too. */
  readonly count: number
  /** Good points; the fields below are over these, and NaN or 0 (sum, squares) when there is none. */
  readonly numGood: number
  readonly sum: number
  readonly mean: number
  /**
   * What rounding took from the mean: `mean + meanRest` has the digits of two doubles. Without it the variance of
   * values such as 1,000,000 ± 0.01 loses half of its digits when summaries are merged.
   */
  readonly meanRest: number
  /** Sum of the squared differences from the mean. */
  readonly squares: number
  readonly min: number
  readonly max: number
  readonly first: number
  readonly last: number
}

/**
 * Points are summed up in blocks of this many, and blocks merged: few divisions, and errors grow with the blocks only.
 */
export const BLOCK_POINTS = 4096

/**
 * Summary of the points with index from start (included) to end (excluded).
 * @param points      ascending; points without a value count as BAD
 * @param withSquares whether squares are wanted, which take as long as all else; without them they are 0
 */
export function summarize(
  points: PointColumns,
  start = 0,
  end = points.times.length,
  withSquares = true,
): Summary {
  const { values, statuses } = points
  // Neumaier's compensation, as in CompensatedSum, in place: these loops see every point that is read or stored.
  let sum = 0
  let lost = 0
  let numGood = 0
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  let first = Number.NaN
  let last = Number.NaN
  for (let i = start; i < end; i++) {
    const value = values[i]!
    if (statuses[i] !== STATUS_OK || Number.isNaN(value)) continue
    if (numGood === 0) first = value
    last = value
    if (value < min) min = value
    if (value > max) max = value
    const next = sum + value
    if (Math.abs(sum) >= Math.abs(value)) lost += sum - next + value
    else lost += value - next + sum
    sum = next
    numGood++
  }
  if (numGood === 0) return { ...NOTHING, count: end - start }
  if (Number.isFinite(sum)) sum += lost
  const mean = meanOf(sum, numGood, values, statuses, start, end)
  const summary = { count: end - start, numGood, sum, mean, meanRest: 0, squares: 0, min, max, first, last }
  if (!withSquares) return summary
  // Two passes: squares of differences from a mean that is known do not cancel. What the mean is off by from rounding
  // shows as a sum of differences that is not 0, and is taken out again.
  let squares = 0
  let differences = 0
  for (let i = start; i < end; i++) {
    const value = values[i]!
    if (statuses[i] !== STATUS_OK || Number.isNaN(value)) continue
    const difference = value - mean
    squares += difference * difference
    differences += difference
  }
  const rest = differences / numGood
  squares = Math.max(0, squares - differences * rest)
  const meanRest = Number.isFinite(rest) ? rest : 0
  return { ...summary, meanRest, squares }
}

const NOTHING: Summary = {
  count: 0,
  numGood: 0,
  sum: 0,
  mean: Number.NaN,
  meanRest: 0,
  squares: 0,
  min: Number.NaN,
  max: Number.NaN,
  first: Number.NaN,
  last: Number.NaN,
}

/** The mean, also of values whose sum leaves the range of doubles. */
function meanOf(
  sum: number,
  numGood: number,
  values: Float64Array,
  statuses: Uint8Array,
  start: number,
  end: number,
): number {
  if (Number.isFinite(sum)) return sum / numGood
  const parts = new CompensatedSum()
  for (let i = start; i < end; i++) {
    const value = values[i]!
    if (statuses[i] === STATUS_OK && !Number.isNaN(value)) parts.add(value / numGood)
  }
  return parts.value
}
