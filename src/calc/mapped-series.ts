import { never } from '../errors/tidemark-error.ts'
import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import { concatColumns, NO_POINTS, type PointColumns, STATUS_BAD, STATUS_OK } from '../series/columns.ts'
import type { Side } from '../series/interpolate.ts'
import type { FindPoint, Integrals, RangeResult } from '../series/reads.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT, US_PER_DAY } from '../time/instant.ts'
import type { OffsetSpan } from '../time/offset-spans.ts'
import {
  aggregatesByPieces,
  integralsByPieces,
  planByPieces,
  planRawByPieces,
  rawPointsByPieces,
  streamOf,
} from './by-pieces.ts'
import { holdEndsOf } from './chords.ts'
import { goesBack } from './good-points.ts'
import type { OffsetMap } from './offset-map.ts'
import { breathe } from './page.ts'
import { TimesMemo, timesFor } from './read-memo.ts'
import type {
  Ask,
  CurrentPoint,
  Ledger,
  Piece,
  PieceRange,
  PieceStream,
  RawRange,
  Series,
  SeriesContext,
  SinglePoint,
} from './series.ts'
import { emptyStream, movedPiece } from './shifted-series.ts'

/** A month can be longer than another by three days, and clocks are moved: how far apart the ends of equal steps can lie. */
const SLACK_US = 4 * US_PER_DAY

/** Points that the limit from the left at a break can cost, of each tag. */
const LIMIT_PAGE = 2

/**
 * A series moved by an offset on the calendar: at t its value at the instant that the offset leads to. Between two breaks,
 * which clocks and months make, it is moved by an exact time or stays at one instant; each break has a raw point.
 */
export class MappedSeries implements Series {
  readonly stepped: boolean
  readonly varies: 'time' | 'data'
  readonly straight: boolean
  readonly holdEnds: readonly Instant[]
  readonly held?: (pushDowns: boolean) => Series
  readonly #input: Series
  readonly #map: OffsetMap
  readonly #mapName: string
  readonly #name: string
  readonly #context: SeriesContext
  readonly #values = new TimesMemo<Promise<Float64Array>>()

  /**
   * @param names  of the map, the same only for equal maps; of the series, only for equal series in equal contexts
   */
  constructor(
    input: Series,
    map: OffsetMap,
    names: { readonly map: string; readonly series: string },
    context: SeriesContext,
  ) {
    const isFixed = map.spanAt(context.range.from).target.kind === 'fixed'
    this.stepped = isFixed || input.stepped
    this.varies = input.varies === 'data' ? 'data' : 'time'
    this.straight = isFixed || input.straight
    this.holdEnds = holdEndsOf(input, context).flatMap((end) => map.originsOf(end))
    if (input.held !== undefined) {
      this.held = (pushDowns) => {
        const series = `${names.series} held ${pushDowns}`
        return new MappedSeries(input.held!(pushDowns), map, { ...names, series }, context)
      }
    }
    this.#input = input
    this.#map = map
    this.#mapName = names.map
    this.#name = names.series
    this.#context = context
  }

  plan(ask: Ask, ledger: Ledger): void {
    switch (ask.kind) {
      case 'values': {
        const { near, count } = ask
        const [from, to] = near === undefined ? [ask.from, ask.to] : [near.at, near.at]
        const grid = `${ask.grid} through ${this.#mapName}`
        this.#planValues(grid, count, from, to, near !== undefined, ledger)
        break
      }
      case 'current':
        this.#input.plan({ ...ask, at: this.#hull(ask.at, ask.at).from }, ledger)
        this.#planValues(`${this.#name} current ${ask.at}`, 1, ask.at, ask.at, true, ledger)
        break
      case 'point':
      case 'raw-time':
        this.#planNear(ask, ledger)
        break
      case 'raw':
        planRawByPieces(this, ask, ledger)
        break
      case 'pieces':
        this.#planPieces(ask, ledger)
        break
      case 'integrals':
      case 'aggregates':
        planByPieces(this, ask, this.#name, this.#context, ledger)
        break
      default:
        never(ask)
    }
  }

  valuesAt(times: Float64Array): Promise<Float64Array> {
    return this.#values.get(times, async () => {
      const targets = Float64Array.from(times, (at) => this.#map.targetOf(instantFromUs(at)) ?? Number.NaN)
      return this.#valuesAtTargets(targets)
    })
  }

