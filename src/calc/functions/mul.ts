import { elementwiseOver, fold, isStepped } from '../operators/map/arithmetic.ts'
import { defineFunction, seriesListParameter } from './define.ts'

export const mul = defineFunction({
  name: 'MUL',
  aliases: [],
  section: 'arithmetic',
  parameters: [seriesListParameter('input')],
  summary: 'Product of the inputs at each time.',
  nulls: 'propagate',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'MUL(8, 2)', value: 16 },
    { calculation: 'MUL(10, 8, -5)', value: -400 },
    { calculation: 'MUL(7)', value: 7 },
  ],
  source: 'docs/calculations.md#mul',
  build: elementwiseOver('input', {
    combine: fold((left, right) => left * right),
    monotone: 'any',
    isTotal: true,
    // One line times what is held is a line; two lines make a parabola.
    linear: (inputs) => inputs.filter((input) => !isStepped(input)).length <= 1,
  }),
})
