import { elementwiseOver, fold } from '../operators/map/arithmetic.ts'
import { defineFunction, seriesListParameter } from './define.ts'

export const add = defineFunction({
  name: 'ADD',
  aliases: [],
  section: 'arithmetic',
  parameters: [seriesListParameter('input')],
  summary: 'Sum of the inputs at each time.',
  nulls: 'propagate',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'ADD(8, 2)', value: 10 },
    { calculation: 'ADD(10, 8, 5)', value: 23 },
    { calculation: 'ADD(7)', value: 7 },
  ],
  source: 'docs/calculations.md#add',
  build: elementwiseOver('input', {
    combine: fold((left, right) => left + right),
    monotone: 'any',
    isTotal: true,
    // A sum of linear segments is linear.
    linear: () => true,
  }),
})
