import { defineFunction } from './define.ts'
import { checkTotal, TOTAL_DETAILS, TOTAL_PARAMETERS, TOTAL_RAW_TIMES, totalOver } from './totals.ts'

export const totaliseraw = defineFunction({
  name: 'TOTALISERAW',
  aliases: [],
  section: 'totals',
  parameters: TOTAL_PARAMETERS,
  check: checkTotal,
  summary: 'TOTALISE, worked out from raw points even where the historian could integrate itself.',
  details: TOTAL_DETAILS,
  rawTimes: TOTAL_RAW_TIMES,
  stepped: 'Never.',
  nulls: 'Time without a value adds nothing.',
  cost: 'The points of its input from the start of the first window on.',
  examples: [
    {
      calculation: 'TOTALISERAW(1, 1d, 00:00:00, 1h)',
      at: '2023-05-05T23:59:59.9999999Z',
      value: 24 - 1 / 3.6e9,
    },
    {
      calculation: 'TOTALISERAW(constants/2, MONTH, BEGIN_MONTH, 1d)',
      at: '2024-02-29T12:00:00Z',
      value: 57,
    },
  ],
  source: 'docs/calculations.md#totaliseraw',
  dependsOnRange: 'range',
  build: totalOver(true),
})
