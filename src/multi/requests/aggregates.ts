import { keyOf, type Need } from '../../calc/graph/need.ts'
import type { Operator } from '../../calc/graph/operator.ts'
import type { TagStates } from '../../series/optional-metadata.ts'
import type { Duration } from '../../time/duration.ts'
import { countWindows, evenEdges, intervalWindows, wholeWindows, windowEdges } from '../../time/grid.ts'
import type { Instant } from '../../time/instant.ts'
import { parseWindowAnchor } from '../../time/window-anchor.ts'
import type { FindWindow } from '../../time/windows.ts'
import type { TimeZone } from '../../time/zone.ts'
import { AGGREGATES, PER, readAggregateNames } from './aggregate-words.ts'
import { type AskedAggregates, askedAggregates, askedNeeds, pickWindows } from './asked-aggregates.ts'
import { COUNT, type Details, DURATION, FLAG, optional, TEXT } from './detail.ts'
import {
  type AnswerContext,
  type CutWindows,
  distinctTimes,
  type Request,
  type RequestSize,
  type Result,
} from './request.ts'
import { FROM, MAX_GAP, readRange, requestType, TO } from './request-type.ts'

/** `count` equal windows, or one for each step of an interval, cut at both ends of the range. */
type Windows =
  | { readonly kind: 'even'; readonly count: number }
  | {
      readonly kind: 'intervals'
      readonly interval: Duration
      /** Interval and anchor as they were written: equal texts are equal windows. */
      readonly text: string
      readonly find: FindWindow
    }

/** Working out so many edges of windows takes as long as a slice of time. */
const MANY_EDGES = 1_000

/** AGGREGATED_POINTS, which is the single window [from, to), and MULTIPLE_AGGREGATED_POINTS. */
class AggregatesRequest implements Request {
  readonly range: { readonly from: Instant; readonly to: Instant }
  readonly #asked: AskedAggregates
  readonly #windows: Windows

  constructor(range: Request['range'], asked: AskedAggregates, windows: Windows) {
    this.range = range
    this.#asked = asked
    this.#windows = windows
  }

  within(range: Request['range']): Request {
    return new AggregatesRequest(range, this.#asked, this.#windows)
  }

  size(left: RequestSize): RequestSize {
    const { from, to } = this.range
    const windows = this.#windows
    if (windows.kind === 'even') return { points: 1, windows: windows.count }
    const edges = left.windows < 1 ? null : windowEdges(from, to, windows.find, left.windows)
    const count = edges === null ? countWindows(from, to, windows.interval) : edges.length - 1
    return { points: 1, windows: count }
  }

  needs({ windows: count }: RequestSize, zone: TimeZone, states: TagStates | null): readonly Need[] {
    const windows = this.#windows
    const key = windows.kind === 'even' ? 0 : keyOf(windows.text, zone.id)
    return askedNeeds(this.#asked, { ...this.range, count, key }, states)
  }

  async answer(operator: Operator, context: AnswerContext): Promise<Result> {
    const { evaluation } = context
    const edges = this.#edges(context)
    const distinct = distinctTimes(edges)
    // Labels of few windows ask in the tick in which they begin, so that a historian gets one call for all of them.
    if (edges.length > MANY_EDGES) await evaluation.pause()
    const found = await askedAggregates(operator, distinct, this.#asked, context.states, context)
    const aggregates =
      distinct === edges ? found : await pickWindows(found, distinctWindows(edges), evaluation)
    return { kind: 'aggregates', edges, aggregates, cut: this.#cut() }
  }

  /** Windows of an interval that the range cuts. */
  #cut(): CutWindows {
    const { from, to } = this.range
    const windows = this.#windows
    if (windows.kind === 'even') return { first: false, last: false }
    return { first: windows.find(from).start !== from, last: windows.find(to).start !== to }
  }

  #edges({ zone, grids }: AnswerContext): Float64Array {
    const { from, to } = this.range
    const windows = this.#windows
    if (windows.kind === 'even')
      return grids.getOrInsertComputed(`windows ${from} ${to} ${windows.count}`, () =>
        evenEdges(from, to, windows.count),
      )
    // The limits have allowed as many.
    return grids.getOrInsertComputed(
      `windows ${from} ${to} ${windows.text} ${zone.id}`,
      () => windowEdges(from, to, windows.find, Number.MAX_SAFE_INTEGER)!,
    )
  }
}

/** Index of each window among those between the distinct edges; -1 for one of no length. */
function distinctWindows(edges: Float64Array): Int32Array {
  let next = 0
  return Int32Array.from({ length: edges.length - 1 }, (_, i) => (edges[i]! < edges[i + 1]! ? next++ : -1))
}

const WINDOWS = optional('count', COUNT, 'So many equal windows; this or interval.')
const INTERVAL = optional(
  'interval',
  DURATION,
  'Windows of this length with boundaries of their own; this or count.',
)
export const ANCHOR = optional(
  'anchor',
  TEXT,
  'With interval: the local time at which windows begin, such as `06:00`; for weeks also `sunday 06:00`, for months `15 06:00`, for years `10-01 06:00`.',
)
const WHOLE = optional(
  'whole',
  FLAG,
  'With interval: widens the range to whole windows instead of cutting the first and the last one.',
  false,
)

export const aggregatedPoints = requestType({
  name: 'AGGREGATED_POINTS',
  details: [FROM, TO, AGGREGATES, PER, MAX_GAP],
  result: '`aggregates`: an array of one object',
  read: (details) => {
    const asked = readAggregateNames(details)
    return new AggregatesRequest(readRange(details), asked, { kind: 'even', count: 1 })
  },
})

export const multipleAggregatedPoints = requestType({
  name: 'MULTIPLE_AGGREGATED_POINTS',
  details: [FROM, TO, AGGREGATES, PER, WINDOWS, INTERVAL, ANCHOR, WHOLE, MAX_GAP],
  result: '`aggregates`: an object for each [window](#windows)',
  read: (details) => {
    const asked = readAggregateNames(details)
    const range = readRange(details)
    const whole = details.get(WHOLE)
    if (details.has(INTERVAL)) {
      if (details.has(WINDOWS)) throw details.invalid('interval', 'either count or interval, not both,')
      const windows = readWindows(details)
      const { from, to } = range
      return new AggregatesRequest(whole ? wholeWindows(from, to, windows.find) : range, asked, windows)
    }
    if (details.has(ANCHOR)) throw details.invalid('anchor', 'an interval beside it')
    if (whole) throw details.invalid('whole', 'an interval beside it')
    const count = details.get(WINDOWS) ?? details.missing('count or interval')
    return new AggregatesRequest(range, asked, { kind: 'even', count })
  },
})

function readWindows(details: Details): Windows & { readonly kind: 'intervals' } {
  const { duration: interval, text } = details.get(INTERVAL) ?? details.missing('interval')
  const anchor = details.get(ANCHOR)
  const boundaries = anchor === null ? null : parseWindowAnchor(anchor, interval)
  if (boundaries !== null && 'expected' in boundaries) throw details.invalid('anchor', boundaries.expected)
  const find = intervalWindows(interval, boundaries, details.context.zone)
  return { kind: 'intervals', interval, text: `${text} ${anchor ?? ''}`, find }
}
