import { areStepped } from '../operators/map/arithmetic.ts'
import { maxOf, statisticOver } from '../operators/map/statistics.ts'
import { defineFunction, seriesListParameter } from './define.ts'

export const max = defineFunction({
  name: 'MAX',
  aliases: [],
  section: 'statistics',
  parameters: [seriesListParameter('input')],
  summary: 'Largest of the inputs at each time.',
  nulls: 'Inputs without a value are left out; null where all are.',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'MAX(8, 6, 4)', value: 8 },
    { calculation: 'MAX(-1, constants/empty)', value: -1 },
    { calculation: 'MAX(constants/empty)', value: null },
  ],
  source: 'docs/calculations.md#max',
  build: statisticOver('input', maxOf, areStepped),
})
