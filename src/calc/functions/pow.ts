import { areStepped, elementwiseOf, pairs } from '../operators/map/arithmetic.ts'
import { defineFunction, seriesParameter } from './define.ts'

export const pow = defineFunction({
  name: 'POW',
  aliases: ['POWER'],
  section: 'arithmetic',
  parameters: [seriesParameter('x'), seriesParameter('p')],
  summary: 'x to the power of p at each time.',
  nulls:
    'propagate; null where x is below 0 and p not whole, where x is 0 and p below 0, and where the power is out of range',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'POW(25, 0.5)', value: 5 },
    { calculation: 'POWER(-2, 3)', value: -8 },
    { calculation: 'POW(2, -1)', value: 0.5 },
    { calculation: 'POW(0, 0)', value: 1 },
    { calculation: 'POW(-8, 0.5)', value: null },
    { calculation: 'POW(0, -1)', value: null },
  ],
  source: 'docs/calculations.md#pow',
  build: elementwiseOf(['x', 'p'], { combine: pairs(power), linear: areStepped }),
})

function power(x: number, p: number): number {
  // JavaScript has NaN ** 0 = 1; here null in is null out.
  return Number.isNaN(x) ? x : x ** p
}
