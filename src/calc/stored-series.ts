import { never } from '../errors/tidemark-error.ts'
import { WindowAggregator } from '../series/aggregate.ts'
import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import type { PointColumns } from '../series/columns.ts'
import { SignalIntegrator, timeAverages } from '../series/integrate.ts'
import { interpolate } from '../series/interpolate.ts'
import type { FindPoint, Integrals, RangeResult, SignalShape } from '../series/reads.ts'
import { END_INSTANT, type Instant, instantFromUs, isAccepted } from '../time/instant.ts'
import { breathe, pagePoints } from './page.ts'
import { timesFor, windowSpans } from './read-memo.ts'
import type {
  Ask,
  CurrentPoint,
  Ledger,
  PieceRange,
  PieceStream,
  PlannedRead,
  RawRange,
  Series,
  SeriesContext,
  SinglePoint,
  StoredTag,
} from './series.ts'
import { EDGE_POINTS, StoredStream } from './stored-pieces.ts'

const NO_PUSH_DOWNS: StoredTag['pushDowns'] = { aggregates: [], interpolation: false, integrals: false }

/** What `rawPoint` and `currentPoint` of a stored tag read: one point, whatever it is. */
export function pointRead({ historian, tag }: StoredTag, find: FindPoint, at: Instant): PlannedRead {
  return new PointRead(historian, tag, find, at)
}

/** Its key is made when it is compared with that of another read of the same tag, which hardly ever happens. */
class PointRead implements PlannedRead {
  readonly historian: string
  readonly tag: string
  readonly #find: FindPoint
  readonly #at: Instant
  readonly atMost = 1
  readonly pushDown = null
  readonly stored = null
  readonly forMedian = false

  constructor(historian: string, tag: string, find: FindPoint, at: Instant) {
    this.historian = historian
    this.tag = tag
    this.#find = find
    this.#at = at
  }

  get key(): string {
    return `point ${this.#find} ${this.#at}`
  }
}

/**
 * A tag of a historian. Uses the push-downs that the historian offers for it, and works out the same from neighbours and
 * streamed points where it offers none.
 */
export class StoredSeries implements Series {
  readonly stepped: boolean
  readonly varies = 'data'
  readonly straight = true
  readonly #tag: StoredTag
  readonly #context: SeriesContext
  readonly #shape: SignalShape

  constructor(tag: StoredTag, context: SeriesContext) {
    this.stepped = tag.stepped
    this.#tag = tag
    this.#context = context
    this.#shape = { stepped: tag.stepped, holdUntil: context.now }
  }

