import { areStepped, each, elementwiseOf } from '../operators/map/arithmetic.ts'
import { defineFunction, seriesParameter } from './define.ts'

export const sign = defineFunction({
  name: 'SIGN',
  aliases: [],
  section: 'arithmetic',
  parameters: [seriesParameter('x')],
  summary: 'Sign of x at each time: 1 above 0, -1 below it, 0 at it.',
  nulls: 'propagate',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'SIGN(2.5)', value: 1 },
    { calculation: 'SIGN(-2.5)', value: -1 },
    { calculation: 'SIGN(0)', value: 0 },
  ],
  source: 'docs/calculations.md#sign',
  build: elementwiseOf(['x'], {
    combine: each(Math.sign),
    linear: areStepped,
    isTotal: true,
  }),
})
