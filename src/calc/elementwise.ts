import { never } from '../errors/tidemark-error.ts'
import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import { lowerBound, type PointColumns, STATUS_BAD, sliceColumns } from '../series/columns.ts'
import type { Side } from '../series/interpolate.ts'
import type { FindPoint, Integrals, RangeResult } from '../series/reads.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../time/instant.ts'
import {
  aggregatesByPieces,
  integralsByPieces,
  planByPieces,
  planRawByPieces,
  rawPointsByPieces,
} from './by-pieces.ts'
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

/** A function of the values that its inputs have at the same time. */
export interface ElementwiseRule {
  /**
   * Writes the results for many times at once. NaN stands for no value, in and out; what is not finite becomes NaN by
   * itself.
   * @param inputs  one column for each input, in the order of the arguments; not to be changed
   * @param result  as long as they are
   */
  readonly combine: (inputs: readonly Float64Array[], result: Float64Array) => void
  /** Whether the result is straight between raw points, given inputs that are; see Series.straight. */
  readonly straight: (inputs: readonly Series[]) => boolean
}

/**
 * An elementwise calculation over other series: at each time from their values there, with raw points at the union of
 * their raw times.
 * @source CALCULATIONS.md, section 2
 */
export class ElementwiseSeries implements Series {
  readonly stepped: boolean
  readonly varies: 'nothing' | 'time' | 'data'
  readonly straight: boolean
  readonly #rule: ElementwiseRule
  /** Each once; an input that occurs twice is read once. */
  readonly #inputs: readonly Series[]
  /** For each argument the index of its series in `#inputs`. */
  readonly #arguments: readonly number[]
  readonly #name: string
  readonly #context: SeriesContext
  readonly #values = new TimesMemo<Promise<Float64Array>>()

  /** @param name the same only for equal series in equal contexts */
  constructor(rule: ElementwiseRule, inputs: readonly Series[], name: string, context: SeriesContext) {
    this.#rule = rule
    this.#inputs = [...new Set(inputs)]
    this.#arguments = inputs.map((input) => this.#inputs.indexOf(input))
    this.#name = name
    this.#context = context
    const varying = inputs.filter((input) => input.varies !== 'nothing')
    this.stepped = varying.every((input) => input.stepped)
    this.varies = varying.some((input) => input.varies === 'data')
      ? 'data'
      : (varying[0]?.varies ?? 'nothing')
    this.straight = inputs.every((input) => input.straight) && rule.straight(inputs)
  }

  plan(ask: Ask, ledger: Ledger): void {
    switch (ask.kind) {
      case 'values':
      case 'current':
      case 'raw-time':
      case 'pieces':
        for (const input of this.#inputs) input.plan(ask, ledger)
        break
      case 'point': {
        const { find, at } = ask
        const values = nearTime(`${this.#name} ${find} ${at}`, find, at)
        for (const input of this.#inputs) {
          input.plan({ kind: 'raw-time', find, at }, ledger)
          input.plan(ask, ledger)
          input.plan(values, ledger)
        }
        break
      }
      case 'raw':
        planRawByPieces(this, ask, ledger)
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
    return this.#values.get(times, async () =>
      this.#combine(await Promise.all(this.#inputs.map((input) => input.valuesAt(times))), times.length),
    )
  }

  async currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null> {
    const points = await Promise.all(this.#inputs.map((input) => input.currentPoint(find, at)))
    let time: Instant | null = null
    let bad = false
    for (const point of points) {
      if (point === null) return null
      if (point.time !== null && (time === null || point.time > time)) time = point.time
      bad ||= point.bad
    }
    const value = this.#combineOne(points.map((point) => point!.value))
    return { time, value, bad: bad || Number.isNaN(value) }
  }

  async rawTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    const times = await Promise.all(this.#inputs.map((input) => input.rawTime(find, at)))
    const found = times.filter((time) => time !== null)
    if (found.length === 0) return null
    const isBefore = find === 'before' || find === 'before-or-at'
    return instantFromUs(isBefore ? Math.max(...found) : Math.min(...found))
  }

  async rawPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const time = await this.rawTime(find, at)
    if (time === null) return null
    const times = timesFor(this.#context.source, time)
    const points = await Promise.all(
      this.#inputs.map(async (input): Promise<{ value: number; bad: boolean }> => {
        const own = await input.rawTime(find, at)
        const point = own === time ? await input.rawPoint(find, at) : null
        return point ?? { value: (await input.valuesAt(times))[0]!, bad: false }
      }),
    )
    const value = this.#combineOne(points.map((point) => point.value))
    return { time, value, bad: Number.isNaN(value) || points.some((point) => point.bad) }
  }

