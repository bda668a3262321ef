import { areStepped, each, elementwiseOf } from '../operators/map/arithmetic.ts'
import { defineFunction, seriesParameter } from './define.ts'

export const exp = defineFunction({
  name: 'EXP',
  aliases: [],
  section: 'arithmetic',
  parameters: [seriesParameter('x')],
  summary: 'e to the power of x at each time.',
  nulls: 'propagate; null where the power is out of range',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'EXP(0)', value: 1 },
    { calculation: 'EXP(1)', value: Math.E },
    { calculation: 'EXP(-2)', value: 0.1353352832366127 },
    { calculation: 'EXP(1000)', value: null },
  ],
  source: 'docs/calculations.md#exp',
  build: elementwiseOf(['x'], {
    combine: each(Math.exp),
    linear: areStepped,
    isTotal: true,
  }),
})
