import { never } from '../errors/tidemark-error.ts'
import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import { lowerBound, type PointColumns, upperBound } from '../series/columns.ts'
import { type EdgePoint, type Side, valueBetween } from '../series/interpolate.ts'
import type { FindPoint, Integrals, RangeResult, SignalShape } from '../series/reads.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../time/instant.ts'
import {
  aggregatesByPieces,
  integralsByPieces,
  planByPieces,
  planRawByPieces,
  rawPointsByPieces,
  streamOf,
} from './by-pieces.ts'
import { CarryStream, type Surroundings } from './carry-stream.ts'
import { holdEndsOf } from './chords.ts'
import { findRawPoint, planFindRawPoint, type Whereabouts } from './good-points.ts'
import { breathe } from './page.ts'
import { TimesMemo } from './read-memo.ts'
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

/** Points that a signal is held or goes straight between; a value of NaN ends it until the next one. */
export interface Knots {
  /** Ascending, distinct. */
  readonly times: Float64Array
  readonly values: Float64Array
}

/** What raw points of an input become. */
export interface Derived {
  readonly raw: PointColumns
  readonly knots: Knots
}

/**
 * A series whose signal is that of points of its own, each made of a raw point of its input and of the point before it.
 * Works on raw points only: no historian can compute it.
 */
export abstract class PointSignalSeries implements Series {
  readonly straight = true
  abstract readonly stepped: boolean
  readonly varies: 'time' | 'data'
  readonly holdEnds: readonly Instant[]
  protected readonly input: Series
  protected readonly name: string
  protected readonly context: SeriesContext
  readonly #values = new TimesMemo<Promise<Float64Array>>()

  /** @param name the same only for equal series in equal contexts */
  constructor(input: Series, name: string, context: SeriesContext) {
    this.input = input
    this.name = name
    this.context = context
    this.varies = input.varies === 'data' ? 'data' : 'time'
    this.holdEnds = holdEndsOf(input, context)
  }

  /** Points from raw points of the input; @param last the knot before them */
  protected abstract derive(raw: PointColumns, last: EdgePoint | null): Derived
  /** Whether a raw point of the input makes a knot. */
  protected abstract makesKnot(point: SinglePoint): boolean
  /** The raw point of the input next to an instant that makes a knot. */
  protected knotPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    return findRawPoint(this.input, find, at, (point) => this.makesKnot(point))
  }

  /** The last knot before an instant. */
  protected abstract knotBefore(at: Instant): Promise<EdgePoint | null>
  protected abstract planKnotBefore(where: Whereabouts, ledger: Ledger): void
  /** Until when the last knot holds: as long as anything of the input does. */
  protected holdUntil(): Instant {
    return this.holdEnds.reduce((last, end) => (end > last ? end : last), MIN_INSTANT)
  }

  protected abstract planPoint(ask: Ask & { readonly kind: 'point' | 'raw-time' }, ledger: Ledger): void
  protected abstract planCurrent(ask: Ask & { readonly kind: 'current' }, ledger: Ledger): void
  abstract currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null>
  abstract rawPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null>
  abstract rawTime(find: FindPoint, at: Instant): Promise<Instant | null>

  plan(ask: Ask, ledger: Ledger): void {
    switch (ask.kind) {
      case 'values':
        this.planValues(ask, ledger)
        break
      case 'current':
        this.planCurrent(ask, ledger)
        break
      case 'point':
      case 'raw-time':
        this.planPoint(ask, ledger)
        break
      case 'raw':
        planRawByPieces(this, ask, ledger)
        break
      case 'pieces':
        this.planPieces(ask, ledger)
        break
      case 'integrals':
      case 'aggregates':
        planByPieces(this, ask, this.name, this.context, ledger)
        break
      default:
        never(ask)
    }
  }

  protected planValues(ask: Ask & { readonly kind: 'values' }, ledger: Ledger): void {
    const { near } = ask
    const [from, to] = near === undefined ? [ask.from, ask.to] : [near.at, near.at]
    const widened = near === undefined ? null : ask.grid
    this.planPieces(
      { kind: 'pieces', widened, ...streamOf(from, Math.min(to + 1, END_INSTANT), this.context) },
      ledger,
    )
  }

  valuesAt(times: Float64Array): Promise<Float64Array> {
    const own = { pieces: (range: PieceRange) => this.#stream(range) }
    return this.#values.get(times, () => valuesByPieces(own, times, this.context))
  }

  rawPoints(range: RawRange): Promise<RangeResult> {
    return rawPointsByPieces(this, range, this.context)
  }

  pieces(range: PieceRange): PieceStream {
    return this.#stream(range)
  }

  #stream(range: PieceRange): PieceStream {
    return new CarryStream<Piece, EdgePoint | null>(
      {
        context: this.context,
        open: (range) => this.input.pieces(range),
        lookUp: (at) => this.knotBefore(at),
        carry: (piece, around) => this.#carry(piece, around),
      },
      range,
    )
  }

  integrals(starts: Float64Array, ends: Float64Array): Promise<Integrals> {
    return integralsByPieces(this, starts, ends, this.context)
  }

  aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    return aggregatesByPieces(this, edges, names, this.context)
  }

  async #carry(
    { from, to, raw: inputRaw }: Piece,
    around: Surroundings<Piece, EdgePoint | null>,
  ): Promise<{ piece: Piece; after: EdgePoint | null }> {
    const [prev, following] = await Promise.all([around.before(), this.#following(around)])
    const { raw, knots } = this.derive(inputRaw, prev)
    const last = knots.times.length - 1
    const after = last < 0 ? prev : { time: knots.times[last]!, value: knots.values[last]! }
    const next = following === null ? null : firstKnot(this.derive(following, after).knots)
    const shape = { stepped: this.stepped, holdUntil: this.holdUntil() }
    const valuesAt = (times: Float64Array, side: Side) => joinKnots(knots, prev, next, times, shape, side)
    return { piece: { from, to, raw, valuesAt }, after }
  }

  /** The raw point of the input that makes the next knot after a piece. */
  async #following(around: Surroundings<Piece, EdgePoint | null>): Promise<PointColumns | null> {
    const found = await around.ahead(({ raw }) => this.#firstThatMakesKnot(raw))
    if (found !== null || around.end >= END_INSTANT) return found
    const point = await this.knotPoint('after-or-at', around.end)
    if (point === null) return null
    const { time, value, bad } = point
    return {
      times: Float64Array.of(time),
      values: Float64Array.of(value),
      statuses: Uint8Array.of(Number(bad)),
    }
  }

  #firstThatMakesKnot({ times, values, statuses }: PointColumns): PointColumns | null {
    for (let i = 0; i < times.length; i++) {
      const point = { time: instantFromUs(times[i]!), value: values[i]!, bad: statuses[i] !== 0 }
      if (!this.makesKnot(point)) continue
      return {
        times: times.subarray(i, i + 1),
        values: values.subarray(i, i + 1),
        statuses: statuses.subarray(i, i + 1),
      }
    }
    return null
  }

  protected planPieces(ask: Ask & { readonly kind: 'pieces' }, ledger: Ledger): void {
    const { from, to, order, page, extent, widened } = ask
    const name = `${this.name} ${from} ${to} ${order} ${page} ${widened ?? ''}`
    const end = (at: Instant): Whereabouts => {
      if (widened === null) return { kind: 'at', at }
      return ask.inside === true
        ? { kind: 'within', from, to, name: widened }
        : { kind: 'near', at, name: widened }
    }
    this.input.plan(ask, ledger)
    this.planKnotBefore(end(from), ledger)
    planFindRawPoint(this.input, 'after-or-at', end(to), this.name, ledger)
    if (extent === 'all') return
    // Where the first piece ends is known only once it was read.
    const cut = { kind: 'within', from, to, name } as const
    if (order === 'asc') planFindRawPoint(this.input, 'after-or-at', cut, this.name, ledger)
    else this.planKnotBefore(cut, ledger)
  }
}

