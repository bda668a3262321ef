import { defineFunction } from './define.ts'
import { checkTotal, TOTAL_DETAILS, TOTAL_PARAMETERS, TOTAL_RAW_TIMES, totalOver } from './totals.ts'

export const totalise = defineFunction({
  name: 'TOTALISE',
  aliases: ['TOTALISE2'],
  section: 'totals',
  parameters: TOTAL_PARAMETERS,
  check: checkTotal,
  summary:
    'Integral of the input from the start of the window that holds the time up to the time, divided by the rate.',
  details: TOTAL_DETAILS,
  rawTimes: TOTAL_RAW_TIMES,
  stepped: 'Never.',
  nulls: 'Time without a value adds nothing.',
  cost: 'The points of its input from the start of the first window on, or one for each time plus 2 where the historian integrates.',
  examples: [
    {
      calculation: 'TOTALISE(1, 1d, 00:00:00, 1h)',
      at: '2023-05-05T23:59:59.9999999Z',
      value: 24 - 1 / 3.6e9,
    },
    { calculation: 'TOTALISE(1, 1d, 00:00:00, 1h)', at: '2023-05-06T00:00:00Z', value: 0 },
    {
      calculation: 'TOTALISE(1, QUARTER, BEGIN_QUARTER, 1d)',
      at: '2023-03-31T23:59:59.999999Z',
      value: 90 - 1 / 8.64e10,
    },
    {
      calculation: 'TOTALISE2(constants/1, MONTH, BEGIN_MONTH, 1d)',
      at: '2023-09-25T17:29:04.446620+02:00',
      zone: 'Europe/Oslo',
      value: (24 * 86_400_000_000 + 62_944_446_620) / 86_400_000_000,
    },
    {
      calculation: 'TOTALISE(1, MONTH, BEGIN_MONTH, 1h)',
      at: '2023-03-31T23:59:59.999999+02:00',
      zone: 'Europe/Oslo',
      value: 743 - 1 / 3.6e9,
    },
    {
      calculation: 'TOTALISE(1, MONTH, BEGIN_MONTH, 1h)',
      at: '2023-10-31T23:59:59.999999+01:00',
      zone: 'Europe/Oslo',
      value: 745 - 1 / 3.6e9,
    },
  ],
  source: 'docs/calculations.md#totalise',
  dependsOnRange: 'range',
  build: totalOver(false),
})
