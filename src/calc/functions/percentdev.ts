import { elementwiseOf, isStepped, pairs } from '../operators/map/arithmetic.ts'
import { defineFunction, seriesParameter } from './define.ts'

export const percentdev = defineFunction({
  name: 'PERCENTDEV',
  aliases: [],
  section: 'arithmetic',
  parameters: [seriesParameter('a'), seriesParameter('b')],
  summary: 'Deviation of a from b at each time, in per cent of b: 100 (a - b) / b.',
  nulls: 'propagate; null where b is 0',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'PERCENTDEV(10, 8)', value: 25 },
    { calculation: 'PERCENTDEV(8, 10)', value: -20 },
    { calculation: 'PERCENTDEV(8, -10)', value: -180 },
    { calculation: 'PERCENTDEV(10, 0)', value: null },
  ],
  source: 'docs/calculations.md#percentdev',
  build: elementwiseOf(['a', 'b'], {
    combine: pairs((a, b) => (100 * (a - b)) / b),
    // A line is measured in per cent of what is held; of another line the quotient is a hyperbola.
    linear: ([, b]) => isStepped(b!),
  }),
})
