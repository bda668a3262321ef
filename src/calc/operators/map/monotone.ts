/**
 * Where a calculation of one number answers comparisons in another way than at the doubles beside it. Functions here
 * are monotone in the arithmetic of doubles, not only on paper: each operation on a number and a constant rounds
 * correctly, and correct rounding keeps the order.
 */

/** More than this are not worth looking for: each level of a calculation may need a few for each of the one above. */
const MOST_THRESHOLDS = 64

const doubles = new Float64Array(1)
const words = new BigInt64Array(doubles.buffer)

/** Number of a double in the order of all of them. */
function rankOf(value: number): bigint {
  doubles[0] = value
  const bits = words[0]!
  return bits < 0n ? -(bits & 0x7fff_ffff_ffff_ffffn) - 1n : bits
}

function doubleOf(rank: bigint): number {
  words[0] = rank < 0n ? (-rank - 1n) | -0x8000_0000_0000_0000n : rank
  return doubles[0]!
}

/**
 * Bisection of all doubles from one to another, of which one only has a property.
 * @param has changes once between the two
 * @returns the two doubles beside each other that the change lies between, ascending
 */
export function changeBetween(low: number, high: number, has: (x: number) => boolean): readonly number[] {
  let [from, to] = [rankOf(low), rankOf(high)]
  const first = has(low)
  while (to - from > 1n) {
    const middle = (from + to) >> 1n
    if (has(doubleOf(middle)) === first) from = middle
    else to = middle
  }
  return [doubleOf(from), doubleOf(to)]
}

/**
 * The thresholds of x that comparisons of a monotone function of x come down to: numbers that lie on one side of each
 * of them have values on one side of each threshold, or all have none.
 * @param compute    monotone; NaN for no value, which it has below or above some numbers
 * @returns          ascending; `null` where they are not looked for
 */
export function thresholdsBelow(
  compute: (x: number) => number,
  thresholds: readonly number[],
): readonly number[] | null {
  const hasValue = (x: number) => !Number.isNaN(compute(x))
  if (!hasValue(0)) return null
  const found = new Set<number>()
  const ends = [-Number.MAX_VALUE, Number.MAX_VALUE].map((end) => {
    if (hasValue(end)) return end
    const beside = end < 0 ? changeBetween(end, 0, hasValue) : changeBetween(0, end, hasValue)
    for (const one of beside) found.add(one)
    return end < 0 ? beside[1]! : beside[0]!
  })
  const [low, high] = ends as [number, number]
  for (const threshold of thresholds) {
    for (const has of [(x: number) => compute(x) >= threshold, (x: number) => compute(x) > threshold]) {
      if (has(low) !== has(high)) for (const one of changeBetween(low, high, has)) found.add(one)
    }
  }
  // No number is beyond: all compare alike.
  if (found.size === 0) found.add(Number.MAX_VALUE)
  return found.size > MOST_THRESHOLDS ? null : [...found].sort((a, b) => a - b)
}
