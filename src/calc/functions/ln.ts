import { areStepped, each, elementwiseOf } from '../operators/map/arithmetic.ts'
import { defineFunction, seriesParameter } from './define.ts'

export const ln = defineFunction({
  name: 'LN',
  aliases: [],
  section: 'arithmetic',
  parameters: [seriesParameter('x')],
  summary: 'Natural logarithm of x at each time.',
  nulls: 'propagate; null where x is 0 or less',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'LN(1)', value: 0 },
    { calculation: 'LN(EXP(2))', value: 2 },
    { calculation: 'LN(0)', value: null },
    { calculation: 'LN(-1)', value: null },
  ],
  source: 'docs/calculations.md#ln',
  build: elementwiseOf(['x'], {
    combine: each(Math.log),
    linear: areStepped,
  }),
})
