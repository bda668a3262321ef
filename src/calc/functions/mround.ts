import { elementwiseOf } from '../operators/map/arithmetic.ts'
import { toMultiples } from '../operators/map/rounding-rules.ts'
import { defineFunction, seriesParameter } from './define.ts'

export const mround = defineFunction({
  name: 'MROUND',
  aliases: [],
  section: 'arithmetic',
  parameters: [seriesParameter('x'), seriesParameter('m')],
  summary: 'Multiple of m that is nearest to x at each time, halves away from zero.',
  details:
    'Numbers are taken as they are printed, so that 0.3 is a multiple of 0.1. The sign of m does not matter.',
  nulls: 'propagate; null where m is 0',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'MROUND(12.34, 0.5)', value: 12.5 },
    { calculation: 'MROUND(12.25, 0.5)', value: 12.5 },
    { calculation: 'MROUND(-12.25, 0.5)', value: -12.5 },
    { calculation: 'MROUND(12, 0)', value: null },
  ],
  source: 'docs/calculations.md#mround',
  build: elementwiseOf(['x', 'm'], toMultiples('nearest', 'nearest')),
})
