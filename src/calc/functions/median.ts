import { areStepped } from '../operators/map/arithmetic.ts'
import { medianOf, statisticOver } from '../operators/map/statistics.ts'
import { defineFunction, seriesListParameter } from './define.ts'

export const median = defineFunction({
  name: 'MEDIAN',
  aliases: [],
  section: 'statistics',
  parameters: [seriesListParameter('input')],
  summary: 'Median of the inputs at each time: the one in the middle, or the mean of the two that are.',
  nulls: 'Inputs without a value are left out; null where all are.',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'MEDIAN(8, 1, 6)', value: 6 },
    { calculation: 'MEDIAN(8, 1, 6, 4)', value: 5 },
    { calculation: 'MEDIAN(8, constants/empty, 1, 6)', value: 6 },
    { calculation: 'MEDIAN(constants/empty)', value: null },
  ],
  source: 'docs/calculations.md#median',
  build: statisticOver('input', medianOf, areStepped),
})
