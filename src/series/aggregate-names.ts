import type { Extremes } from './extremes.ts'
import type { GoodValues } from './good-values.ts'
import type { Moments } from './moments.ts'
import type { PointRuns } from './point-runs.ts'
import type { SignalWindow } from './signal-windows.ts'

/** An aggregate: which state it is made of, and how. */
type Aggregate = AggregateState & {
  /** Over no points, and over a window of no length. */
  readonly empty: number
  /** How answers show it; a number when left out. */
  readonly shownAs?: 'time' | 'status'
  /** Whether it takes the squares of moments. */
  readonly ofSquares?: true
}

type AggregateState =
  /** Over raw points, by counts and moments; what a summary of points keeps. */
  | { readonly state: 'moments'; readonly value: (window: Moments) => number }
  /** Over raw points, by all good values: no summary of points keeps it. */
  | { readonly state: 'values'; readonly value: (window: GoodValues) => number }
  /** Over raw points, by the times of the least and the greatest good one. */
  | { readonly state: 'extremes'; readonly value: (window: Extremes) => number }
  /** Over raw points in their order, and the last ones before the window. */
  | { readonly state: 'runs'; readonly value: (window: PointRuns) => number }
  /** Over the signal: from its segments. */
  | { readonly state: 'signal'; readonly value: (window: SignalWindow) => number }
  /** Over the raw points in their order, from the signal at the window's start to that at its end. */
  | { readonly state: 'counter' }

type Options = Partial<Pick<Aggregate, 'empty' | 'shownAs' | 'ofSquares'>>

function moments(value: (window: Moments) => number, options: Options = {}) {
  return { state: 'moments', value, empty: Number.NaN, ...options } as const
}

function extremes(value: (window: Extremes) => number) {
  return { state: 'extremes', value, empty: Number.NaN, shownAs: 'time' } as const
}

function runs(value: (window: PointRuns) => number) {
  return { state: 'runs', value, empty: 0 } as const
}

function signal(value: (window: SignalWindow) => number, empty = Number.NaN) {
  return { state: 'signal', value, empty } as const
}

const COUNT: Options = { empty: 0 }
const OF_SQUARES: Options = { ofSquares: true }
const US_PER_SECOND = 1_000_000

/** The aggregates that a request without names means; an answer has all of them, null where one was not asked for. */
const FIRST_AGGREGATES = {
  min: moments(({ min }) => min),
  max: moments(({ max }) => max),
  avg: moments(({ avg }) => avg),
  median: { state: 'values', value: (window: GoodValues) => window.median(), empty: Number.NaN },
  variance: moments(({ variance }) => variance, OF_SQUARES),
  stdDev: moments(({ variance }) => Math.sqrt(variance), OF_SQUARES),
  first: moments(({ first }) => first),
  last: moments(({ last }) => last),
  sum: moments(({ sum }) => sum),
  range: moments(({ min, max }) => max - min),
  count: moments(({ count }) => count, COUNT),
  numGood: moments(({ numGood }) => numGood, COUNT),
  numBad: moments(({ count, numGood }) => count - numGood, COUNT),
  timeAvg: signal(({ integral, coveredUs }) => (coveredUs > 0 ? integral / coveredUs : Number.NaN)),
} as const satisfies Readonly<Record<string, Aggregate>>

/** Aggregates that an answer has only where they were asked for. */
const FURTHER_AGGREGATES = {
  /** In the tag's unit times microseconds; a request divides it by the time unit of the tag's rate. */
  total: signal(({ integral, coveredUs }) => (coveredUs > 0 ? integral : Number.NaN)),
  delta: moments(({ first, last }) => last - first),
  increase: { state: 'counter', empty: Number.NaN },
  startBound: signal(({ start }) => start),
  endBound: signal(({ end }) => end),
  deltaBounds: signal(({ start, end }) => end - start),
  minTime: extremes(({ minTime }) => minTime),
  maxTime: extremes(({ maxTime }) => maxTime),
  stdDevP: moments(({ populationVariance }) => Math.sqrt(populationVariance), OF_SQUARES),
  varP: moments(({ populationVariance }) => populationVariance, OF_SQUARES),
  durationGood: runs(({ goodUs }) => goodUs / US_PER_SECOND),
  durationBad: runs(({ badUs }) => badUs / US_PER_SECOND),
  coverage: signal(({ coveredToNowUs, lengthToNowUs }) =>
    lengthToNowUs > 0 ? (coveredToNowUs / lengthToNowUs) * 100 : Number.NaN,
  ),
  percentGood: moments(({ count, numGood }) => (numGood / count) * 100),
  percentBad: moments(({ count, numGood }) => ((count - numGood) / count) * 100),
  numTransitions: runs(({ transitions }) => transitions),
  durationZero: signal(({ zeroUs }) => zeroUs / US_PER_SECOND, 0),
  durationNonZero: signal(({ coveredUs, zeroUs }) => (coveredUs - zeroUs) / US_PER_SECOND, 0),
  /** A status of PointColumns. */
  worstStatus: moments(({ count, numGood }) => (count === 0 ? Number.NaN : Number(count > numGood)), {
    shownAs: 'status',
  }),
} as const satisfies Readonly<Record<string, Aggregate>>

/**
 * Every aggregate that is a number, in the order in which answers list them; STATES is an object (state-windows.ts).
 * Adding one is an entry here, with a state of its own where none of these has what it is made of; a historian computes
 * it only when its driver names it.
 */
export const AGGREGATES = { ...FIRST_AGGREGATES, ...FURTHER_AGGREGATES } as const

export type AggregateName = keyof typeof AGGREGATES
export type FirstAggregateName = keyof typeof FIRST_AGGREGATES

/** What kind of state an aggregate is made of. */
export function aggregateOf(name: AggregateName): Aggregate {
  return AGGREGATES[name]
}

export const AGGREGATE_NAMES = Object.keys(AGGREGATES) as readonly AggregateName[]
/** Those of an answer to a request that names none. */
export const FIRST_AGGREGATE_NAMES = Object.keys(FIRST_AGGREGATES) as readonly FirstAggregateName[]

/**
 * One column for each requested aggregate, one value for each window; NaN where it cannot be computed
 * (counts are never NaN, an empty window has 0). Times are instants, a status is one of PointColumns, and a total is in
 * the tag's unit times microseconds.
 */
export type AggregateColumns = { readonly [name in AggregateName]?: Float64Array }
