/** The aggregates of AGGREGATED_POINTS, in the order in which answers list them. */
export const AGGREGATE_NAMES = [
  'min',
  'max',
  'avg',
  'median',
  'variance',
  'stdDev',
  'first',
  'last',
  'sum',
  'range',
  'count',
  'numGood',
  'numBad',
  'timeAvg',
] as const

export type AggregateName = (typeof AGGREGATE_NAMES)[number]

/**
 * One column for each aggregate asked for, one value for each window; NaN where it cannot be computed
 * (counts are never NaN, an empty window has 0).
 */
export type AggregateColumns = { readonly [name in AggregateName]?: Float64Array }
