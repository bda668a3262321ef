import { never, TidemarkError } from '../errors/tidemark-error.ts'
import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import { makeColumns, type PointColumns, reverseColumns, sliceColumns } from '../series/columns.ts'
import type { Side } from '../series/interpolate.ts'
import type { FindPoint, Integrals, RangeResult } from '../series/reads.ts'
import { type Instant, instantFromUs, isAccepted } from '../time/instant.ts'
import { aggregatesByPieces, integralsByPieces } from './by-pieces.ts'
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
  SeriesSource,
  SinglePoint,
} from './series.ts'

/**
 * A signal that is worked out from the time alone: it has a value at every instant, and raw points of its own. Times are
 * whole microseconds since 1970; all methods take any of them.
 */
export interface GeneratedSignal {
  /** Held from each raw point to the next. */
  readonly stepped: boolean
  /** As in Series. */
  readonly straight: boolean
  /** The value at an instant, or its limit from the left. Finite. */
  valueAt(at: number, side: Side): number
  /** The last raw time at or before an instant. */
  rawAtOrBefore(at: number): number
  /** The first raw time after an instant. */
  rawAfter(at: number): number
  /** How many raw points [from, to) has at most. */
  countRaw(from: number, to: number): number
  /** Integrals and aggregates without looking at every point; absent: they come from the points. */
  readonly closedForm?: ClosedForm
}

/** What a periodic signal knows without looking at its points one by one. */
export interface ClosedForm {
  integrals(starts: Float64Array, ends: Float64Array): Integrals
  aggregates(edges: Float64Array, names: readonly AggregateName[]): AggregateColumns
}

/**
 * Raw points that one call may have generated for it, all of its reads together. They cross no historian contract and so
 * are no load; without a bound of their own a period of a millisecond over a year would keep a processor busy until
 * the deadline.
 */
export const MAX_GENERATED_POINTS = 5_000_000

/** The tag of a virtual historian whose values follow from the time. */
export class GeneratedSeries implements Series {
  readonly stepped: boolean
  readonly varies = 'time'
  readonly straight: boolean
  readonly holdEnds = []
  readonly #signal: GeneratedSignal
  readonly #address: string
  readonly #context: SeriesContext

  /** @param address names the tag in messages */
  constructor(signal: GeneratedSignal, address: string, context: SeriesContext) {
    this.stepped = signal.stepped
    this.straight = signal.straight
    this.#signal = signal
    this.#address = address
    this.#context = context
  }

  plan(ask: Ask, _ledger: Ledger): void {
    switch (ask.kind) {
      case 'values':
      case 'current':
      case 'point':
      case 'raw':
      case 'raw-time':
        break
      case 'pieces':
        // Where only a part of the range is read, that part is checked when it is known.
        if (ask.extent === 'all' && ask.inside !== true) this.#charge(ask.from, ask.to)
        break
      case 'integrals':
      case 'aggregates':
        if (this.#signal.closedForm === undefined && !('inside' in ask && ask.inside === true)) {
          this.#charge(ask.from, ask.to)
        }
        break
      default:
        never(ask)
    }
  }

