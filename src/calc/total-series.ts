import { never } from '../errors/tidemark-error.ts'
import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import type { FindPoint, Integrals, RangeResult } from '../series/reads.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../time/instant.ts'
import type { WindowLayout } from '../time/total-windows.ts'
import {
  aggregatesByPieces,
  integralsByPieces,
  planByPieces,
  planRawByPieces,
  rawPointsByPieces,
} from './by-pieces.ts'
import { holdEndsOf, planChords } from './chords.ts'
import { DynamicTotalStream, dynamicReads } from './dynamic-total.ts'
import { nearTime } from './elementwise.ts'
import { breathe } from './page.ts'
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
} from './series.ts'
import { spansOf, type TotalSpans, windowStart } from './total-spans.ts'
import { LaidTotalStream, type TotalSource } from './total-streams.ts'

/** Totals at so many times are worked out in a millisecond or so. */
const BRIEF_TIMES = 2_000

/** Spans by times and layout, so that equal totals of a call ask for the same arrays and share their reads. */
const spansByTimes = new TimesMemo<Map<string, Promise<TotalSpans>>>()

/**
 * The integral of a series from the start of the window that holds t up to t, divided by a rate.
 * @source CALCULATIONS.md, section 7
 */
export class TotalSeries implements Series, TotalSource {
  readonly stepped = false
  readonly varies: 'time' | 'data'
  readonly straight = false
  readonly holdEnds: readonly Instant[]
  readonly input: Series
  readonly context: SeriesContext
  readonly rateUs: number
  readonly ends: readonly Instant[]
  readonly #layout: WindowLayout
  readonly #layoutName: string
  readonly #name: string

  /**
   * @param rateUs      what totals are divided by, in microseconds
   * @param layoutName  the same only for equal layouts in equal contexts
   * @param name        the same only for equal totals in equal contexts
   */
  constructor(
    input: Series,
    layout: WindowLayout,
    rateUs: number,
    names: { readonly layout: string; readonly series: string },
    context: SeriesContext,
  ) {
    this.varies = input.varies === 'data' ? 'data' : 'time'
    this.holdEnds = holdEndsOf(input, context)
    this.input = input
    this.context = context
    this.rateUs = rateUs
    const { from, to } = context.range
    this.ends = from < to ? [from, to] : []
    this.#layout = layout
    this.#layoutName = names.layout
    this.#name = names.series
  }

