import { instantNeed, keyOf, type Need } from '../../calc/graph/need.ts'
import type { Operator } from '../../calc/graph/operator.ts'
import { STATUS_BAD } from '../../series/columns.ts'
import type { Duration } from '../../time/duration.ts'
import { countSteps, evenGrid, stepGrid } from '../../time/grid.ts'
import { type Instant, instantFromUs } from '../../time/instant.ts'
import { nominalUs } from '../../time/windows.ts'
import type { TimeZone } from '../../time/zone.ts'
import { COUNT, type Details, DURATION, optional } from './detail.ts'
import {
  type AnswerContext,
  distinctTimes,
  type Grids,
  type Request,
  type RequestSize,
  type Result,
} from './request.ts'
import { DEFAULT_POINTS, endOf, FROM, MAX_GAP, readRange, requestType, TO } from './request-type.ts'

/** `count` points evenly from `from` to `to`, or one at each step of `interval`. */
export type InterpolationGrid =
  | { readonly kind: 'even'; readonly count: number }
  | { readonly kind: 'steps'; readonly interval: Duration; readonly text: string }

/** INTERPOLATED_POINTS. */
export class InterpolatedPointsRequest implements Request {
  readonly range: { readonly from: Instant; readonly to: Instant }
  readonly spacingUs?: number
  readonly #grid: InterpolationGrid

  constructor(range: Request['range'], grid: InterpolationGrid) {
    this.range = range
    this.#grid = grid
    const { from, to } = range
    if (grid.kind === 'steps') {
      const spacingUs = nominalUs(grid.interval)
      if (from + spacingUs <= to) this.spacingUs = spacingUs
    } else if (grid.count > 1 && from < to) this.spacingUs = (to - from) / (grid.count - 1)
  }

  within(range: Request['range']): Request {
    return new InterpolatedPointsRequest(range, this.#grid)
  }

  size(left: RequestSize, zone: TimeZone): RequestSize {
    const { from, to } = this.range
    const grid = this.#grid
    if (grid.kind === 'even') return { points: grid.count, windows: 0 }
    const times = left.points < 1 ? null : stepGrid(from, to, grid.interval, zone, left.points)
    return { points: times?.length ?? countSteps(from, to, grid.interval), windows: 0 }
  }

  needs({ points }: RequestSize, zone: TimeZone): readonly Need[] {
    const { from, to } = this.range
    if (from === to || points === 1) return [instantNeed(from)]
    const grid = this.#grid
    if (grid.kind === 'even') return [{ kind: 'values', from, to, count: points, key: 0 }]
    const { interval } = grid
    const last = interval.kind === 'exact' ? instantFromUs(from + (points - 1) * interval.us) : to
    return [{ kind: 'values', from, to: last, count: points, key: keyOf(grid.text, zone.id) }]
  }

  async answer(operator: Operator, { zone, grids }: AnswerContext): Promise<Result> {
    const times = this.#times(zone, grids)
    const distinct = distinctTimes(times)
    const found = await operator.valuesAt(distinct)
    const values = distinct === times ? found : spread(times, distinct, found)
    const statuses = new Uint8Array(values.length)
    for (let i = 0; i < values.length; i++) if (Number.isNaN(values[i]!)) statuses[i] = STATUS_BAD
    return { kind: 'points', points: { times, values, statuses } }
  }

  #times(zone: TimeZone, grids: Grids): Float64Array {
    const { from, to } = this.range
    const grid = this.#grid
    if (grid.kind === 'even')
      return grids.getOrInsertComputed(`even ${from} ${to} ${grid.count}`, () =>
        evenGrid(from, to, grid.count),
      )
    // The limits have allowed as many.
    return grids.getOrInsertComputed(
      `steps ${from} ${to} ${grid.text} ${zone.id}`,
      () => stepGrid(from, to, grid.interval, zone, Number.MAX_SAFE_INTEGER)!,
    )
  }
}

const POINTS = optional(
  'count',
  COUNT,
  'So many points, the first at `from` and the last at `to`; not together with interval.',
  DEFAULT_POINTS,
)
const INTERVAL = optional('interval', DURATION, 'Points at `from` and each step after it, up to `to`.')

export const interpolatedPoints = requestType({
  name: 'INTERPOLATED_POINTS',
  details: [FROM, TO, POINTS, INTERVAL, MAX_GAP],
  result: '`dataPoints`: the interpolated values at these times',
  read: (details) => {
    const grid = readGrid(details)
    // A single point needs no range: it stands at `from`.
    if (grid.kind === 'even' && grid.count === 1 && details.get(FROM) === endOf(details)) {
      const at = details.get(FROM)
      return new InterpolatedPointsRequest({ from: at, to: at }, grid)
    }
    return new InterpolatedPointsRequest(readRange(details), grid)
  },
})

function readGrid(details: Details): InterpolationGrid {
  if (details.has(POINTS) && details.has(INTERVAL))
    throw details.invalid('interval', 'either count or interval, not both,')
  const interval = details.get(INTERVAL)
  if (interval === null) return { kind: 'even', count: details.get(POINTS) }
  return { kind: 'steps', interval: interval.duration, text: interval.text }
}

function spread(times: Float64Array, distinct: Float64Array, found: Float64Array): Float64Array {
  const byTime = new Map(Array.from(distinct, (time, index) => [time, found[index]!]))
  return times.map((time) => byTime.get(time)!)
}