  rawPoints(range: RawRange): Promise<RangeResult> {
    return rawPointsByPieces(this, range, this.#context)
  }

  pieces(range: PieceRange): PieceStream {
    const streams = this.#inputs.map((input) => input.pieces(range))
    return new UnionStream(streams, range, (columns, length) => this.#combine(columns, length))
  }

  integrals(starts: Float64Array, ends: Float64Array): Promise<Integrals> {
    return integralsByPieces(this, starts, ends, this.#context)
  }

  aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    return aggregatesByPieces(this, edges, names, this.#context)
  }

  #combineOne(values: readonly number[]): number {
    return this.#combine(
      values.map((value) => Float64Array.of(value)),
      1,
    )[0]!
  }

  /** @param columns one for each of `#inputs` */
  #combine(columns: readonly Float64Array[], length: number): Float64Array {
    const result = new Float64Array(length)
    this.#rule.combine(
      this.#arguments.map((index) => columns[index]!),
      result,
    )
    for (let i = 0; i < length; i++) if (!Number.isFinite(result[i]!)) result[i] = Number.NaN
    return result
  }
}

/** Asks for the value at the raw time next to an instant, which is not known before it is looked up. */
export function nearTime(grid: string, find: FindPoint, at: Instant): Ask {
  const isBefore = find === 'before' || find === 'before-or-at'
  const [from, to] = isBefore ? [MIN_INSTANT, at] : [at, END_INSTANT]
  return { kind: 'values', grid, count: 1, from, to, near: { find, at } }
}

/** Pieces over the union of the inputs' raw times, as far as all of them reach. */
class UnionStream implements PieceStream {
  readonly #streams: readonly PieceStream[]
  readonly #range: PieceRange
  readonly #combine: (columns: readonly Float64Array[], length: number) => Float64Array
  readonly #pieces: (Piece | null)[]
  /** The end of what was given. */
  #position: Instant

  constructor(
    streams: readonly PieceStream[],
    range: PieceRange,
    combine: (columns: readonly Float64Array[], length: number) => Float64Array,
  ) {
    this.#streams = streams
    this.#range = range
    this.#combine = combine
    this.#pieces = streams.map(() => null)
    this.#position = range.order === 'asc' ? range.from : range.to
  }

  async next(): Promise<Piece | null> {
    const { order, from: start, to: end } = this.#range
    if (this.#position === (order === 'asc' ? end : start)) return null
    await Promise.all(this.#streams.map((stream, i) => this.#pull(stream, i)))
    const pieces = this.#pieces.map((piece) => piece!)
    // As far as all of them reach.
    const ends = pieces.map((piece) => (order === 'asc' ? piece.to : piece.from))
    const [from, to] =
      order === 'asc'
        ? [this.#position, instantFromUs(Math.min(...ends, end))]
        : [instantFromUs(Math.max(...ends, start)), this.#position]
    this.#position = order === 'asc' ? to : from
    return this.#combined(pieces, from, to)
  }

  /** Makes sure that an input has a piece that goes on from the position. */
  async #pull(stream: PieceStream, index: number): Promise<void> {
    const piece = this.#pieces[index]!
    const used = piece === null || this.#position === (this.#range.order === 'asc' ? piece.to : piece.from)
    if (used) this.#pieces[index] = await stream.next()
  }

  #combined(pieces: readonly Piece[], from: Instant, to: Instant): Piece {
    const raws = pieces.map((piece) => within(piece.raw, from, to))
    const times = unionTimes(raws)
    const statuses = new Uint8Array(times.length)
    const columns = pieces.map((piece, i) => {
      const values = piece.valuesAt(times, 'at')
      return overwriteBad(values, raws[i]!, times, statuses)
    })
    const values = this.#combine(columns, times.length)
    for (let i = 0; i < values.length; i++) if (Number.isNaN(values[i]!)) statuses[i] = STATUS_BAD
    return {
      from,
      to,
      raw: { times, values, statuses },
      valuesAt: (at: Float64Array, side: Side) =>
        this.#combine(
          pieces.map((piece) => piece.valuesAt(at, side)),
          at.length,
        ),
    }
  }
}

function within(points: PointColumns, from: Instant, to: Instant): PointColumns {
  return sliceColumns(points, lowerBound(points.times, from), lowerBound(points.times, to))
}

/** All times that occur, ascending, each once. */
function unionTimes(columns: readonly PointColumns[]): Float64Array {
  const filled = columns.filter(({ times }) => times.length > 0).map(({ times }) => times)
  if (filled.length === 0) return new Float64Array(0)
  return filled.reduce(mergeTimes)
}

function mergeTimes(a: Float64Array, b: Float64Array): Float64Array {
  const merged = new Float64Array(a.length + b.length)
  let i = 0
  let j = 0
  let length = 0
  while (i < a.length && j < b.length) {
    const left = a[i]!
    const right = b[j]!
    merged[length++] = Math.min(left, right)
    if (left <= right) i++
    if (right <= left) j++
  }
  while (i < a.length) merged[length++] = a[i++]!
  while (j < b.length) merged[length++] = b[j++]!
  return merged.subarray(0, length)
}

/**
 * A BAD raw point makes the result at its time BAD, computed from its value as it is and not from the signal, which passes
 * it by.
 */
function overwriteBad(
  values: Float64Array,
  raw: PointColumns,
  times: Float64Array,
  statuses: Uint8Array,
): Float64Array {
  let at = 0
  for (let i = 0; i < raw.times.length; i++) {
    if (raw.statuses[i] !== STATUS_BAD) continue
    while (times[at]! < raw.times[i]!) at++
    values[at] = raw.values[i]!
    statuses[at] = STATUS_BAD
  }
  return values
}
