import { type Rounding, RoundingUnit } from './decimal-rounding.ts'
import { areStepped, type MapRule } from './rule.ts'

/** Rounds the first input to as many decimals as the second says, of which a fraction is cut off. */
export function toDecimals(rounding: Rounding): MapRule {
  return {
    combine: ([numbers, decimals], result) => {
      const unit = new RoundingUnit()
      for (let i = 0; i < result.length; i++) {
        const places = Math.trunc(decimals![i]!)
        if (Number.isNaN(places)) result[i] = Number.NaN
        else {
          unit.setDecimals(places)
          result[i] = unit.round(numbers![i]!, rounding)
        }
      }
    },
    linear: areStepped,
    isTotal: true,
  }
}

/**
 * Rounds the first input to a multiple of the second, whose sign does not matter.
 * @param rounding of numbers above 0 @param below of numbers below 0
 */
export function toMultiples(rounding: Rounding, below: Rounding): MapRule {
  return {
    combine: ([numbers, multiples], result) => {
      const unit = new RoundingUnit()
      for (let i = 0; i < result.length; i++) {
        const x = numbers![i]!
        const multiple = multiples![i]!
        if (multiple === 0 || Number.isNaN(multiple)) result[i] = Number.NaN
        else {
          unit.setMultiple(multiple)
          result[i] = unit.round(x, x < 0 ? below : rounding)
        }
      }
    },
    linear: areStepped,
  }
}
