import { never } from '../errors/tidemark-error.ts'
import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import {
  concatColumns,
  lowerBound,
  type PointColumns,
  reverseColumns,
  sliceColumns,
  upperBound,
} from '../series/columns.ts'
import { valuesFromPoints } from '../series/interpolate.ts'
import type { FindPoint, Integrals, Neighbours, RangeResult, SignalShape } from '../series/reads.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT, US_PER_DAY } from '../time/instant.ts'
import { readsNoRange } from './bounded-reads.ts'
import {
  aggregatesByPieces,
  integralsByPieces,
  planByPieces,
  planRawByPieces,
  rawPointsByPieces,
} from './by-pieces.ts'
import { pagePoints } from './page.ts'
import { TimesMemo, timesFor } from './read-memo.ts'
import type {
  Ask,
  CurrentPoint,
  Ledger,
  PieceRange,
  PieceStream,
  RawRange,
  Series,
  SeriesContext,
  SinglePoint,
  StoredTag,
} from './series.ts'
import { type PointSource, StoredStream } from './stored-pieces.ts'
import { FixedWindows, readWindows, type WindowSource } from './window-points.ts'

/** What is worked out over each window. */
export const WINDOW_OPS = ['AVG', 'MIN', 'MAX', 'COUNT', 'STDDEV', 'VAR', 'SUM'] as const
export type WindowOp = (typeof WINDOW_OPS)[number]

/** Of the good points of a window, and whether its point is held from the start of the window on or stands in its middle. */
const OPS = {
  AVG: { aggregate: 'avg', stepped: false },
  MIN: { aggregate: 'min', stepped: true },
  MAX: { aggregate: 'max', stepped: true },
  COUNT: { aggregate: 'numGood', stepped: true },
  STDDEV: { aggregate: 'stdDev', stepped: false },
  VAR: { aggregate: 'variance', stepped: false },
  SUM: { aggregate: 'sum', stepped: true },
} as const

/**
 * Aggregates over the good raw points of windows laid end to end from midnight UTC, as a series with one raw point for each
 * window that is not empty. Whatever is asked of it is made of the windows that the asked range touches and of the one on
 * either side of them.
 * @source CALCULATIONS.md, section 8
 */
export class WindowSeries implements Series, WindowSource {
  readonly stepped: boolean
  readonly varies: 'time' | 'data'
  readonly straight = true
  readonly input: Series
  readonly aggregate: WindowSource['aggregate']
  readonly windows: FixedWindows
  readonly offsetUs: number
  readonly context: SeriesContext
  readonly pushedDown: boolean
  readonly #name: string
  readonly #shape: SignalShape
  readonly #values = new TimesMemo<Promise<Float64Array>>()

  /**
   * @param lengthUs  of a window; longer where at least two would fall between the points of INTERPOLATED_POINTS
   * @param name      the same only for equal series in equal contexts
   */
  constructor(input: Series, op: WindowOp, lengthUs: number, name: string, context: SeriesContext) {
    const { aggregate, stepped } = OPS[op]
    const { range, spacingUs = 0, now } = context
    const midnight = new FixedWindows(0, US_PER_DAY).startOf(range.from)
    const length = spacingUs >= 2 * lengthUs ? Math.floor(spacingUs) : lengthUs
    this.varies = input.varies === 'data' ? 'data' : 'time'
    this.stepped = stepped
    this.input = input
    this.aggregate = aggregate
    this.windows = new FixedWindows(midnight, length)
    this.offsetUs = stepped ? 0 : Math.floor(length / 2)
    this.context = context
    this.#name = name
    this.#shape = { stepped, holdUntil: now }
    const probe = { from: now, to: instantFromUs(now + 1), grid: 'probe', windows: 1, names: [aggregate] }
    this.pushedDown = readsNoRange(input, { kind: 'aggregates', ...probe })
  }