function firstKnot({ times, values }: Knots): EdgePoint | null {
  return times.length === 0 ? null : { time: times[0]!, value: values[0]! }
}

/** Values of any series through its pieces. */
export async function valuesByPieces(
  series: Pick<Series, 'pieces'>,
  times: Float64Array,
  context: SeriesContext,
): Promise<Float64Array> {
  const values = new Float64Array(times.length).fill(Number.NaN)
  if (times.length === 0) return values
  const stream = series.pieces(streamOf(times[0]!, times.at(-1)! + 1, context))
  for (let piece = await stream.next(); piece !== null; piece = await stream.next()) {
    const [start, end] = [lowerBound(times, piece.from), lowerBound(times, piece.to)]
    if (start < end) values.set(piece.valuesAt(times.subarray(start, end), 'at'), start)
    await breathe(context)
  }
  return values
}

/**
 * Values of a signal from its knots; as valuesFromPoints of src/series, but a knot without a value ends the signal.
 * @param prev the knot before all others, @param next the one after them; `null` when there is none
 */
function joinKnots(
  knots: Knots,
  prev: EdgePoint | null,
  next: EdgePoint | null,
  times: Float64Array,
  { stepped, holdUntil }: SignalShape,
  side: Side,
): Float64Array {
  const values = new Float64Array(times.length)
  const late = side === 'before' ? 1 : 0
  let passed = times.length === 0 ? 0 : upperBound(knots.times, times[0]! - late)
  for (let i = 0; i < times.length; i++) {
    const at = times[i]!
    const last = at - late
    while (passed < knots.times.length && knots.times[passed]! <= last) passed++
    const isBeyond = passed === knots.times.length && next !== null && next.time <= last
    const before = isBeyond ? next : passed > 0 ? knotAt(knots, passed - 1) : prev
    const after = isBeyond ? null : passed < knots.times.length ? knotAt(knots, passed) : next
    if (before === null || before.time > last) values[i] = Number.NaN
    else if (before.time === at) values[i] = before.value
    else if (after === null) values[i] = at <= holdUntil ? before.value : Number.NaN
    else if (stepped) values[i] = before.value
    else values[i] = valueBetween(at, before.time, before.value, after.time, after.value)
  }
  return values
}

function knotAt({ times, values }: Knots, index: number): EdgePoint {
  return { time: times[index]!, value: values[index]! }
}
