import { areStepped, each, elementwiseOf } from '../operators/map/arithmetic.ts'
import { defineFunction, seriesParameter } from './define.ts'

export const sqrt = defineFunction({
  name: 'SQRT',
  aliases: [],
  section: 'arithmetic',
  parameters: [seriesParameter('x')],
  summary: 'Square root of x at each time.',
  nulls: 'propagate; null where x is below 0',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'SQRT(16)', value: 4 },
    { calculation: 'SQRT(2.25)', value: 1.5 },
    { calculation: 'SQRT(0)', value: 0 },
    { calculation: 'SQRT(-1)', value: null },
  ],
  source: 'docs/calculations.md#sqrt',
  build: elementwiseOf(['x'], {
    combine: each(Math.sqrt),
    linear: areStepped,
  }),
})