  plan(ask: Ask, ledger: Ledger): void {
    switch (ask.kind) {
      case 'values':
        if (ask.near === undefined) this.#planAround(ask.from, ask.to, `values ${ask.grid}`, ledger)
        else this.#planNear(ask.near.find, ask.near.at, `values ${ask.grid}`, 1, ledger)
        break
      case 'current':
        this.#planAround(ask.at, ask.at, `current ${ask.at}`, ledger)
        break
      case 'raw-time':
        if (ask.near === undefined && ask.count === undefined)
          this.#planAround(ask.at, ask.at, `at ${ask.at}`, ledger)
        else
          this.#planNear(
            ask.find,
            ask.at,
            `near ${ask.near ?? ''} ${ask.find} ${ask.at}`,
            ask.count ?? 1,
            ledger,
          )
        break
      case 'point':
        this.#planAround(ask.at, ask.at, `at ${ask.at}`, ledger)
        break
      case 'raw':
        planRawByPieces(this, ask, ledger)
        break
      case 'pieces': {
        const { from, to, order, page, extent, widened } = ask
        const name = `${from} ${to} ${order} ${page} ${extent} ${widened ?? ''}`
        const { lengthUs } = this.windows
        const first = this.windows.startOf(from) - lengthUs
        const last = this.windows.startOf(to) + 2 * lengthUs
        this.#planWindows(first, last, `stream ${name}`, ledger)
        // What is looked up beside each end is read by itself.
        this.#planWindows(first, first + 3 * lengthUs, `before ${name}`, ledger)
        this.#planWindows(last - 3 * lengthUs, last, `after ${name}`, ledger)
        break
      }
      case 'integrals':
      case 'aggregates':
        planByPieces(this, ask, this.#name, this.context, ledger)
        break
      default:
        never(ask)
    }
  }

  valuesAt(times: Float64Array): Promise<Float64Array> {
    return this.#values.get(times, async () => {
      if (times.length === 0) return times
      const points = await this.#pointsAround(times[0]!, times.at(-1)!)
      return valuesFromPoints(points, null, null, times, this.#shape, 'at')
    })
  }

  async currentPoint(_find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint> {
    const value = (await this.valuesAt(timesFor(this.context.source, at)))[0]!
    return { time: at, value, bad: Number.isNaN(value) }
  }

  async rawTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    return (await this.rawPoint(find, at))?.time ?? null
  }

  async rawPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const { times, values } = await this.#pointsAround(at, at)
    const index = {
      before: lowerBound(times, at) - 1,
      'before-or-at': upperBound(times, at) - 1,
      after: upperBound(times, at),
      'after-or-at': lowerBound(times, at),
    }[find]
    const time = times[index]
    return time === undefined ? null : { time: instantFromUs(time), value: values[index]!, bad: false }
  }

  rawPoints(range: RawRange): Promise<RangeResult> {
    return rawPointsByPieces(this, range, this.context)
  }

  pieces(range: PieceRange): PieceStream {
    const { lengthUs } = this.windows
    const { wantedFrom = range.from, wantedTo = range.to } = range
    const bounds = {
      from: this.windows.startOf(wantedFrom) - lengthUs,
      to: this.windows.startOf(wantedTo) + 2 * lengthUs,
    }
    return new StoredStream(new WindowPages(this, range, bounds), NO_TAG, this.#shape, range)
  }

  integrals(starts: Float64Array, ends: Float64Array): Promise<Integrals> {
    return integralsByPieces(this, starts, ends, this.context)
  }

  aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    return aggregatesByPieces(this, edges, names, this.context)
  }

  /** The points of the windows that a range touches and of those beside them. */
  #pointsAround(from: number, to: number): Promise<PointColumns> {
    const { lengthUs } = this.windows
    return allPoints(this, this.windows.startOf(from) - lengthUs, this.windows.startOf(to) + 2 * lengthUs)
  }

  #planAround(from: number, to: number, name: string, ledger: Ledger): void {
    const { lengthUs } = this.windows
    this.#planWindows(
      this.windows.startOf(from) - lengthUs,
      this.windows.startOf(to) + 2 * lengthUs,
      name,
      ledger,
    )
  }

  /** The windows around instants next to one; they are not known yet and can be far away. */
  #planNear(find: FindPoint, at: Instant, name: string, count: number, ledger: Ledger): void {
    const { lengthUs } = this.windows
    const start = this.windows.startOf(at)
    if (this.pushedDown || this.varies !== 'data') {
      this.#planWindows(start, start + 3 * count * lengthUs, name, ledger)
      return
    }
    const isBefore = find === 'before' || find === 'before-or-at'
    if (isBefore) this.#planWindows(this.windows.startOf(MIN_INSTANT), start + 2 * lengthUs, name, ledger)
    else this.#planWindows(start - lengthUs, this.windows.startOf(END_INSTANT - 1) + lengthUs, name, ledger)
  }

  /** The windows from the start of one to that of another, or any of them. */
  #planWindows(from: number, to: number, name: string, ledger: Ledger): void {
    const { input, aggregate, windows, pushedDown } = this
    const grid = `windows ${windows.name} ${name}`
    const reach = { from: accepted(from), to: accepted(to) }
    if (reach.from >= reach.to) return
    if (pushedDown) {
      const count = windows.count(from, to)
      input.plan(
        { kind: 'aggregates', grid, windows: count, ...reach, names: [aggregate], inside: true },
        ledger,
      )
      return
    }
    const page = pagePoints(this.context)
    const stream = { ...reach, order: 'asc', page, extent: 'all' } as const
    input.plan({ kind: 'pieces', ...stream, widened: `${this.#name} ${grid}`, inside: true }, ledger)
  }
}

