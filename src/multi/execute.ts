import type { Series, SinglePoint } from '../calc/series.ts'
import { never } from '../errors/tidemark-error.ts'
import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import {
  concatColumns,
  makeColumns,
  NO_POINTS,
  type PointColumns,
  STATUS_BAD,
  STATUS_OK,
  sliceColumns,
} from '../series/columns.ts'
import type { Instant } from '../time/instant.ts'
import type { TimeZone } from '../time/zone.ts'
import type { Grids } from './grids.ts'
import { type BoundaryRead, rawReads } from './raw-reads.ts'
import type { AggregatesRequest, InterpolatedPointsRequest, RawPointsRequest, Request } from './requests.ts'

/** What one label is answered with. */
export type Result =
  | { readonly kind: 'point'; readonly point: SinglePoint }
  | { readonly kind: 'points'; readonly points: PointColumns }
  | {
      readonly kind: 'raw'
      readonly points: PointColumns
      /** What goes on after these points; `null` when nothing is left. */
      readonly rest: RawPointsRequest | null
    }
  | {
      readonly kind: 'adjacent'
      readonly before: SinglePoint | null
      readonly at: SinglePoint | null
      readonly after: SinglePoint | null
    }
  | {
      readonly kind: 'aggregates'
      /** n + 1 edges of n windows. */
      readonly edges: Float64Array
      readonly columns: AggregateColumns
    }

/** Answers one request from its series. Rejects with the error of its label. */
export async function executeRequest(
  request: Request,
  series: Series,
  grids: Grids,
  zone: TimeZone,
): Promise<Result> {
  switch (request.kind) {
    case 'current': {
      const found = await series.currentPoint(request.find, request.at)
      // A constant has no timestamp of its own: it is current at the time asked for.
      if (found === null) return { kind: 'point', point: noPoint(request.at) }
      const { time, value, bad } = found
      return { kind: 'point', point: { time: time ?? request.at, value, bad } }
    }
    case 'historical':
      return { kind: 'point', point: await valueAt(series, request.at, grids) }
    case 'interpolated':
      return { kind: 'points', points: await executeInterpolated(request, series, grids, zone) }
    case 'raw':
      return executeRaw(request, series, grids)
    case 'find':
      return {
        kind: 'point',
        point: (await series.rawPoint(request.find, request.at)) ?? noPoint(request.at),
      }
    case 'adjacent':
      return executeAdjacent(request.at, series, grids)
    case 'aggregates':
      return executeAggregates(request, series, grids, zone)
    default:
      return never(request)
  }
}

async function executeInterpolated(
  request: InterpolatedPointsRequest,
  series: Series,
  grids: Grids,
  zone: TimeZone,
): Promise<PointColumns> {
  const times = grids.interpolation(request, zone)
  const distinct = distinctTimes(times)
  const found = await series.valuesAt(distinct)
  const values = distinct === times ? found : spread(times, distinct, found)
  return { times, values, statuses: statusesOf(values) }
}

/** A range shorter in microseconds than its number of points puts several of them on one instant, which is read once. */
function distinctTimes(times: Float64Array): Float64Array {
  const last = times.length - 1
  if (last < 1 || times[last]! - times[0]! >= last) return times
  return Float64Array.from(new Set(times))
}

function spread(times: Float64Array, distinct: Float64Array, found: Float64Array): Float64Array {
  const byTime = new Map(Array.from(distinct, (time, index) => [time, found[index]!]))
  return times.map((time) => byTime.get(time)!)
}

function statusesOf(values: Float64Array): Uint8Array {
  const statuses = new Uint8Array(values.length)
  for (let i = 0; i < values.length; i++) {
    if (Number.isNaN(values[i]!)) statuses[i] = STATUS_BAD
  }
  return statuses
}

async function executeRaw(request: RawPointsRequest, series: Series, grids: Grids): Promise<Result> {
  const { leading, range, trailing } = rawReads(request)
  const [first, middle, last] = await Promise.all([
    leading === null ? null : boundaryPoint(leading, series, grids),
    range === null ? { points: NO_POINTS, more: false } : series.rawPoints(range),
    trailing === null ? null : boundaryPoint(trailing, series, grids),
  ])
  // A trailing point counts only when the range is used up before it.
  const parts = [columnsOf(first), middle.points, ...(middle.more ? [] : [columnsOf(last)])]
  const all = concatColumns(parts)
  const points = sliceColumns(all, 0, request.maxPoints)
  const truncated = middle.more || all.times.length > request.maxPoints
  const rest = truncated ? { ...request, resumeAfter: points.times.at(-1)! as Instant } : null
  return { kind: 'raw', points, rest }
}

async function boundaryPoint(read: BoundaryRead, series: Series, grids: Grids): Promise<SinglePoint | null> {
  if (read.kind === 'nearest') return series.rawPoint(read.find, read.at)
  const [raw, value] = await Promise.all([
    series.rawPoint(read.find, read.at),
    valueAt(series, read.at, grids),
  ])
  if (raw?.time === read.at) return raw
  return value.bad ? null : value
}

async function executeAdjacent(at: Instant, series: Series, grids: Grids): Promise<Result> {
  const [before, atOrBefore, after, value] = await Promise.all([
    series.rawPoint('before', at),
    series.rawPoint('before-or-at', at),
    series.rawPoint('after', at),
    valueAt(series, at, grids),
  ])
  const exact = atOrBefore?.time === at ? atOrBefore : value.bad ? null : value
  return { kind: 'adjacent', before, at: exact, after }
}

async function executeAggregates(
  request: AggregatesRequest,
  series: Series,
  grids: Grids,
  zone: TimeZone,
): Promise<Result> {
  const edges = grids.windows(request, zone)
  const distinct = distinctTimes(edges)
  const columns = await series.aggregates(distinct, request.names)
  return {
    kind: 'aggregates',
    edges,
    columns: distinct === edges ? columns : withEmptyWindows(edges, columns),
  }
}

/** Windows of no length hold nothing: counts are 0, all else has no value. */
function withEmptyWindows(edges: Float64Array, found: AggregateColumns): AggregateColumns {
  const entries = Object.entries(found).map(([name, column]) => {
    let next = 0
    const empty = isCount(name as AggregateName) ? 0 : Number.NaN
    const values = Float64Array.from({ length: edges.length - 1 }, (_, i) =>
      edges[i]! < edges[i + 1]! ? column[next++]! : empty,
    )
    return [name, values]
  })
  return Object.fromEntries(entries)
}

function isCount(name: AggregateName): boolean {
  return name === 'count' || name === 'numGood' || name === 'numBad'
}

async function valueAt(series: Series, at: Instant, grids: Grids): Promise<SinglePoint> {
  const values = await series.valuesAt(grids.times(at))
  const value = values[0]!
  return { time: at, value, bad: Number.isNaN(value) }
}

/** What shows that there is no point. @param at the time asked for */
export function noPoint(at: Instant): SinglePoint {
  return { time: at, value: Number.NaN, bad: true }
}

function columnsOf(point: SinglePoint | null): PointColumns {
  if (point === null) return NO_POINTS
  const columns = makeColumns(1)
  columns.times[0] = point.time
  columns.values[0] = point.value
  columns.statuses[0] = point.bad ? STATUS_BAD : STATUS_OK
  return columns
}
