import { areStepped, elementwiseOf, pairs } from '../operators/map/arithmetic.ts'
import { defineFunction, seriesParameter } from './define.ts'

export const log = defineFunction({
  name: 'LOG',
  aliases: [],
  section: 'arithmetic',
  parameters: [seriesParameter('x'), seriesParameter('base')],
  summary: 'Logarithm of x to a base at each time.',
  nulls: 'propagate; null where x or the base is 0 or less, or the base is 1',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'LOG(8, 2)', value: 3 },
    { calculation: 'LOG(1000, 10)', value: 3 },
    { calculation: 'LOG(8, 0.5)', value: -3 },
    { calculation: 'LOG(0, 10)', value: null },
    { calculation: 'LOG(8, 1)', value: null },
    { calculation: 'LOG(8, -2)', value: null },
  ],
  source: 'docs/calculations.md#log',
  build: elementwiseOf(['x', 'base'], { combine: pairs(logarithm), linear: areStepped }),
})

function logarithm(x: number, base: number): number {
  // To base 0 the quotient would be 0.
  if (base <= 0) return Number.NaN
  const quotient = Math.log(x) / Math.log(base)
  // The quotient of two rounded logarithms just misses whole powers: of 1000 to base 10 it is 2.9999999999999996.
  const whole = Math.round(quotient)
  return base ** whole === x ? whole : quotient
}
