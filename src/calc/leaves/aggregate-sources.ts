import type { AggregateColumns, AggregateName } from '../../series/aggregate-names.ts'
import { timeAverages } from '../../series/integrate.ts'
import type { Integrals } from '../../series/reads.ts'

/** What aggregates are worked out from where a historian, or a closed form, has others. */
export interface AggregateSources {
  /** Aggregates that are there, for themselves or for those that follow from them. */
  readonly aggregates: readonly AggregateName[]
  /** Integrals over the windows. */
  readonly integrals: boolean
  /** Integrals over the part of each window up to `now`. */
  readonly integralsToNow: boolean
  /** Values at the start of each window and limits from the left at its end. */
  readonly bounds: boolean
  /** Aggregates for which all raw points are needed. */
  readonly streamed: readonly AggregateName[]
}

/** What is there. */
export interface Available {
  readonly aggregates: readonly AggregateName[]
  readonly integrals: boolean
  readonly bounds: boolean
}

type Columns = Readonly<Record<string, Float64Array>>

/** Aggregates that follow from others. */
const FOLLOWING: {
  readonly [name in AggregateName]?: {
    readonly from: readonly AggregateName[]
    readonly value: (columns: Columns, i: number) => number
  }
} = {
  delta: { from: ['first', 'last'], value: ({ first, last }, i) => last![i]! - first![i]! },
  varP: { from: ['variance', 'numGood'], value: populationVariance },
  stdDevP: {
    from: ['variance', 'numGood'],
    value: (columns, i) => Math.sqrt(populationVariance(columns, i)),
  },
  percentGood: {
    from: ['numGood', 'count'],
    value: ({ numGood, count }, i) => (numGood![i]! / count![i]!) * 100,
  },
  percentBad: {
    from: ['numGood', 'count'],
    value: ({ numGood, count }, i) => ((count![i]! - numGood![i]!) / count![i]!) * 100,
  },
  worstStatus: {
    from: ['numGood', 'count'],
    value: ({ numGood, count }, i) => (count![i] === 0 ? Number.NaN : Number(count![i]! > numGood![i]!)),
  },
}

function populationVariance({ variance, numGood }: Columns, i: number): number {
  return (variance![i]! * (numGood![i]! - 1)) / numGood![i]!
}

const FROM_INTEGRALS: readonly AggregateName[] = ['timeAvg', 'total']
const FROM_BOUNDS: readonly AggregateName[] = ['startBound', 'endBound', 'deltaBounds']

/** Where each of some aggregates is taken from. */
export function sourcesOf(names: readonly AggregateName[], available: Available): AggregateSources {
  const aggregates = new Set<AggregateName>()
  const streamed: AggregateName[] = []
  let integrals = false
  let integralsToNow = false
  let bounds = false
  for (const name of names) {
    const following = FOLLOWING[name]
    // A look at two values for each window, where an aggregate may need the blocks that they lie in.
    if (FROM_BOUNDS.includes(name) && available.bounds) bounds = true
    else if (available.aggregates.includes(name)) aggregates.add(name)
    else if (following?.from.every((one) => available.aggregates.includes(one))) {
      for (const one of following.from) aggregates.add(one)
    } else if (FROM_INTEGRALS.includes(name) && available.integrals) integrals = true
    else if (name === 'coverage' && available.integrals) integralsToNow = true
    else streamed.push(name)
  }
  return { aggregates: [...aggregates], integrals, integralsToNow, bounds, streamed }
}

/** How sources are read. */
export interface SourceReads {
  aggregates(names: readonly AggregateName[]): Promise<AggregateColumns>
  integrals(starts: Float64Array, ends: Float64Array): Promise<Integrals>
  bounds(): Promise<WindowBounds>
}

/** Of each window; NaN where there is no value. */
export interface WindowBounds {
  readonly starts: Float64Array
  /** Limits from the left. */
  readonly ends: Float64Array
}

/** Aggregates over windows that follow from sources. */
export async function aggregatesFromSources(
  names: readonly AggregateName[],
  sources: AggregateSources,
  edges: Float64Array,
  now: number,
  read: SourceReads,
): Promise<AggregateColumns> {
  const starts = edges.subarray(0, -1)
  const [aggregates, integrals, integralsToNow, bounds] = await Promise.all([
    sources.aggregates.length > 0 ? read.aggregates(sources.aggregates) : {},
    sources.integrals ? read.integrals(starts, edges.subarray(1)) : null,
    sources.integralsToNow ? read.integrals(starts, endsUpTo(edges, now)) : null,
    sources.bounds ? read.bounds() : null,
  ])
  const columnOf = (name: AggregateName): Float64Array => {
    const known = (aggregates as AggregateColumns)[name]
    if (known !== undefined) return known
    switch (name) {
      case 'timeAvg':
        return timeAverages(integrals!)
      case 'total':
        return integrals!.integrals.map((integral, i) =>
          integrals!.coveredUs[i]! > 0 ? integral : Number.NaN,
        )
      case 'coverage':
        return integralsToNow!.coveredUs.map((covered, i) => {
          const length = Math.min(edges[i + 1]!, now) - edges[i]!
          return length > 0 ? (covered / length) * 100 : Number.NaN
        })
      case 'startBound':
        return bounds!.starts
      case 'endBound':
        return bounds!.ends
      case 'deltaBounds':
        return bounds!.ends.map((end, i) => finite(end - bounds!.starts[i]!))
      default: {
        const { value } = FOLLOWING[name]!
        const column = new Float64Array(edges.length - 1)
        // A loop: `from` goes through an iterator, which takes long for very many windows.
        for (let i = 0; i < column.length; i++) column[i] = finite(value(aggregates as Columns, i))
        return column
      }
    }
  }
  return Object.fromEntries(names.map((name) => [name, columnOf(name)]))
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : Number.NaN
}

/** Ends of the part of each window up to `now`; of windows that begin later their starts. */
function endsUpTo(edges: Float64Array, now: number): Float64Array {
  return edges.subarray(1).map((end, i) => Math.max(edges[i]!, Math.min(end, now)))
}

/** Times at which values are read for bounds: each of ascending edges, and the microsecond before each end. */
export function boundTimes(edges: Float64Array): Float64Array {
  const times = new Float64Array(2 * edges.length)
  let length = 0
  for (const [i, edge] of edges.entries()) {
    const isApart = i > 0 && edge - 1 > edges[i - 1]!
    if (isApart) times[length++] = edge - 1
    times[length++] = edge
  }
  return times.slice(0, length)
}

/**
 * Bounds from the values at `boundTimes`: a stepped signal has at its end what it had a microsecond before; a linear
 * one its value there, unless it has only just begun. Only for signals without gaps.
 */
export function boundsFrom(
  edges: Float64Array,
  times: Float64Array,
  values: Float64Array,
  stepped: boolean,
): WindowBounds {
  const windows = edges.length - 1
  const starts = new Float64Array(windows)
  const ends = new Float64Array(windows)
  let index = 0
  for (let i = 0; i <= windows; i++) {
    while (times[index]! < edges[i]!) index++
    const there = values[index]!
    if (i < windows) starts[i] = there
    if (i === 0) continue
    const before = values[index - 1]!
    // A value a microsecond before an edge that has none is that of an instant alone.
    ends[i - 1] = stepped && !Number.isNaN(there) ? before : Number.isNaN(before) ? before : there
  }
  return { starts, ends }
}
