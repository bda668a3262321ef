import { elementwiseOf } from '../operators/map/arithmetic.ts'
import { toDecimals } from '../operators/map/rounding-rules.ts'
import { defineFunction, seriesParameter } from './define.ts'

export const round = defineFunction({
  name: 'ROUND',
  aliases: [],
  section: 'arithmetic',
  parameters: [seriesParameter('x'), seriesParameter('n')],
  summary: 'x rounded to n decimals at each time, halves away from zero.',
  details:
    'Numbers are taken as they are printed: 12.345 is the decimal 12.345, not the double a little below it. Of n a fraction is cut off. n may be negative: to tens, hundreds and so on.',
  nulls: 'propagate',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'ROUND(12.345, 2)', value: 12.35 },
    { calculation: 'ROUND(-2.5, 0)', value: -3 },
    { calculation: 'ROUND(1250, -2)', value: 1300 },
    { calculation: 'ROUND(0.1, 20)', value: 0.1 },
  ],
  source: 'docs/calculations.md#round',
  build: elementwiseOf(['x', 'n'], toDecimals('nearest')),
})