  async currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null> {
    const { target } = this.#map.spanAt(at)
    if (target.kind !== 'moved') {
      const value = await this.#valueAt(at)
      return { time: at, value, bad: Number.isNaN(value) }
    }
    const moved = instantFromUs(at + target.us)
    const point = await this.#input.currentPoint(find, moved)
    if (point === null || point.time === null) return point
    const time = instantFromUs(point.time - target.us)
    const last = find === 'before' ? instantFromUs(at - 1) : at
    const found = this.#map.breakAtOrBefore(last, time)
    if (found === null) return { ...point, time }
    const value = await this.#valueAt(found)
    return { time: found, value, bad: Number.isNaN(value) }
  }

  async rawTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    const back = goesBack(find)
    const start = find === 'before' ? at - 1 : find === 'after' ? at + 1 : at
    if (start < MIN_INSTANT || start >= END_INSTANT) return null
    const first = instantFromUs(start)
    const { target } = this.#map.spanAt(first)
    const found =
      target.kind === 'moved'
        ? await this.#input.rawTime(back ? 'before-or-at' : 'after-or-at', instantFromUs(first + target.us))
        : null
    const own = found === null || target.kind !== 'moved' ? null : found - target.us
    if (back) {
      const last = this.#map.breakAtOrBefore(first, own ?? Number.NEGATIVE_INFINITY)
      return last ?? (own === null ? null : instantFromUs(own))
    }
    const next = this.#map.breakAtOrAfter(first, own ?? Number.POSITIVE_INFINITY)
    return next ?? (own === null ? null : instantFromUs(own))
  }

  async rawPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const time = await this.rawTime(find, at)
    if (time === null) return null
    const { target } = this.#map.spanAt(time)
    if (target.kind === 'moved') {
      const moved = instantFromUs(time + target.us)
      const point = await this.#input.rawPoint('before-or-at', moved)
      if (point?.time === moved) return { ...point, time }
    }
    const value = await this.#valueAt(time)
    return { time, value, bad: Number.isNaN(value) }
  }

  rawPoints(range: RawRange): Promise<RangeResult> {
    return rawPointsByPieces(this, range, this.#context)
  }

  pieces(range: PieceRange): PieceStream {
    const { from, to, order, page } = range
    const spans = order === 'asc' ? this.#map.spans(from, to) : this.#map.spansBackwards(from, to)
    let current: PieceStream | null = null
    let waiting: OffsetSpan | null = null
    const nextSpan = (): OffsetSpan | null => {
      const span = waiting ?? spans.next().value ?? null
      waiting = null
      return span
    }
    return {
      next: async () => {
        for (;;) {
          const piece = current === null ? null : await current.next()
          if (piece !== null) return piece
          const span = nextSpan()
          if (span === null) return null
          if (span.target.kind === 'moved') {
            current = this.#movedStream(span, range)
            continue
          }
          // Many of them make a piece: each is a single value.
          const run = [span]
          while (run.length < page) {
            waiting = nextSpan()
            if (waiting === null || waiting.target.kind === 'moved') break
            run.push(waiting)
            waiting = null
          }
          await breathe(this.#context)
          return this.#fixedPiece(order === 'asc' ? run : run.reverse(), from)
        }
      },
    }
  }

  integrals(starts: Float64Array, ends: Float64Array): Promise<Integrals> {
    return integralsByPieces(this, starts, ends, this.#context)
  }

  aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    return aggregatesByPieces(this, edges, names, this.#context)
  }

  async #valueAt(at: Instant): Promise<number> {
    return (await this.valuesAt(timesFor(this.#context.source, at)))[0]!
  }

  /** Values of the input at times in any order; NaN where there is no time. */
  async #valuesAtTargets(targets: Float64Array): Promise<Float64Array> {
    const distinct = Float64Array.from(new Set(targets.filter((at) => !Number.isNaN(at)))).sort()
    if (distinct.length === 0) return targets
    const { source } = this.#context
    const found = await this.#input.valuesAt(distinct.length <= 2 ? timesFor(source, ...distinct) : distinct)
    const byTime = new Map(Array.from(distinct, (at, i) => [at, found[i]!]))
    return targets.map((at) => byTime.get(at) ?? Number.NaN)
  }

  #movedStream({ from, to, target }: OffsetSpan, range: PieceRange): PieceStream {
    if (target.kind !== 'moved') return emptyStream(from, to)
    const { us } = target
    const { order, page, extent, wantedFrom = from, wantedTo = to } = range
    const stream = this.#input.pieces({
      order,
      page,
      extent,
      from: instantFromUs(from + us),
      to: instantFromUs(to + us),
      wantedFrom: instantFromUs(Math.min(Math.max(wantedFrom, from), to) + us),
      wantedTo: instantFromUs(Math.max(Math.min(wantedTo, to), from) + us),
    })
    return {
      next: async () => {
        const piece = await stream.next()
        if (piece === null) return null
        const moved = movedPiece(piece, us)
        const opens = moved.from === from && this.#map.isBreak(from)
        return opens ? this.#withBreak(moved, from === range.from) : moved
      },
    }
  }

  /** With the raw point at the break that a piece begins with, and the limit from the left that the span before has there. */
  async #withBreak(piece: Piece, isFirst: boolean): Promise<Piece> {
    const { from, raw } = piece
    const limit = isFirst ? Number.NaN : await this.#limitBefore(from)
    return {
      ...piece,
      raw: raw.times[0] === from ? raw : concatColumns([pointAt(from, piece), raw]),
      valuesAt: (times: Float64Array, side: Side) => {
        const values = piece.valuesAt(times, side)
        if (side === 'before' && times[0] === from) values[0] = limit
        return values
      },
    }
  }

  /** Limit from the left at a break. */
  async #limitBefore(at: Instant): Promise<number> {
    const { target } = this.#map.spanAt(instantFromUs(at - 1))
    if (target.kind === 'none') return Number.NaN
    if (target.kind === 'fixed') return (await this.#valuesAtTargets(Float64Array.of(target.at)))[0]!
    const to = instantFromUs(at + target.us)
    const from = instantFromUs(to - 1)
    const range = { from, to, order: 'asc', page: LIMIT_PAGE, extent: 'all' } as const
    const piece = await this.#input.pieces(range).next()
    return piece === null ? Number.NaN : piece.valuesAt(Float64Array.of(to), 'before')[0]!
  }

  /** Spans that stay at one instant each, ascending. @param start of the range that is streamed */
  async #fixedPiece(run: readonly OffsetSpan[], start: Instant): Promise<Piece> {
    const [from, to] = [run[0]!.from, run.at(-1)!.to]
    const breaks = Float64Array.from(
      run.filter((span) => this.#map.isBreak(span.from)),
      (span) => span.from,
    )
    const targets = Float64Array.from(run, ({ target }) => (target.kind === 'fixed' ? target.at : Number.NaN))
    const [values, limit] = await Promise.all([
      this.#valuesAtTargets(targets),
      from === start || from === MIN_INSTANT ? Number.NaN : this.#limitBefore(from),
    ])
    const valuesAt = (times: Float64Array, side: Side): Float64Array => {
      let index = 0
      return times.map((at) => {
        const last = side === 'at' ? at : at - 1
        if (last < from) return limit
        while (index + 1 < run.length && run[index + 1]!.from <= last) index++
        return values[index]!
      })
    }
    const rawValues = valuesAt(breaks, 'at')
    const statuses = Uint8Array.from(rawValues, (value) => (Number.isNaN(value) ? STATUS_BAD : STATUS_OK))
    const raw = breaks.length === 0 ? NO_POINTS : { times: breaks, values: rawValues, statuses }
    return { from, to, raw, valuesAt }
  }

  #hull(from: Instant, to: Instant): { readonly from: Instant; readonly to: Instant } {
    return this.#map.hullOf(from, to)
  }

  /** @param isNear when the times are only near, as near as a break can be */
  #planValues(
    grid: string,
    count: number,
    from: Instant,
    to: Instant,
    isNear: boolean,
    ledger: Ledger,
  ): void {
    const hull = this.#hull(from, to)
    const slack = isNear || from < to ? SLACK_US : 0
    this.#input.plan(
      {
        kind: 'values',
        grid,
        count,
        from: instantFromUs(Math.max(MIN_INSTANT, hull.from - slack)),
        to: instantFromUs(Math.min(END_INSTANT - 1, hull.to + slack)),
      },
      ledger,
    )
  }

  #planNear(ask: Ask & { readonly kind: 'point' | 'raw-time' }, ledger: Ledger): void {
    const { find, at } = ask
    const name = `${this.#name} ${find} ${at} ${ask.kind === 'raw-time' ? (ask.near ?? '') : ''}`
    const target = this.#hull(at, at).from
    const count = ask.kind === 'raw-time' ? (ask.count ?? 1) : 1
    this.#input.plan({ kind: 'raw-time', find, at: target, near: name, count }, ledger)
    if (ask.kind === 'raw-time') return
    this.#input.plan({ kind: 'raw-time', find, at: target, near: `${name} point` }, ledger)
    this.#planValues(name, 1, at, at, true, ledger)
    this.#planValues(`${name} break`, 1, at, at, true, ledger)
  }

  #planPieces(ask: Ask & { readonly kind: 'pieces' }, ledger: Ledger): void {
    const { from, to, order, page, widened } = ask
    const name = `${this.#name} ${from} ${to} ${order} ${page} ${widened ?? ''}`
    const spans = this.#map.plannedSpans(from, to)
    if (spans === null) {
      this.#planValues(name, Number.POSITIVE_INFINITY, from, to, true, ledger)
      return
    }
    let fixed = 0
    for (const span of spans) {
      const { target } = span
      if (target.kind !== 'moved') {
        fixed++
        continue
      }
      const inner = { from: instantFromUs(span.from + target.us), to: instantFromUs(span.to + target.us) }
      const ends = widened === null ? null : `${name} ${span.from}`
      this.#input.plan({ ...ask, ...inner, widened: ends }, ledger)
      this.#planLimit(span.from, name, ledger)
    }
    if (fixed > 0) this.#planValues(name, 2 * fixed + 2, from, to, true, ledger)
    if (widened === null) return
    // One span more on either side, as far as there can be a raw point of another series.
    this.#planLimit(from, `${name} before`, ledger)
    this.#planValues(`${name} ends`, 4, from, to, true, ledger)
  }

  #planLimit(at: Instant, name: string, ledger: Ledger): void {
    const { from } = this.#hull(at, at)
    const end = Math.min(from + 1, END_INSTANT)
    if (from >= end) return
    const range = { ...streamOf(from, end, this.#context), page: LIMIT_PAGE }
    this.#input.plan({ kind: 'pieces', ...range, widened: `${name} limit ${at}` }, ledger)
  }
}

/** The value of a piece at its beginning, as a raw point. */
function pointAt(at: Instant, piece: Piece): PointColumns {
  const times = Float64Array.of(at)
  const values = piece.valuesAt(times, 'at')
  return { times, values, statuses: Uint8Array.of(Number.isNaN(values[0]!) ? STATUS_BAD : STATUS_OK) }
}
