import { keyOf, type Need } from '../../calc/graph/need.ts'
import type { Operator } from '../../calc/graph/operator.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { TagStates } from '../../series/optional-metadata.ts'
import type { Duration } from '../../time/duration.ts'
import { countWindows, evenEdges, windowEdges } from '../../time/grid.ts'
import type { Instant } from '../../time/instant.ts'
import type { FindWindow } from '../../time/windows.ts'
import type { TimeZone } from '../../time/zone.ts'
import { type AskedAggregates, askedAggregates, askedNeeds, pickWindows } from './asked-aggregates.ts'
import {
  type AnswerContext,
  type CutWindows,
  distinctTimes,
  type Request,
  type RequestSize,
  type Result,
} from './request.ts'

/** `count` equal windows, or one for each step of an interval, cut at both ends of the range. */
export type Windows =
  | { readonly kind: 'even'; readonly count: number }
  | {
      readonly kind: 'intervals'
      readonly interval: Duration
      /** Interval and anchor as they were written: equal texts are equal windows. */
      readonly text: string
      readonly find: FindWindow
    }

/** AGGREGATED_POINTS, which is the single window [from, to), and MULTIPLE_AGGREGATED_POINTS. */
export class AggregatesRequest implements Request {
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
    const edges = this.#edges(context)
    const distinct = distinctTimes(edges)
    const found = await askedAggregates(operator, distinct, this.#asked, context.states, context)
    const aggregates = distinct === edges ? found : pickWindows(found, distinctWindows(edges))
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
      return grids.times(`windows ${from} ${to} ${windows.count}`, () => evenEdges(from, to, windows.count))
    return grids.times(`windows ${from} ${to} ${windows.text} ${zone.id}`, () => {
      const edges = windowEdges(from, to, windows.find, Number.MAX_SAFE_INTEGER)
      if (edges === null) throw new TidemarkError('BUG', { what: 'there are no more windows than allowed' })
      return edges
    })
  }
}

/** Index of each window among those between the distinct edges; -1 for one of no length. */
function distinctWindows(edges: Float64Array): Int32Array {
  let next = 0
  return Int32Array.from({ length: edges.length - 1 }, (_, i) => (edges[i]! < edges[i + 1]! ? next++ : -1))
}
