import { never } from '../errors/tidemark-error.ts'
import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import { lowerBound, NO_POINTS, type PointColumns } from '../series/columns.ts'
import type { FindPoint, Integrals, RangeResult } from '../series/reads.ts'
import { END_INSTANT, type Instant, instantFromUs, isAccepted, MIN_INSTANT } from '../time/instant.ts'
import { aggregatesByPieces, planByPieces } from './by-pieces.ts'
import { holdEndsOf } from './chords.ts'
import { goesBack } from './good-points.ts'
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

/**
 * A series moved by an exact time: at t its value at t + us. What a historian computes of the input it computes of this
 * one. Where t + us is outside the accepted range there is no value.
 */
export class ShiftedSeries implements Series {
  readonly stepped: boolean
  readonly varies: 'nothing' | 'time' | 'data'
  readonly straight: boolean
  readonly holdEnds: readonly Instant[]
  readonly held?: (pushDowns: boolean) => Series
  readonly goodPoint?: (find: FindPoint, at: Instant) => Promise<SinglePoint | null>
  readonly input: Series
  readonly us: number
  readonly #name: string
  readonly #context: SeriesContext

  /** @param name the same only for equal series in equal contexts */
  constructor(input: Series, us: number, name: string, context: SeriesContext) {
    this.stepped = input.stepped
    this.varies = input.varies
    this.straight = input.straight
    this.holdEnds = holdEndsOf(input, context).map((end) => instantFromUs(end - us))
    if (input.held !== undefined) {
      this.held = (pushDowns) =>
        new ShiftedSeries(input.held!(pushDowns), us, `${name} held ${pushDowns}`, context)
    }
    if (input.goodPoint !== undefined) {
      this.goodPoint = (find, at) => this.#point(find, at, (find, at) => input.goodPoint!(find, at))
    }
    this.input = input
    this.us = us
    this.#name = name
    this.#context = context
  }

