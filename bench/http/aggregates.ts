/** All that summaries answer. */
export const AGGREGATES = [
  'AVG',
  'COUNT',
  'FIRST',
  'LAST',
  'MAX',
  'MIN',
  'NUMBAD',
  'NUMGOOD',
  'RANGE',
  'STDDEV',
  'SUM',
  'TIMEAVG',
  'VAR',
]