/** Points of windows as pages of a stream. */
class WindowPages implements PointSource {
  readonly #source: WindowSource
  readonly #range: PieceRange
  readonly #bounds: { readonly from: number; readonly to: number }
  #reader: AsyncGenerator<PointColumns> | null = null
  /** Read and not given yet, in the order of the range. */
  #read: PointColumns[] = []
  #count = 0

  constructor(
    source: WindowSource,
    range: PieceRange,
    bounds: { readonly from: number; readonly to: number },
  ) {
    this.#source = source
    this.#range = range
    this.#bounds = bounds
  }

  /** The next points; a stream asks for each page where the one before ended. */
  async range(_tag: StoredTag, { limit }: RawRange): Promise<RangeResult> {
    this.#reader ??= this.#open(limit)
    // One point more shows that there are more.
    while (this.#count <= limit) {
      const { value } = await this.#reader.next()
      if (value === undefined) break
      this.#push(value)
    }
    const all = concatColumns(this.#read)
    const points = sliceColumns(all, 0, limit)
    const rest = sliceColumns(all, points.times.length, all.times.length)
    this.#read = [rest]
    this.#count = rest.times.length
    return { points, more: this.#count > 0 }
  }

  async neighbours(_tag: StoredTag, times: Float64Array): Promise<Neighbours> {
    const { lengthUs } = this.#source.windows
    const from = this.#source.windows.startOf(times[0]!) - lengthUs
    const to = this.#source.windows.startOf(times.at(-1)!) + 2 * lengthUs
    const points = await allPoints(
      this.#source,
      Math.max(from, this.#bounds.from),
      Math.min(to, this.#bounds.to),
    )
    const before = Array.from(times, (at) => upperBound(points.times, at) - 1)
    const after = Array.from(times, (at) => lowerBound(points.times, at))
    const column = (values: Float64Array, indexes: readonly number[]): Float64Array =>
      Float64Array.from(indexes, (index) => values[index] ?? Number.NaN)
    return {
      beforeTimes: column(points.times, before),
      beforeValues: column(points.values, before),
      afterTimes: column(points.times, after),
      afterValues: column(points.values, after),
    }
  }

  #open(page: number): AsyncGenerator<PointColumns> {
    const { windows } = this.#source
    const { from, to, order } = this.#range
    return readWindows(this.#source, {
      from: Math.max(windows.startOf(from) - windows.lengthUs, this.#bounds.from),
      to: Math.min(windows.startOf(to) + 2 * windows.lengthUs, this.#bounds.to),
      order,
      page,
    })
  }

  #push(points: PointColumns): void {
    const { from, to, order } = this.#range
    const inside = sliceColumns(points, lowerBound(points.times, from), lowerBound(points.times, to))
    this.#read.push(order === 'asc' ? inside : reverseColumns(inside))
    this.#count += inside.times.length
  }
}

/** All points of windows, ascending. */
async function allPoints(source: WindowSource, from: number, to: number): Promise<PointColumns> {
  const parts: PointColumns[] = []
  const page = Number.POSITIVE_INFINITY
  for await (const part of readWindows(source, { from, to, order: 'asc', page })) parts.push(part)
  return concatColumns(parts)
}

function accepted(at: number): Instant {
  return instantFromUs(Math.min(Math.max(at, MIN_INSTANT), END_INSTANT))
}

/** A stream wants to know which tag it reads; these points are of none. */
const NO_TAG: StoredTag = {
  historian: '',
  tag: '',
  stepped: false,
  pushDowns: { aggregates: [], interpolation: false, integrals: false },
}
