import { EpochMsOperator } from '../operators/scan/epoch-ms.ts'
import { defineFunction, seriesParameter } from './define.ts'

export const epochMs = defineFunction({
  name: 'EPOCH_MS',
  aliases: [],
  section: 'conditioning',
  parameters: [seriesParameter('a')],
  summary:
    'Epoch milliseconds of the last raw point of the input at or before each time, with a fraction for microseconds.',
  details:
    'A BAD raw point counts too, and the result at its timestamp is BAD. Beyond `now` the last raw point stays the last one.',
  rawTimes: 'Those of its input.',
  stepped: 'Always.',
  nulls: 'No value before the first raw point; a constant has none.',
  cost: 'One point for each time and tag of its input.',
  examples: [
    { calculation: 'EPOCH_MS(dates/YEAR_UTC)', at: '2026-01-15T13:00:00Z', value: 1_768_435_200_000 },
    { calculation: 'EPOCH_MS(5)', value: null },
  ],
  source: 'docs/calculations.md#epoch_ms',
  build: (args, context) => new EpochMsOperator(args.series('a'), context),
})
