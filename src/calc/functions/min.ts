import { areStepped } from '../operators/map/arithmetic.ts'
import { minOf, statisticOver } from '../operators/map/statistics.ts'
import { defineFunction, seriesListParameter } from './define.ts'

export const min = defineFunction({
  name: 'MIN',
  aliases: [],
  section: 'statistics',
  parameters: [seriesListParameter('input')],
  summary: 'Smallest of the inputs at each time.',
  nulls: 'Inputs without a value are left out; null where all are.',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'MIN(8, 6, 4)', value: 4 },
    { calculation: 'MIN(1, constants/empty)', value: 1 },
    { calculation: 'MIN(constants/empty)', value: null },
  ],
  source: 'docs/calculations.md#min',
  build: statisticOver('input', minOf, areStepped),
})
