import { ServiceError } from '../api/client.ts'
import { isoOf, type MultiAnswer, type ReadResult, readMulti } from '../api/multi.ts'
import type { Series } from './series.ts'

export interface PlotRange {
  readonly from: number
  readonly to: number
  /** Columns of the picture; each has its first, least, greatest and last point. */
  readonly columns: number
}

/** The signal of a tag in a range, and its newest point. */
export interface Plot {
  readonly series: Series
  readonly current: CurrentPoint | null
}

export interface CurrentPoint {
  readonly at: number
  readonly value: number | null
  readonly isGood: boolean
}

interface PlotOptions {
  readonly zone: string
  readonly cancel: AbortSignal
}

/** What a chart needs of one tag: no spike is lost, and a line breaks where the signal does. */
export async function readPlot(tag: string, range: PlotRange, options: PlotOptions): Promise<Plot> {
  const { from, to, columns } = range
  const details = { from: isoOf(from), to: isoOf(to), width: columns, fallback: 'interpolated' }
  const answer = await readMulti(
    { plot: { type: 'PLOT', tag, details }, current: { type: 'CURRENT_POINT', tag } },
    options,
  )
  const { dataPoints, sampled } = result(answer, 'plot')
  const { timestamps, values } = dataPoints!
  const current = currentOf(result(answer, 'current'))
  const length = measuredLength(timestamps, values, to, current, Date.parse(answer.now))
  const series = {
    from,
    to,
    columns,
    times: Float64Array.from(timestamps.slice(0, length)),
    values: Float64Array.from(values.slice(0, length), (value) => value ?? Number.NaN),
    sampled: sampled ?? false,
  }
  return { series, current }
}

/**
 * How many points there are without those behind the newest one that only say how far its value is held: the value at
 * the right edge, and the break at now. Both move on with the clock.
 */
function measuredLength(
  times: readonly number[],
  values: readonly (number | null)[],
  to: number,
  current: CurrentPoint | null,
  now: number,
): number {
  let length = times.length
  while (current !== null && length > 0 && times[length - 1]! > current.at) {
    const at = times[length - 1]!
    const isHold = at >= to - 1 || (values[length - 1] === null && at >= now - 1)
    if (!isHold) break
    length--
  }
  return length
}

/** @throws ServiceError with the sentence about a label */
export function result(answer: MultiAnswer, label: string): ReadResult {
  const error = answer.errors[label]
  if (error === undefined) return answer.results[label]!
  const issues = (answer.issues ?? []).filter((issue) => issue.label === label)
  throw new ServiceError(error, 200, issues)
}

/** Null where a tag has no point at all. */
function currentOf({ dataPoint }: ReadResult): CurrentPoint | null {
  if (dataPoint === undefined || (dataPoint.value === null && dataPoint.status === 'BAD')) return null
  return { at: Date.parse(dataPoint.timestamp), value: dataPoint.value, isGood: dataPoint.status !== 'BAD' }
}
