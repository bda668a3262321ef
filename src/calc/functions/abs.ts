import { areStepped, each, elementwiseOf } from '../operators/map/arithmetic.ts'
import { defineFunction, seriesParameter } from './define.ts'

export const abs = defineFunction({
  name: 'ABS',
  aliases: [],
  section: 'arithmetic',
  parameters: [seriesParameter('x')],
  summary: 'x without its sign at each time.',
  nulls: 'propagate',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'ABS(-2.5)', value: 2.5 },
    { calculation: 'ABS(2.5)', value: 2.5 },
    { calculation: 'ABS(0)', value: 0 },
  ],
  source: 'docs/calculations.md#abs',
  build: elementwiseOf(['x'], {
    combine: each(Math.abs),
    isTotal: true,
    // A line that crosses 0 becomes two lines.
    linear: areStepped,
  }),
})
