import { elementwiseOver, fold } from '../operators/map/arithmetic.ts'
import { defineFunction, seriesListParameter } from './define.ts'

export const sub = defineFunction({
  name: 'SUB',
  aliases: [],
  section: 'arithmetic',
  parameters: [seriesListParameter('input')],
  summary: 'First input minus all the others at each time.',
  nulls: 'propagate',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'SUB(10, 8)', value: 2 },
    { calculation: 'SUB(10, 8, 5)', value: -3 },
    { calculation: 'SUB(7)', value: 7 },
  ],
  source: 'docs/calculations.md#sub',
  build: elementwiseOver('input', {
    combine: fold((left, right) => left - right),
    monotone: 'any',
    isTotal: true,
    // A difference of linear segments is linear.
    linear: () => true,
  }),
})
