import { meanOf, statisticOver } from '../operators/map/statistics.ts'
import { defineFunction, seriesListParameter } from './define.ts'

export const mean = defineFunction({
  name: 'MEAN',
  aliases: ['AVG'],
  section: 'statistics',
  parameters: [seriesListParameter('input')],
  summary: 'Arithmetic mean of the inputs at each time.',
  nulls: 'Inputs without a value are left out; null where all are.',
  cost: 'Sum of its inputs.',
  examples: [
    { calculation: 'MEAN(8, 6, 1)', value: 5 },
    { calculation: 'AVG(8, 6)', value: 7 },
    { calculation: 'MEAN(8, constants/empty, 6)', value: 7 },
    { calculation: 'MEAN(constants/empty)', value: null },
  ],
  source: 'docs/calculations.md#mean',
  build: statisticOver('input', meanOf, () => true),
})