  held(pushDowns: boolean): Series {
    const tag = { ...this.#tag, stepped: true }
    return new StoredSeries(pushDowns ? tag : { ...tag, pushDowns: NO_PUSH_DOWNS }, this.#context)
  }

  plan(ask: Ask, ledger: Ledger): void {
    const { pushDowns } = this.#tag
    const shape = this.#shapeName()
    switch (ask.kind) {
      case 'values': {
        const name = pushDowns.interpolation ? `interpolated ${shape}` : 'neighbours'
        this.#add(ledger, {
          key: `${name} ${ask.grid}`,
          pushDown: pushDowns.interpolation ? 'interpolation' : null,
          atMost: pushDowns.interpolation ? ask.count : 2 * ask.count,
        })
        break
      }
      case 'current':
      case 'point':
        ledger.add(pointRead(this.#tag, ask.find, ask.at))
        break
      case 'raw-time': {
        const near = ask.near === undefined ? '' : ` near ${ask.near}`
        const count = ask.count ?? 1
        this.#add(ledger, { key: `point ${ask.find} ${ask.at}${near}`, atMost: count })
        break
      }
      case 'raw': {
        const { from, to, order, limit } = ask
        const key = `range ${from} ${to} ${order} ${limit}`
        this.#add(ledger, { key, atMost: limit, stored: { from, to, extra: 0 } })
        break
      }
      case 'pieces':
        this.#planPieces(ask, ledger)
        break
      case 'integrals':
        if (pushDowns.integrals) {
          const key = `integrals ${ask.grid} ${shape}`
          this.#add(ledger, { key, pushDown: 'integrals', atMost: ask.spans + 2 })
        } else {
          // Its spans may begin later and end earlier than the range, so it is no read of that range.
          this.#planStream(ask.from, ask.to, ledger, { edges: true, forMedian: false, grid: ask.grid })
        }
        break
      case 'aggregates':
        this.#planAggregates(ask, ledger)
        break
      default:
        never(ask)
    }
  }

  async valuesAt(times: Float64Array): Promise<Float64Array> {
    const { source, now } = this.#context
    if (this.#tag.pushDowns.interpolation) return source.interpolated(this.#tag, times, now)
    return interpolate(await source.neighbours(this.#tag, times), times, this.#shape)
  }

  currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null> {
    return this.#context.source.point(this.#tag, find, at)
  }

  rawPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    return this.#context.source.point(this.#tag, find, at)
  }

  async goodPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    // Instants are whole, so "before" is "at or before the last microsecond before".
    const place = find === 'before' ? at - 1 : find === 'after' ? at + 1 : at
    if (!isAccepted(place)) return null
    const { source } = this.#context
    const found = await source.neighbours(this.#tag, timesFor(source, place))
    const [time, value] =
      find === 'before' || find === 'before-or-at'
        ? [found.beforeTimes[0]!, found.beforeValues[0]!]
        : [found.afterTimes[0]!, found.afterValues[0]!]
    return Number.isNaN(time) ? null : { time: instantFromUs(time), value, bad: false }
  }

  async rawTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    const point = await this.#context.source.point(this.#tag, find, at)
    return point === null ? null : point.time
  }

  rawPoints(range: RawRange): Promise<RangeResult> {
    return this.#context.source.range(this.#tag, range)
  }

  pieces(range: PieceRange): PieceStream {
    return new StoredStream(this.#context.source, this.#tag, this.#shape, range)
  }

  async integrals(starts: Float64Array, ends: Float64Array): Promise<Integrals> {
    const { source, now } = this.#context
    if (this.#tag.pushDowns.integrals) return source.integrals(this.#tag, starts, ends, now)
    const integrator = new SignalIntegrator(starts, ends, this.#shape)
    if (starts.length > 0) await this.#integrate(integrator, starts[0]!, ends.at(-1)!, () => {})
    return integrator.finish()
  }

  async aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    const { source, now } = this.#context
    const streamed = this.#streamed(names)
    if (streamed.length === 0) return this.#pushedDown(edges, names)
    // Once the points have to come anyway, everything is worked out from them: it costs nothing more.
    const aggregator = new WindowAggregator(edges, names)
    const first = edges[0]!
    const last = edges.at(-1)!
    if (!names.includes('timeAvg')) {
      for await (const page of this.#pages(first, last)) aggregator.add(page)
      return aggregator.finish()
    }
    if (this.#tag.pushDowns.aggregates.includes('timeAvg')) {
      const pushed = source.aggregates(this.#tag, edges, ['timeAvg'], now)
      for await (const page of this.#pages(first, last)) aggregator.add(page)
      return { ...aggregator.finish(), ...(await pushed) }
    }
    const integrator = new SignalIntegrator(...windowSpans(edges), this.#shape)
    await this.#integrate(integrator, first, last, (page) => aggregator.add(page))
    return { ...aggregator.finish(), timeAvg: timeAverages(integrator.finish()) }
  }

  /** Aggregates that the historian computes, timeAvg perhaps from integrals. */
  async #pushedDown(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    const { source, now } = this.#context
    const { aggregates } = this.#tag.pushDowns
    const pushed = names.filter((name) => aggregates.includes(name))
    const [columns, integrals] = await Promise.all([
      pushed.length > 0 ? source.aggregates(this.#tag, edges, pushed, now) : {},
      pushed.length < names.length ? source.integrals(this.#tag, ...windowSpans(edges), now) : null,
    ])
    return integrals === null ? columns : { ...columns, timeAvg: timeAverages(integrals) }
  }

  /** Those that the historian does not compute, so that the points have to be streamed. */
  #streamed(names: readonly AggregateName[]): readonly AggregateName[] {
    const { aggregates, integrals } = this.#tag.pushDowns
    return names.filter((name) => !aggregates.includes(name) && !(name === 'timeAvg' && integrals))
  }

  /** Feeds an integrator with all points of [from, to) and the good points beside them. */
  async #integrate(
    integrator: SignalIntegrator,
    from: number,
    to: number,
    onPage: (page: PointColumns) => void,
  ): Promise<void> {
    const edges = await this.#context.source.neighbours(this.#tag, this.#edgeTimes(from, to))
    const last = edges.afterTimes.length - 1
    if (!Number.isNaN(edges.beforeTimes[0]!)) {
      integrator.addPoint(edges.beforeTimes[0]!, edges.beforeValues[0]!)
    }
    for await (const page of this.#pages(from, to)) {
      integrator.add(page)
      onPage(page)
    }
    if (!Number.isNaN(edges.afterTimes[last]!)) {
      integrator.addPoint(edges.afterTimes[last]!, edges.afterValues[last]!)
    }
  }

  #edgeTimes(from: number, to: number): Float64Array {
    const { source } = this.#context
    // Beyond the accepted range there are no points, and a driver need not be able to look there.
    return to < END_INSTANT ? timesFor(source, from, to) : timesFor(source, from, END_INSTANT - 1)
  }

  async *#pages(from: number, to: number): AsyncGenerator<PointColumns> {
    const { source } = this.#context
    const limit = pagePoints(this.#context)
    let start = from
    while (start < to) {
      const range = { from: instantFromUs(start), to: instantFromUs(to), order: 'asc', limit } as const
      const { points, more } = await (source.page === undefined
        ? source.range(this.#tag, range)
        : source.page(this.#tag, range))
      yield points
      if (!more) return
      start = points.times.at(-1)! + 1
      await breathe(this.#context)
    }
  }

  #planPieces(ask: Ask & { readonly kind: 'pieces' }, ledger: Ledger): void {
    const { from, to, order, page, extent, widened } = ask
    // A widened range reaches one point further on either side.
    const extra = widened === null ? 0 : 2
    if (extent === 'all') {
      const name = widened === null ? '' : ` widened ${widened}`
      this.#add(ledger, {
        key: `stream ${from} ${to} ${order} ${page}${name}`,
        atMost: Number.POSITIVE_INFINITY,
        stored: { from, to, extra },
      })
    } else {
      this.#add(ledger, {
        key: `page ${from} ${to} ${order} ${page} ${widened ?? ''}`,
        atMost: page,
        stored: { from, to, extra },
      })
    }
    this.#add(ledger, { key: `beside ${from} ${to} ${order} ${page} ${widened ?? ''}`, atMost: EDGE_POINTS })
  }

  #planStream(
    from: Instant,
    to: Instant,
    ledger: Ledger,
    options: { readonly edges: boolean; readonly forMedian: boolean; readonly grid?: string },
  ): void {
    const { forMedian, edges, grid } = options
    const spans = grid === undefined ? '' : ` spans ${grid}`
    this.#add(ledger, {
      key: `stream ${from} ${to} asc ${pagePoints(this.#context)}${spans}`,
      atMost: Number.POSITIVE_INFINITY,
      stored: { from, to, extra: 0 },
      forMedian,
    })
    if (edges) this.#add(ledger, { key: `edges ${from} ${to}${spans}`, atMost: 4, forMedian })
  }

  #planAggregates(ask: Ask & { readonly kind: 'aggregates' }, ledger: Ledger): void {
    const { from, to, names, windows, grid, inside } = ask
    const { aggregates } = this.#tag.pushDowns
    const shape = this.#shapeName()
    const streamed = this.#streamed(names)
    const timeAvg = names.includes('timeAvg')
    if (streamed.length > 0) {
      const forMedian = streamed.every((name) => name === 'median')
      this.#planStream(from, to, ledger, {
        edges: timeAvg && !aggregates.includes('timeAvg'),
        forMedian,
        ...(inside === true ? { grid } : {}),
      })
      if (timeAvg && aggregates.includes('timeAvg')) {
        const key = `aggregates ${grid} timeAvg ${shape}`
        this.#add(ledger, { key, pushDown: 'aggregates', atMost: windows + 2 })
      }
      return
    }
    const pushed = names.filter((name) => aggregates.includes(name))
    if (pushed.length > 0) {
      const key = `aggregates ${grid} ${pushed} ${shape}`
      this.#add(ledger, { key, pushDown: 'aggregates', atMost: windows + 2 })
    }
    if (pushed.length < names.length) {
      const key = `integrals of windows ${grid} ${shape}`
      this.#add(ledger, { key, pushDown: 'integrals', atMost: windows + 2 })
    }
  }

  /** What a historian must know of the signal to work on it. */
  #shapeName(): string {
    return `${this.#shape.stepped ? 'stepped' : 'linear'} until ${this.#shape.holdUntil}`
  }

  #add(
    ledger: Ledger,
    read: Pick<PlannedRead, 'key' | 'atMost'> & Partial<Omit<PlannedRead, 'historian' | 'tag'>>,
  ): void {
    const { historian, tag } = this.#tag
    const { key, atMost, pushDown = null, stored = null, forMedian = false } = read
    ledger.add({ historian, tag, key, atMost, pushDown, stored, forMedian })
  }
}