  plan(ask: Ask, ledger: Ledger): void {
    const { input, us } = this
    switch (ask.kind) {
      case 'values': {
        const { near, ...values } = this.#movedGrid(ask)
        const moved = near === undefined ? {} : { near: { ...near, at: this.#moved(near.at) } }
        input.plan({ ...values, ...moved }, ledger)
        break
      }
      case 'current':
      case 'point':
        input.plan({ ...ask, at: this.#moved(ask.at) }, ledger)
        break
      case 'raw-time': {
        const near = ask.near === undefined ? {} : { near: `${ask.near} moved by ${us}` }
        input.plan({ ...ask, at: this.#moved(ask.at), ...near }, ledger)
        break
      }
      case 'raw':
      case 'pieces': {
        const [from, to] = [this.#moved(ask.from), this.#moved(ask.to)]
        if (from >= to) break
        if (ask.kind === 'raw') input.plan({ ...ask, from, to }, ledger)
        else {
          const widened = ask.widened === null ? null : `${ask.widened} moved by ${us}`
          input.plan({ ...ask, from, to, widened }, ledger)
        }
        break
      }
      case 'integrals':
        input.plan(this.#movedGrid(ask), ledger)
        break
      case 'aggregates':
        if (this.#reaches(ask.from, ask.to)) input.plan(this.#movedGrid(ask), ledger)
        else planByPieces(this, ask, this.#name, this.#context, ledger)
        break
      default:
        never(ask)
    }
  }

  async valuesAt(times: Float64Array): Promise<Float64Array> {
    const moved = movedBy(times, this.us)
    if (times.length === 0 || this.#reaches(times[0]!, times.at(-1)! + 1)) return this.input.valuesAt(moved)
    const [start, end] = [lowerBound(moved, MIN_INSTANT), lowerBound(moved, END_INSTANT)]
    const values = new Float64Array(times.length).fill(Number.NaN)
    if (start < end) values.set(await this.input.valuesAt(moved.slice(start, end)), start)
    return values
  }

  async currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null> {
    const target = at + this.us
    if (target < MIN_INSTANT) return null
    const point = await this.input.currentPoint(find, this.#moved(at))
    if (point === null || point.time === null) return point
    return { ...point, time: instantFromUs(point.time - this.us) }
  }

  rawPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    return this.#point(find, at, (find, at) => this.input.rawPoint(find, at))
  }

  async #point(
    find: FindPoint,
    at: Instant,
    read: (find: FindPoint, at: Instant) => Promise<SinglePoint | null>,
  ): Promise<SinglePoint | null> {
    const place = this.#place(find, at)
    const point = place === null ? null : await read(...place)
    const time = point === null ? null : this.#back(point.time)
    return point === null || time === null ? null : { ...point, time }
  }

  async rawTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    const place = this.#place(find, at)
    const time = place === null ? null : await this.input.rawTime(...place)
    return time === null ? null : this.#back(time)
  }

  async rawPoints(range: RawRange): Promise<RangeResult> {
    const [from, to] = [this.#moved(range.from), this.#moved(range.to)]
    if (from >= to) return { points: NO_POINTS, more: false }
    const { points, more } = await this.input.rawPoints({ ...range, from, to })
    return { points: this.#backPoints(points), more }
  }

  pieces(range: PieceRange): PieceStream {
    const { from: start, to: end, order } = range
    const [from, to] = [this.#moved(start), this.#moved(end)]
    const parts: PieceStream[] = []
    const first = instantFromUs(Math.min(end, from - this.us))
    const last = instantFromUs(Math.max(first, to - this.us))
    if (start < first) parts.push(emptyStream(start, first))
    if (from < to) parts.push(this.#stream({ ...range, ...this.#wanted(range), from, to }))
    if (last < end) parts.push(emptyStream(last, end))
    if (order === 'desc') parts.reverse()
    return joinStreams(parts)
  }

  integrals(starts: Float64Array, ends: Float64Array): Promise<Integrals> {
    return this.input.integrals(clipped(movedBy(starts, this.us)), clipped(movedBy(ends, this.us)))
  }

  aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    return this.#reaches(edges[0]!, edges.at(-1)!)
      ? this.input.aggregates(movedBy(edges, this.us), names)
      : aggregatesByPieces(this, edges, names, this.#context)
  }

  /** Whether [from, to) stays in the accepted range when it is moved. */
  #reaches(from: number, to: number): boolean {
    return from + this.us >= MIN_INSTANT && to + this.us <= END_INSTANT
  }

  /** Moved, and taken to the nearer end of the accepted range where it leaves it. */
  #moved(at: Instant): Instant {
    return clip(at + this.us)
  }

  #movedGrid<Asked extends { readonly grid: string; readonly from: Instant; readonly to: Instant }>(
    ask: Asked,
  ): Asked {
    const { grid, from, to } = ask
    return { ...ask, grid: `${grid} moved by ${this.us}`, from: this.#moved(from), to: this.#moved(to) }
  }

  /** Where the input has to look; `null` when nothing can be there. */
  #place(find: FindPoint, at: Instant): readonly [find: FindPoint, at: Instant] | null {
    const target = at + this.us
    if (target < MIN_INSTANT) return goesBack(find) ? null : ['after-or-at', MIN_INSTANT]
    if (target >= END_INSTANT) {
      return goesBack(find) ? ['before-or-at', instantFromUs(END_INSTANT - 1)] : null
    }
    return [find, instantFromUs(target)]
  }

  #back(time: Instant): Instant | null {
    const back = time - this.us
    return isAccepted(back) ? back : null
  }

  #backPoints(points: PointColumns): PointColumns {
    return { ...points, times: points.times.map((time) => time - this.us) }
  }

  #wanted({ wantedFrom, wantedTo }: PieceRange): Partial<PieceRange> {
    return {
      ...(wantedFrom === undefined ? {} : { wantedFrom: this.#moved(wantedFrom) }),
      ...(wantedTo === undefined ? {} : { wantedTo: this.#moved(wantedTo) }),
    }
  }

  #stream(range: PieceRange): PieceStream {
    const stream = this.input.pieces(range)
    return {
      next: async () => {
        const piece = await stream.next()
        return piece === null ? null : movedPiece(piece, this.us)
      },
    }
  }
}

/** A piece of a series moved by an exact time. */
export function movedPiece(piece: Piece, us: number): Piece {
  const { from, to, raw } = piece
  const moved: Piece = {
    from: instantFromUs(from - us),
    to: instantFromUs(to - us),
    raw: { ...raw, times: raw.times.map((time) => time - us) },
    valuesAt: (times, side) =>
      piece.valuesAt(
        times.map((time) => time + us),
        side,
      ),
  }
  if (piece.valuesAfter === undefined) return moved
  return { ...moved, valuesAfter: (times) => piece.valuesAfter!(times.map((time) => time + us)) }
}

/** A single piece without points and values. */
export function emptyStream(from: Instant, to: Instant): PieceStream {
  const pieces: Piece[] = [
    { from, to, raw: NO_POINTS, valuesAt: (times) => new Float64Array(times.length).fill(Number.NaN) },
  ]
  return { next: async () => pieces.pop() ?? null }
}

/** One stream after the other. */
export function joinStreams(parts: readonly PieceStream[]): PieceStream {
  let index = 0
  return {
    next: async () => {
      for (; index < parts.length; index++) {
        const piece = await parts[index]!.next()
        if (piece !== null) return piece
      }
      return null
    },
  }
}

const moves = new TimesMemo<Map<number, Float64Array>>()

/** Times moved by an exact time; the same array for the same times, so that equal reads stay equal. */
function movedBy(times: Float64Array, us: number): Float64Array {
  return moves.get(times, () => new Map()).getOrInsertComputed(us, () => times.map((time) => time + us))
}

const clips = new TimesMemo<Float64Array>()

function clipped(times: Float64Array): Float64Array {
  const inside = times.length === 0 || (times[0]! >= MIN_INSTANT && times.at(-1)! <= END_INSTANT)
  return inside ? times : clips.get(times, () => times.map(clip))
}

function clip(us: number): Instant {
  return instantFromUs(Math.min(Math.max(us, MIN_INSTANT), END_INSTANT))
}
