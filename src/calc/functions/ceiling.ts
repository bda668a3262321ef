import { elementwiseOf } from '../operators/map/arithmetic.ts'
import { toMultiples } from '../operators/map/rounding-rules.ts'
import { defineFunction, seriesParameter } from './define.ts'

export const ceiling = defineFunction({
  name: 'CEILING',
  aliases: [],
  section: 'arithmetic',
  parameters: [seriesParameter('x'), seriesParameter('m')],
  summary: 'x if it is a multiple of m, otherwise the next higher multiple, at each time.',
  details:
    'Numbers are taken as they are printed, so that 0.3 is a multiple of 0.1. The sign of m does not matter.',
  nulls: 'propagate; null where m is 0',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'CEILING(12.34, 0.5)', value: 12.5 },
    { calculation: 'CEILING(-12.34, 0.5)', value: -12 },
    { calculation: 'CEILING(0.3, 0.1)', value: 0.3 },
    { calculation: 'CEILING(12, 0)', value: null },
  ],
  source: 'docs/calculations.md#ceiling',
  build: elementwiseOf(['x', 'm'], toMultiples('away', 'towards')),
})