  async valuesAt(times: Float64Array): Promise<Float64Array> {
    return times.map((at) => this.#signal.valueAt(at, 'at'))
  }

  async currentPoint(_find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint> {
    return { time: at, value: this.#signal.valueAt(at, 'at'), bad: false }
  }

  async rawTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    const time = findRaw(this.#signal, find, at)
    return isAccepted(time) ? time : null
  }

  async rawPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const time = await this.rawTime(find, at)
    return time === null ? null : { time, value: this.#signal.valueAt(time, 'at'), bad: false }
  }

  async rawPoints({ from, to, order, limit }: RawRange): Promise<RangeResult> {
    const points = generate(this.#signal, from, to, order, limit + 1)
    const given = sliceColumns(order === 'asc' ? points : reverseColumns(points), 0, limit)
    return { points: given, more: points.times.length > limit }
  }

  pieces(range: PieceRange): PieceStream {
    const { from, to, extent } = range
    // Once more where the points are made: an evaluation need not have been planned.
    if (extent === 'all') this.#checkLimit(this.#signal.countRaw(from, to))
    return new GeneratedStream(this.#signal, range)
  }

  async integrals(starts: Float64Array, ends: Float64Array): Promise<Integrals> {
    const { closedForm } = this.#signal
    return closedForm?.integrals(starts, ends) ?? integralsByPieces(this, starts, ends, this.#context)
  }

  async aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    const { closedForm } = this.#signal
    return closedForm?.aggregates(edges, names) ?? aggregatesByPieces(this, edges, names, this.#context)
  }

  /** Counts a read that will generate all points of a range. Throws LIMIT_GENERATED_POINTS. */
  #charge(from: number, to: number): void {
    if (from >= to) return
    const reads = generatedBy.getOrInsertComputed(this.#context.source, () => new Map())
    reads.set(`${this.#address} ${from} ${to}`, this.#signal.countRaw(from, to))
    this.#checkLimit(reads.values().reduce((sum, points) => sum + points, 0))
  }

  #checkLimit(actual: number): void {
    if (actual <= MAX_GENERATED_POINTS) return
    throw new TidemarkError('LIMIT_GENERATED_POINTS', {
      tag: this.#address,
      limit: MAX_GENERATED_POINTS,
      actual,
    })
  }
}

/** Points to be generated in each call, by read; equal reads count once. */
const generatedBy = new WeakMap<SeriesSource, Map<string, number>>()

function findRaw(signal: GeneratedSignal, find: FindPoint, at: Instant): number {
  switch (find) {
    case 'before':
      return signal.rawAtOrBefore(at - 1)
    case 'before-or-at':
      return signal.rawAtOrBefore(at)
    case 'after':
      return signal.rawAfter(at)
    case 'after-or-at':
      return signal.rawAfter(at - 1)
    default:
      return never(find)
  }
}

/** The first or, descending, the last `limit` raw points of [from, to); ascending either way. */
function generate(
  signal: GeneratedSignal,
  from: number,
  to: number,
  order: 'asc' | 'desc',
  limit: number,
): PointColumns {
  const points = makeColumns(Math.min(limit, signal.countRaw(from, to)))
  const { times, values } = points
  let count = 0
  let at = order === 'asc' ? signal.rawAfter(from - 1) : signal.rawAtOrBefore(to - 1)
  while (count < times.length && (order === 'asc' ? at < to : at >= from)) {
    times[order === 'asc' ? count : times.length - 1 - count] = at
    count++
    at = order === 'asc' ? signal.rawAfter(at) : signal.rawAtOrBefore(at - 1)
  }
  const given =
    order === 'asc'
      ? sliceColumns(points, 0, count)
      : sliceColumns(points, times.length - count, times.length)
  const offset = order === 'asc' ? 0 : times.length - count
  for (let i = 0; i < count; i++) values[offset + i] = signal.valueAt(times[offset + i]!, 'at')
  return given
}

/** Pieces of `page` raw points each, which join at raw times. */
class GeneratedStream implements PieceStream {
  readonly #signal: GeneratedSignal
  readonly #range: PieceRange
  /** The end of what was given. */
  #position: Instant

  constructor(signal: GeneratedSignal, range: PieceRange) {
    this.#signal = signal
    this.#range = range
    this.#position = range.order === 'asc' ? range.from : range.to
  }

  async next(): Promise<Piece | null> {
    const { order, page, from: start, to: end } = this.#range
    const position = this.#position
    if (position === (order === 'asc' ? end : start)) return null
    // One point more shows where the next piece begins; none means that this one covers the rest.
    const [from, to] = order === 'asc' ? [position, end] : [start, position]
    const points = generate(this.#signal, from, to, order, page + 1)
    const isLast = points.times.length <= page
    const piece =
      order === 'asc'
        ? {
            from,
            to: isLast ? end : instantFromUs(points.times[page]!),
            raw: isLast ? points : sliceColumns(points, 0, page),
          }
        : {
            from: isLast ? start : instantFromUs(points.times[1]!),
            to,
            raw: isLast ? points : sliceColumns(points, 1, page + 1),
          }
    this.#position = order === 'asc' ? piece.to : piece.from
    return {
      ...piece,
      valuesAt: (times, side) => times.map((at) => this.#signal.valueAt(at, side)),
    }
  }
}
