import { areStepped, elementwiseOf, pairs } from '../operators/map/arithmetic.ts'
import { defineFunction, seriesParameter } from './define.ts'

export const mod = defineFunction({
  name: 'MOD',
  aliases: [],
  section: 'arithmetic',
  parameters: [seriesParameter('a'), seriesParameter('b')],
  summary: 'Remainder of a divided by b at each time, with the sign of b.',
  nulls: 'propagate; null where b is 0',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'MOD(7, 3)', value: 1 },
    { calculation: 'MOD(-7, 3)', value: 2 },
    { calculation: 'MOD(7, -3)', value: -2 },
    { calculation: 'MOD(5.5, 2)', value: 1.5 },
    { calculation: 'MOD(6, 3)', value: 0 },
    { calculation: 'MOD(7, 0)', value: null },
  ],
  source: 'docs/calculations.md#mod',
  build: elementwiseOf(['a', 'b'], { combine: pairs(remainder), linear: areStepped }),
})

function remainder(a: number, b: number): number {
  // Exact, with the sign of a.
  const rest = a % b
  if (rest === 0) return 0
  return rest < 0 === b < 0 ? rest : rest + b
}
