/**
 * Whole-number arithmetic that stays exact where the difference of two instants exceeds 2^53: the accepted
 * range is 500 years, and a double holds 285 years of microseconds.
 */

export interface Quotient {
  /** Rounded down; exact up to 2^53. */
  readonly quotient: number
  /** At least 0 and below the divisor. */
  readonly remainder: number
}

/** `to - from` divided by a whole number of at least 1, rounded down, with the remainder. All whole. */
export function divideSpan(from: number, to: number, divisor: number): Quotient {
  const span = to - from
  if (Number.isSafeInteger(span)) {
    const rest = span % divisor
    const quotient = (span - rest) / divisor
    return rest < 0
      ? { quotient: quotient - 1, remainder: rest + divisor }
      : { quotient, remainder: rest + 0 }
  }
  const [bigSpan, bigDivisor] = [BigInt(to) - BigInt(from), BigInt(divisor)]
  const rest = bigSpan % bigDivisor
  const remainder = rest < 0n ? rest + bigDivisor : rest
  return { quotient: Number((bigSpan - remainder) / bigDivisor), remainder: Number(remainder) }
}
