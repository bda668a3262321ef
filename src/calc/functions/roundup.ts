import { elementwiseOf } from '../operators/map/arithmetic.ts'
import { toDecimals } from '../operators/map/rounding-rules.ts'
import { defineFunction, seriesParameter } from './define.ts'

export const roundup = defineFunction({
  name: 'ROUNDUP',
  aliases: [],
  section: 'arithmetic',
  parameters: [seriesParameter('x'), seriesParameter('n')],
  summary: 'x rounded to n decimals at each time, away from zero.',
  details:
    'Numbers are taken as they are printed: 12.345 is the decimal 12.345, not the double a little below it. Of n a fraction is cut off.',
  nulls: 'propagate',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'ROUNDUP(12.341, 2)', value: 12.35 },
    { calculation: 'ROUNDUP(12.34, 2)', value: 12.34 },
    { calculation: 'ROUNDUP(-2.1, 0)', value: -3 },
    { calculation: 'ROUNDUP(1201, -2)', value: 1300 },
  ],
  source: 'docs/calculations.md#roundup',
  build: elementwiseOf(['x', 'n'], toDecimals('away')),
})
