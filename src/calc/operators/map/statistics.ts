import type { BuildFunction } from '../../functions/define.ts'
import type { Traits } from '../../graph/operator.ts'
import { MapOperator } from './map.ts'
import type { MapRule } from './rule.ts'

/**
 * A statistic of several values.
 * @param values  the values are the first `count`; may be changed
 * @param count   at least 1
 */
export type Statistic = (values: Float64Array, count: number) => number

/**
 * Builds a statistic of the inputs that have a value at each time; where none has one there is none.
 * @param linear  whether it is linear between raw points where all inputs are and all have values
 * @source CALCULATIONS.md, section 4
 */
export function statisticOver(
  list: string,
  statistic: Statistic,
  linear: (inputs: readonly Traits[]) => boolean,
): BuildFunction {
  const rule: MapRule = {
    combine: (inputs, result) => {
      const values = new Float64Array(inputs.length)
      for (let i = 0; i < result.length; i++) {
        let count = 0
        for (let n = 0; n < inputs.length; n++) {
          const value = inputs[n]![i]!
          if (!Number.isNaN(value)) values[count++] = value
        }
        result[i] = count === 0 ? Number.NaN : statistic(values, count)
      }
    },
    linear: (inputs) => {
      if (new Set(inputs).size === 1) return true
      // Where one of several inputs ends with the hold of its last point, the result goes on with another value, at a
      // time that is no raw point.
      return inputs.every((input) => input.varies !== 'data') && linear(inputs)
    },
    leavesNullsOut: true,
  }
  return (args, context) => new MapOperator(rule, args.seriesList(list), context)
}

/** The largest value. */
export const maxOf: Statistic = (values, count) => {
  let found = values[0]!
  for (let n = 1; n < count; n++) if (values[n]! > found) found = values[n]!
  return found
}

/** The smallest value. */
export const minOf: Statistic = (values, count) => {
  let found = values[0]!
  for (let n = 1; n < count; n++) if (values[n]! < found) found = values[n]!
  return found
}

/** The arithmetic mean: not below the smallest value nor above the largest, so that of equal ones it is each. */
export const meanOf: Statistic = (values, count) => {
  let sum = 0
  let least = values[0]!
  let greatest = least
  for (let n = 0; n < count; n++) {
    const value = values[n]!
    sum += value
    if (value < least) least = value
    else if (value > greatest) greatest = value
  }
  const mean = Number.isFinite(sum) ? sum / count : meanOfParts(values, count)
  return Math.min(Math.max(mean, least), greatest)
}

/** Where the sum leaves the range of doubles, which the mean of doubles cannot. */
function meanOfParts(values: Float64Array, count: number): number {
  let mean = 0
  for (let n = 0; n < count; n++) mean += values[n]! / count
  return mean
}

/** The value in the middle, or the mean of the two that are. */
export const medianOf: Statistic = (values, count) => {
  const middle = count >> 1
  const high = select(values, count, middle)
  if (count % 2 === 1) return high
  // All below the middle are smaller by now.
  const low = maxOf(values, middle)
  return low === high ? low : low / 2 + high / 2
}

/**
 * Puts the value that has so many smaller ones at its place, smaller ones before and larger ones after it. An
 * expression may have thousands of inputs, and sorting them at every time would take ten times as long.
 * @source C. A. R. Hoare, Algorithm 65: Find, Communications of the ACM 4 (1961)
 */
function select(values: Float64Array, count: number, place: number): number {
  let low = 0
  let high = count - 1
  while (low < high) {
    // Any pivot gives the same value. A random one cannot be known by the author of the expression.
    const pivot = values[low + Math.floor(Math.random() * (high - low + 1))]!
    let left = low
    let right = high
    while (left <= right) {
      while (values[left]! < pivot) left++
      while (values[right]! > pivot) right--
      if (left > right) break
      const value = values[left]!
      values[left++] = values[right]!
      values[right--] = value
    }
    if (place <= right) high = right
    else if (place >= left) low = left
    else break
  }
  return values[place]!
}

/** The sample variance: the squares of the distances from the mean over one less than the count; 0 for one value. */
export const varianceOf: Statistic = (values, count) => {
  const average = meanOf(values, count)
  return count === 1 ? 0 : squares(values, count, average, 1) / (count - 1)
}

/** The root of the sample variance. */
export const deviationOf: Statistic = (values, count) => {
  const average = meanOf(values, count)
  let widest = 0
  for (let n = 0; n < count; n++) widest = Math.max(widest, Math.abs(values[n]! - average))
  if (widest === 0) return 0
  // In units of the widest distance, so that its square neither overflows nor vanishes.
  return widest * Math.sqrt(squares(values, count, average, widest) / (count - 1))
}

function squares(values: Float64Array, count: number, average: number, unit: number): number {
  let sum = 0
  for (let n = 0; n < count; n++) {
    const distance = (values[n]! - average) / unit
    sum += distance * distance
  }
  return sum
}
