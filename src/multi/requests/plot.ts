import { plotOf } from '../../calc/consumers/plot.ts'
import type { Need } from '../../calc/graph/need.ts'
import type { Operator } from '../../calc/graph/operator.ts'
import { FIXED_LIMITS } from '../../errors/limits.ts'
import { evenEdges } from '../../time/grid.ts'
import type { TimeZone } from '../../time/zone.ts'
import { countUpTo, needed, oneOf, optional } from './detail.ts'
import { InterpolatedPointsRequest } from './interpolated.ts'
import { type AnswerContext, distinctTimes, type Request, type RequestSize, type Result } from './request.ts'
import { FROM, MAX_GAP, readRange, requestType, TO } from './request-type.ts'

/** Points that each column may have, and those at the edges of the range. Breaks are not counted. */
const COLUMN_POINTS = 4
const EDGE_POINTS = 2

/** PLOT: what a chart of so many columns needs to draw the line of all raw points. */
class PlotRequest implements Request {
  readonly range: Request['range']
  readonly fallback?: Request
  readonly widthFor = widthFor
  readonly #width: number

  /**
   * @param width     columns, as even as `count` windows
   * @param fallsBack whether to give interpolated points where the raw ones are more than a call may read
   */
  constructor(range: Request['range'], width: number, { fallsBack }: { readonly fallsBack: boolean }) {
    this.range = range
    this.#width = width
    if (fallsBack) this.fallback = new InterpolatedPlotRequest(range, width)
  }

  within(range: Request['range']): Request {
    return new PlotRequest(range, this.#width, { fallsBack: false })
  }

  size(): RequestSize {
    return sizeOf(this.#width)
  }

  needs(): readonly Need[] {
    const { from, to } = this.range
    return [
      { kind: 'plot', from, to, count: this.#width, key: 0 },
      { kind: 'values', from, to, count: 2, key: 0 },
    ]
  }

  async answer(operator: Operator, { evaluation }: AnswerContext): Promise<Result> {
    const { from, to } = this.range
    const edges = distinctTimes(evenEdges(from, to, this.#width))
    return { kind: 'plot', ...(await plotOf(operator, edges, evaluation)) }
  }
}

/** A chart of as many interpolated points as it has columns, between which spikes can be lost. */
class InterpolatedPlotRequest extends InterpolatedPointsRequest {
  readonly widthFor = widthFor
  readonly #width: number

  constructor(range: Request['range'], width: number) {
    super(range, { kind: 'even', count: width })
    this.#width = width
  }

  override within(range: Request['range']): Request {
    return new InterpolatedPlotRequest(range, this.#width)
  }

  override size(): RequestSize {
    return sizeOf(this.#width)
  }

  override needs(_size: RequestSize, zone: TimeZone): readonly Need[] {
    return super.needs({ points: this.#width, windows: 0 }, zone)
  }

  override async answer(operator: Operator, context: AnswerContext): Promise<Result> {
    const result = await super.answer(operator, context)
    return result.kind === 'points' ? { ...result, kind: 'plot', sampled: 'interpolated' } : result
  }
}

function sizeOf(width: number): RequestSize {
  return { points: COLUMN_POINTS * width + EDGE_POINTS, windows: 0 }
}

function widthFor(points: number): number {
  return Math.floor((points - EDGE_POINTS) / COLUMN_POINTS)
}

/** As many columns as screens have pixels, at most. */
const WIDTH = needed(
  'width',
  countUpTo(FIXED_LIMITS.plotColumns.limit),
  'Columns of the chart: pixels, usually.',
)
const FALLBACK = optional(
  'fallback',
  oneOf(['interpolated']),
  'Where the raw points are more than the call may read: refused, or as many interpolated points as columns.',
)

export const plot = requestType({
  name: 'PLOT',
  details: [FROM, TO, WIDTH, FALLBACK, MAX_GAP],
  result: '`dataPoints`, `sampled`: [what a chart needs](#charts)',
  read: (details) => {
    const width = details.get(WIDTH)
    const fallsBack = details.get(FALLBACK) === 'interpolated'
    return new PlotRequest(readRange(details), width, { fallsBack })
  },
})
