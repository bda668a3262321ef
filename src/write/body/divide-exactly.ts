/** Splits a double into two halves of 26 bits. */
const SPLITTER = 2 ** 27 + 1
/** More than all roundings of the remainder together, as a part of what went into it. */
const DOUBT = 2 ** -50

/**
 * (high * scale + low) / divisor, rounded once to the nearest double, as the text of that decimal would be read.
 *
 * The dividend is held as the sum of two doubles, which is exact; the quotient as a double and what is missing of it.
 * Source of the exact sums and products: T. J. Dekker, A floating-point technique for extending the available precision
 * (1971).
 * @param high, low whole numbers from 0 to below 2^31
 * @param scale     a power of ten up to 10^9
 * @param divisor   a power of ten up to 10^22
 * @returns         NaN when it lies too near to the middle of two doubles to say which one
 */
export function divideExactly(high: number, scale: number, low: number, divisor: number): number {
  const product = high * scale
  const dividend = product + low
  // As `low` is below the last digit of `product` or both are small, this is what the two roundings lost.
  const rest = low - (dividend - product) + productError(high, scale, product)

  const quotient = dividend / divisor
  const back = quotient * divisor
  const difference = dividend - back
  const backError = productError(quotient, divisor, back)
  const missing = (difference - backError + rest) / divisor
  const doubt = ((Math.abs(difference) + Math.abs(backError) + Math.abs(rest)) / divisor) * DOUBT
  const least = quotient + (missing - doubt)
  return least === quotient + (missing + doubt) ? least : Number.NaN
}

/** What the rounding of a product lost of it: exactly a * b - product. */
function productError(a: number, b: number, product: number): number {
  const splitA = SPLITTER * a
  const highA = splitA - (splitA - a)
  const lowA = a - highA
  const splitB = SPLITTER * b
  const highB = splitB - (splitB - b)
  const lowB = b - highB
  return lowA * lowB - (product - highA * highB - lowA * highB - highA * lowB)
}
