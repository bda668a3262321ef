import { elementwiseOf } from '../operators/map/arithmetic.ts'
import { toDecimals } from '../operators/map/rounding-rules.ts'
import { defineFunction, seriesParameter } from './define.ts'

export const rounddown = defineFunction({
  name: 'ROUNDDOWN',
  aliases: [],
  section: 'arithmetic',
  parameters: [seriesParameter('x'), seriesParameter('n')],
  summary: 'x rounded to n decimals at each time, towards zero.',
  details:
    'Numbers are taken as they are printed: 12.345 is the decimal 12.345, not the double a little below it. Of n a fraction is cut off.',
  nulls: 'propagate',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'ROUNDDOWN(12.349, 2)', value: 12.34 },
    { calculation: 'ROUNDDOWN(12.35, 2)', value: 12.35 },
    { calculation: 'ROUNDDOWN(-2.9, 0)', value: -2 },
    { calculation: 'ROUNDDOWN(1299, -2)', value: 1200 },
  ],
  source: 'docs/calculations.md#rounddown',
  build: elementwiseOf(['x', 'n'], toDecimals('towards')),
})
