import { each, elementwiseOf } from '../operators/map/arithmetic.ts'
import { defineFunction, seriesParameter } from './define.ts'

export const neg = defineFunction({
  name: 'NEG',
  aliases: [],
  section: 'arithmetic',
  parameters: [seriesParameter('x')],
  summary: 'x with the opposite sign at each time.',
  nulls: 'propagate',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'NEG(2.5)', value: -2.5 },
    { calculation: 'NEG(-2.5)', value: 2.5 },
    { calculation: 'NEG(0)', value: 0 },
  ],
  source: 'docs/calculations.md#neg',
  build: elementwiseOf(['x'], {
    combine: each((x) => 0 - x),
    monotone: 'any',
    isTotal: true,
    linear: () => true,
  }),
})
