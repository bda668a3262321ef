import { areStepped } from '../operators/map/arithmetic.ts'
import { statisticOver, varianceOf } from '../operators/map/statistics.ts'
import { defineFunction, seriesListParameter } from './define.ts'

export const variance = defineFunction({
  name: 'VARIANCE',
  aliases: ['VAR'],
  section: 'statistics',
  parameters: [seriesListParameter('input')],
  summary: 'Sample variance of the inputs at each time; 0 of a single one.',
  nulls: 'Inputs without a value are left out; null where all are.',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'VARIANCE(8, 6, 4)', value: 4 },
    { calculation: 'VAR(8, 6, 4, constants/empty)', value: 4 },
    { calculation: 'VARIANCE(8)', value: 0 },
    { calculation: 'VARIANCE(constants/empty)', value: null },
  ],
  source: 'docs/calculations.md#variance',
  build: statisticOver('input', varianceOf, areStepped),
})
