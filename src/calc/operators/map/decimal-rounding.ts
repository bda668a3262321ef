/**
 * Rounding of numbers as they are printed: 12.345 is taken for the decimal 12.345, not for the slightly smaller double
 * that stands for it, so that to two decimals it is 12.35. Every double is taken for its shortest decimal, the one that
 * JSON shows; results are the doubles nearest to the exact decimal result.
 */

/** Where to go from between two multiples: to the nearer one and from the middle away from zero, or always one way. */
export type Rounding = 'nearest' | 'away' | 'towards'

/** Decimals of up to 15 digits are the shortest ones of their doubles, whatever their exponent. */
const DIGITS_LIMIT = 1e15
/** No double needs more digits than 17. */
const MOST_DIGITS = 17
/** Largest power of ten that is a double, so that one multiplication or division with it rounds once. */
const EXACT_POWER = 22
/** Quotients above this have no digits left to say how far a multiple is. */
const QUOTIENT_LIMIT = 2 ** 49
/** Bound of the relative error of a quotient, from the roundings of both numbers and of the division; generous. */
const QUOTIENT_ERROR = 2 ** -50
/** Beyond this many decimals, to the left or right, no double has digits. */
const MOST_DECIMALS = 400

const POWERS = Float64Array.from({ length: EXACT_POWER + 1 }, (_, exponent) => Number(`1e${exponent}`))

/**
 * What is rounded to multiples of: `digits` times ten to the `exponent`, above 0. One object for a whole column, set
 * anew where the unit changes, so that nothing is allocated for each point.
 */
export class RoundingUnit {
  /** As a double where they are below 10^15, otherwise 0. */
  #digits = 1
  #exactDigits = 1n
  #exponent = 0
  /** The double of the unit: 0 or infinite where the unit is out of range. */
  #value = 1
  /** What it was set to last. */
  #multiple = Number.NaN
  #decimals = Number.NaN

  /** Makes 10^-decimals the unit. @param decimals an integer; those beyond 400 count as 400 */
  setDecimals(decimals: number): void {
    if (decimals === this.#decimals) return
    const exponent = -Math.max(-MOST_DECIMALS, Math.min(MOST_DECIMALS, decimals))
    this.#set(1n, exponent, Number(`1e${exponent}`))
    this.#decimals = decimals
    this.#multiple = Number.NaN
  }

  /** Makes a number the unit, whatever its sign. @param multiple finite, not 0 */
  setMultiple(multiple: number): void {
    if (multiple === this.#multiple) return
    const { digits, exponent } = decimalOf(Math.abs(multiple))
    this.#set(digits, exponent, Math.abs(multiple))
    this.#multiple = multiple
    this.#decimals = Number.NaN
  }

  /**
   * The multiple of the unit that a number is rounded to; with the sign of the number, 0 without one.
   * @param x  NaN gives NaN
   * @returns  infinite where the multiple is no double
   */
  round(x: number, rounding: Rounding): number {
    if (!(x < 0)) return x === 0 ? 0 : this.#roundPositive(x, rounding)
    // Not -0, which no caller expects.
    return 0 - this.#roundPositive(-x, rounding)
  }

  #roundPositive(x: number, rounding: Rounding): number {
    if (Number.isNaN(x)) return x
    const quotient = x / this.#value
    // All its digits stand left of the unit's place.
    if (this.#digits === 1 && quotient >= 10 ** MOST_DIGITS) return x
    const quick = this.#digits !== 0 && Math.abs(this.#exponent) <= EXACT_POWER && quotient < QUOTIENT_LIMIT
    if (!quick) return this.#roundExactly(x, rounding)
    const error = quotient * QUOTIENT_ERROR
    const below = Math.floor(quotient)
    if (rounding === 'nearest') {
      const aboveHalf = quotient - below - 0.5
      if (Math.abs(aboveHalf) > error) return this.#times(x, aboveHalf > 0 ? below + 1 : below, rounding)
      // Exactly half, as decimals: away from zero.
      const isHalf = isDecimal(x, (2 * below + 1) * this.#digits * 5, this.#exponent - 1)
      return isHalf ? this.#times(x, below + 1, rounding) : this.#roundExactly(x, rounding)
    }
    const nearest = Math.round(quotient)
    if (Math.abs(quotient - nearest) > error) {
      return this.#times(x, rounding === 'away' ? below + 1 : below, rounding)
    }
    // A multiple stays as it is.
    return isDecimal(x, nearest * this.#digits, this.#exponent) ? x : this.#roundExactly(x, rounding)
  }

  #times(x: number, count: number, rounding: Rounding): number {
    const digits = count * this.#digits
    return digits <= Number.MAX_SAFE_INTEGER
      ? scaled(digits, this.#exponent)
      : this.#roundExactly(x, rounding)
  }

  #roundExactly(x: number, rounding: Rounding): number {
    const decimal = decimalOf(x)
    const exponent = Math.min(decimal.exponent, this.#exponent)
    const number = decimal.digits * 10n ** BigInt(decimal.exponent - exponent)
    const unit = this.#exactDigits * 10n ** BigInt(this.#exponent - exponent)
    const rest = number % unit
    if (rest === 0n) return x
    const isUp = rounding === 'away' || (rounding === 'nearest' && 2n * rest >= unit)
    return Number(`${(number / unit + (isUp ? 1n : 0n)) * this.#exactDigits}e${this.#exponent}`)
  }

  #set(digits: bigint, exponent: number, value: number): void {
    this.#digits = digits < DIGITS_LIMIT ? Number(digits) : 0
    this.#exactDigits = digits
    this.#exponent = exponent
    this.#value = value
  }
}

/** Whether a double is printed as digits times ten to the exponent. May say no where there are many digits. */
function isDecimal(x: number, digits: number, exponent: number): boolean {
  return digits < DIGITS_LIMIT && exponent >= -EXACT_POWER && scaled(digits, exponent) === x
}

/** The double nearest to digits, at most 2^53, times ten to the exponent, at most 22 either way. */
function scaled(digits: number, exponent: number): number {
  return exponent < 0 ? digits / POWERS[-exponent]! : digits * POWERS[exponent]!
}

/** The shortest decimal of a positive finite double. */
function decimalOf(x: number): { readonly digits: bigint; readonly exponent: number } {
  const text = x.toExponential()
  const mark = text.indexOf('e')
  const digits = text.slice(0, mark).replace('.', '')
  return { digits: BigInt(digits), exponent: Number(text.slice(mark + 1)) - (digits.length - 1) }
}
