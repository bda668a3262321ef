import { elementwiseOver, fold, isStepped } from '../operators/map/arithmetic.ts'
import { defineFunction, seriesListParameter } from './define.ts'

export const div = defineFunction({
  name: 'DIV',
  aliases: [],
  section: 'arithmetic',
  parameters: [seriesListParameter('input')],
  summary: 'First input divided by each of the others at each time.',
  nulls: 'propagate; null where a divisor is 0',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'DIV(10, 8)', value: 1.25 },
    { calculation: 'DIV(10, 8, 5)', value: 0.25 },
    { calculation: 'DIV(7)', value: 7 },
    { calculation: 'DIV(10, 0)', value: null },
    { calculation: 'DIV(0, 0)', value: null },
  ],
  source: 'docs/calculations.md#div',
  build: elementwiseOver('input', {
    combine: fold((left, right) => left / right),
    monotone: 'first',
    // A line divided by what is held is a line; divided by a line it is a hyperbola.
    linear: (inputs) => inputs.slice(1).every(isStepped),
  }),
})
