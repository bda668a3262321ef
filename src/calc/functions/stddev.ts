import { areStepped } from '../operators/map/arithmetic.ts'
import { deviationOf, statisticOver } from '../operators/map/statistics.ts'
import { defineFunction, seriesListParameter } from './define.ts'

export const stddev = defineFunction({
  name: 'STDDEV',
  aliases: ['STDEV'],
  section: 'statistics',
  parameters: [seriesListParameter('input')],
  summary: 'Sample standard deviation of the inputs at each time; 0 of a single one.',
  nulls: 'Inputs without a value are left out; null where all are.',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'STDDEV(8, 6, 4)', value: 2 },
    { calculation: 'STDEV(8, 6, 4, constants/empty)', value: 2 },
    { calculation: 'STDDEV(8)', value: 0 },
    { calculation: 'STDDEV(constants/empty)', value: null },
  ],
  source: 'docs/calculations.md#stddev',
  build: statisticOver('input', deviationOf, areStepped),
})