  plan(ask: Ask, ledger: Ledger): void {
    switch (ask.kind) {
      case 'values': {
        const { from, to } = ask.near === undefined ? ask : this.#nearRange(ask.near.find, ask.near.at)
        this.#planIntegrals(`${ask.grid} ${this.#layoutName}`, ask.count, from, to, ledger)
        break
      }
      case 'current':
        this.#planIntegrals(`current ${ask.at} ${this.#layoutName}`, 1, ask.at, ask.at, ledger)
        break
      case 'raw-time':
        this.input.plan(ask, ledger)
        break
      case 'point': {
        const { find, at } = ask
        this.input.plan({ kind: 'raw-time', find, at }, ledger)
        this.input.plan(ask, ledger)
        this.plan(nearTime(`${this.#name} ${find} ${at}`, find, at), ledger)
        break
      }
      case 'raw':
        planRawByPieces(this, ask, ledger)
        break
      case 'pieces':
        this.#planPieces(ask, ledger)
        break
      case 'integrals':
      case 'aggregates':
        planByPieces(this, ask, this.#name, this.context, ledger)
        break
      default:
        never(ask)
    }
  }

  async valuesAt(times: Float64Array): Promise<Float64Array> {
    const byLayout = spansByTimes.get(times, () => new Map())
    let spans = byLayout.get(this.#layoutName)
    if (spans === undefined) {
      spans = this.#spans(times)
      byLayout.set(this.#layoutName, spans)
    }
    const { starts, ends, totals } = await spans
    // Where nothing is fetched, no reads are parted by it.
    if (times.length > BRIEF_TIMES && this.input.varies !== 'data') await breathe(this.context)
    const integrals =
      starts.length === 0 ? new Float64Array(0) : (await this.input.integrals(starts, ends)).integrals
    if (times.length > BRIEF_TIMES) await breathe(this.context)
    return totals(integrals).map((total) => {
      const value = total / this.rateUs
      return Number.isFinite(value) ? value : Number.NaN
    })
  }

  /** A promise, so that all totals with this layout go on in the same turn and their reads travel together. */
  async #spans(times: Float64Array): Promise<TotalSpans> {
    if (times.length > BRIEF_TIMES) await breathe(this.context)
    return spansOf(this.#layout, times)
  }

  async currentPoint(_find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint> {
    const value = (await this.valuesAt(timesFor(this.context.source, at)))[0]!
    return { time: at, value, bad: Number.isNaN(value) }
  }

  async rawTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    const ofInput = await this.input.rawTime(find, at)
    const times = [...this.#ownTimes(find, at), ...(ofInput === null ? [] : [ofInput])]
    if (times.length === 0) return null
    return instantFromUs(isBefore(find) ? Math.max(...times) : Math.min(...times))
  }

  async rawPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const [time, ofInput] = await Promise.all([this.rawTime(find, at), this.input.rawTime(find, at)])
    if (time === null) return null
    const [values, inputPoint] = await Promise.all([
      this.valuesAt(timesFor(this.context.source, time)),
      ofInput === time ? this.input.rawPoint(find, at) : null,
    ])
    const value = values[0]!
    return { time, value, bad: Number.isNaN(value) || (inputPoint?.bad ?? false) }
  }

  rawPoints(range: RawRange): Promise<RangeResult> {
    return rawPointsByPieces(this, range, this.context)
  }

  pieces(range: PieceRange): PieceStream {
    return this.#layout.kind === 'laid'
      ? new LaidTotalStream(this, this.#layout, range)
      : new DynamicTotalStream(this, this.#layout, range)
  }

  integrals(starts: Float64Array, ends: Float64Array): Promise<Integrals> {
    return integralsByPieces(this, starts, ends, this.context)
  }

  aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    return aggregatesByPieces(this, edges, names, this.context)
  }

  async integral(from: Instant, to: Instant): Promise<number> {
    const start = Math.max(from, MIN_INSTANT)
    if (start >= to) return 0
    const { source } = this.context
    const { integrals } = await this.input.integrals(timesFor(source, start), timesFor(source, to))
    return integrals[0]!
  }

  /** Raw times that this series has beside those of its input, next to an instant. */
  #ownTimes(find: FindPoint, at: Instant): readonly number[] {
    const ends = this.ends.filter((end) => isFound(end, find, at))
    if (this.#layout.kind === 'dynamic') return ends
    // Each window has a raw point at its start and one in its last microsecond.
    const excluded = find === 'before' || find === 'after'
    if (isBefore(find)) {
      const last = instantFromUs(excluded ? at - 1 : at)
      const next = this.#layout.endAt(last)
      return [...ends, next - 1 === last ? last : this.#layout.startAt(last)]
    }
    const first = instantFromUs(excluded ? at + 1 : at)
    const start = this.#layout.startAt(first)
    return [...ends, start === first ? first : this.#layout.endAt(first) - 1]
  }

  /** Where the raw time next to an instant lies at most: no further than this series' own. */
  #nearRange(find: FindPoint, at: Instant): { readonly from: Instant; readonly to: Instant } {
    const own = this.#ownTimes(find, at)
    // What follows from the time alone has raw points close to any instant, and costs nothing anyway.
    if (own.length === 0 && this.varies !== 'data') return { from: at, to: at }
    if (own.length === 0)
      return isBefore(find) ? { from: MIN_INSTANT, to: at } : { from: at, to: END_INSTANT }
    return isBefore(find)
      ? { from: instantFromUs(Math.max(...own)), to: at }
      : { from: at, to: instantFromUs(Math.min(...own)) }
  }

  /** The integrals that values at `count` times within [from, to] need. */
  #planIntegrals(grid: string, count: number, from: Instant, to: Instant, ledger: Ledger): void {
    const layout = this.#layout
    if (layout.kind === 'laid') {
      const start = windowStart(layout, from)
      this.input.plan({ kind: 'integrals', grid, spans: count, from: start, to }, ledger)
      return
    }
    // One end of a window can fall between those of another, which makes three spans of two windows.
    const reach = {
      from: clampInstant(layout.startFor(from) - layout.slackUs),
      to: clampInstant(layout.endFor(to) + layout.slackUs),
    }
    this.input.plan({ kind: 'integrals', grid, spans: 2 * count, ...reach }, ledger)
  }

  #planPieces(ask: Ask & { readonly kind: 'pieces' }, ledger: Ledger): void {
    const { order, page, extent, widened, inside } = ask
    const layout = this.#layout
    // A widened range begins and ends at the latest at this series' own raw times beside it.
    const reaches = widened !== null && inside !== true
    const from = reaches ? this.#nearRange('before-or-at', ask.from).from : ask.from
    const to = reaches ? this.#nearRange('after-or-at', ask.to).to : ask.to
    if (layout.kind === 'dynamic') {
      const range = dynamicReads(layout, { from, to }, this.context)
      planChords(this.input, range, this.#name, widened, ledger)
      return
    }
    const range = { from: ask.from, to: ask.to, order, page: page + 2, extent }
    planChords(this.input, range, this.#name, widened, ledger)
    // The total where the first piece begins; one microsecond earlier another window may hold it.
    const start = windowStart(layout, clampInstant(from - 1))
    // Where the range may begin later, so may the window of its first total be one that is not known yet.
    const first = widened === null ? ask.from : clampInstant(Math.max(ask.from, start + 1))
    const reach = order === 'asc' ? first : to
    const grid = `base ${ask.from} ${ask.to} ${order} ${widened ?? ''} ${this.#layoutName}`
    this.input.plan({ kind: 'integrals', grid, spans: 1, from: start, to: reach }, ledger)
  }
}

function clampInstant(at: number): Instant {
  return instantFromUs(Math.min(Math.max(at, MIN_INSTANT), END_INSTANT))
}

function isBefore(find: FindPoint): boolean {
  return find === 'before' || find === 'before-or-at'
}

function isFound(time: number, find: FindPoint, at: Instant): boolean {
  switch (find) {
    case 'before':
      return time < at
    case 'before-or-at':
      return time <= at
    case 'after':
      return time > at
    case 'after-or-at':
      return time >= at
    default:
      return never(find)
  }
}
