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
import { holdEndsOf } from './chords.ts'
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

/** What a constant is asked for: it has the same value at all times. */
const ANY_TIME = Float64Array.of(0)
/** Times of one step of a long grid, at most. */
const STEP_POINTS = 1024
/** Values that are combined before others have their turn: some ten milliseconds' worth. */
const STEP_VALUES = 500_000

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
  /** Set when inputs without a value are left out, and only without any of them there is no value. */
  readonly leavesNullsOut?: true
  /**
   * Whether an argument has a say in the result that these inputs have at one index; all have, when this is left out. One
   * that has none may be BAD or have no current point without any harm.
   */
  readonly matters?: (inputs: readonly Float64Array[], index: number, argument: number) => boolean
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
  readonly holdEnds: readonly Instant[]
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
    this.holdEnds = [...new Set(this.#inputs.flatMap((input) => holdEndsOf(input, context)))]
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
    return this.#values.get(times, async () => {
      const columns = await Promise.all(
        this.#inputs.map((input) => input.valuesAt(input.varies === 'nothing' ? ANY_TIME : times)),
      )
      return this.#combineInSteps(columns, times.length)
    })
  }

  async currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null> {
    const points = await Promise.all(this.#inputs.map((input) => input.currentPoint(find, at)))
    const columns = points.map((point) => Float64Array.of(point?.value ?? Number.NaN))
    const found = points.filter((point) => point !== null)
    const leavesOut = this.#rule.leavesNullsOut === true
    if (found.length === 0) return null
    if (!leavesOut && points.some((point, i) => point === null && this.#matters(columns, 0, i))) return null
    let time: Instant | null = null
    let bad = false
    points.forEach((point, i) => {
      if (point === null) return
      if (point.time !== null && (time === null || point.time > time)) time = point.time
      // A constant without a value is no point that could be BAD.
      bad ||= point.bad && !(leavesOut && point.time === null) && this.#matters(columns, 0, i)
    })
    const value = this.#combine(columns, 1)[0]!
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
    const columns = points.map((point) => Float64Array.of(point.value))
    const value = this.#combine(columns, 1)[0]!
    const isBad = points.some((point, i) => point.bad && this.#matters(columns, 0, i))
    return { time, value, bad: Number.isNaN(value) || isBad }
  }

  rawPoints(range: RawRange): Promise<RangeResult> {
    return rawPointsByPieces(this, range, this.#context)
  }

  pieces(range: PieceRange): PieceStream {
    const streams = this.#inputs.map((input) => input.pieces(range))
    return new UnionStream(streams, range, {
      combine: (columns, length) => this.#combine(columns, length),
      matters: (columns, index, input) => this.#matters(columns, index, input),
    })
  }

  integrals(starts: Float64Array, ends: Float64Array): Promise<Integrals> {
    return integralsByPieces(this, starts, ends, this.#context)
  }

  aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    return aggregatesByPieces(this, edges, names, this.#context)
  }

  /** Whether one of `#inputs` has a say in a result; see ElementwiseRule.matters. */
  #matters(columns: readonly Float64Array[], index: number, input: number): boolean {
    const { matters } = this.#rule
    if (matters === undefined) return true
    const inputs = this.#arguments.map((own) => columns[own]!)
    return this.#arguments.some((own, argument) => own === input && matters(inputs, index, argument))
  }

  /**
   * Results in steps, between which other calls have their turn: an expression may have thousands of arguments, and a grid
   * a hundred thousand times.
   * @param columns one for each of `#inputs`, of constants a single value
   */
  async #combineInSteps(columns: readonly Float64Array[], length: number): Promise<Float64Array> {
    const result = new Float64Array(length)
    const size = Math.ceil(Math.min(STEP_POINTS, STEP_VALUES / this.#arguments.length))
    // A column of a step for each constant; whole ones would be 100,000 copies of a number.
    const repeated = columns.map((column, i) =>
      this.#inputs[i]!.varies === 'nothing'
        ? new Float64Array(Math.min(size, length)).fill(column[0]!)
        : null,
    )
    let combined = 0
    for (let from = 0; from < length; from += size) {
      if (combined >= STEP_VALUES) {
        combined = 0
        await breathe(this.#context)
      }
      const to = Math.min(length, from + size)
      const step = columns.map(
        (column, i) => repeated[i]?.subarray(0, to - from) ?? column.subarray(from, to),
      )
      this.#combineInto(step, result.subarray(from, to))
      combined += (to - from) * this.#arguments.length
    }
    return result
  }

  /** @param columns one for each of `#inputs` */
  #combine(columns: readonly Float64Array[], length: number): Float64Array {
    const result = new Float64Array(length)
    this.#combineInto(columns, result)
    return result
  }

  #combineInto(columns: readonly Float64Array[], result: Float64Array): void {
    this.#rule.combine(
      this.#arguments.map((index) => columns[index]!),
      result,
    )
    for (let i = 0; i < result.length; i++) if (!Number.isFinite(result[i]!)) result[i] = Number.NaN
  }
}

/** Asks for the value at the raw time next to an instant, which is not known before it is looked up. */
export function nearTime(grid: string, find: FindPoint, at: Instant): Ask {
  const isBefore = find === 'before' || find === 'before-or-at'
  const [from, to] = isBefore ? [MIN_INSTANT, at] : [at, END_INSTANT]
  return { kind: 'values', grid, count: 1, from, to, near: { find, at } }
}

/** What the pieces of inputs make together. */
export interface UnionRule {
  /** Results from one column for each input; NaN where there is none. */
  readonly combine: (columns: readonly Float64Array[], length: number) => Float64Array
  /** Whether an input that is BAD at an index makes the result BAD. */
  readonly matters: (columns: readonly Float64Array[], index: number, input: number) => boolean
}

/** A piece with those that it was made of, which reach at least as far. */
export interface UnionPiece extends Piece {
  readonly inputs: readonly Piece[]
}

/** Pieces over the union of the inputs' raw times, as far as all of them reach. */
export class UnionStream implements PieceStream {
  readonly #streams: readonly PieceStream[]
  readonly #range: PieceRange
  readonly #rule: UnionRule
  readonly #pieces: (Piece | null)[]
  /** The end of what was given. */
  #position: Instant

  constructor(streams: readonly PieceStream[], range: PieceRange, rule: UnionRule) {
    this.#streams = streams
    this.#range = range
    this.#rule = rule
    this.#pieces = streams.map(() => null)
    this.#position = range.order === 'asc' ? range.from : range.to
  }

  async next(): Promise<UnionPiece | null> {
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

  #combined(pieces: readonly Piece[], from: Instant, to: Instant): UnionPiece {
    const { combine, matters } = this.#rule
    const raws = pieces.map((piece) => within(piece.raw, from, to))
    const times = unionTimes(raws)
    const statuses = new Uint8Array(times.length)
    const bads = raws.map((raw) => badIndexes(raw, times))
    const columns = pieces.map((piece, i) => {
      const values = piece.valuesAt(times, 'at')
      // The value as it is, and not that of the signal, which passes the point by.
      for (const { index, value } of bads[i]!) values[index] = value
      return values
    })
    const values = combine(columns, times.length)
    bads.forEach((bad, i) => {
      for (const { index } of bad) if (matters(columns, index, i)) statuses[index] = STATUS_BAD
    })
    for (let i = 0; i < values.length; i++) if (Number.isNaN(values[i]!)) statuses[i] = STATUS_BAD
    const valuesAt = (at: Float64Array, side: Side) =>
      combine(
        pieces.map((piece) => piece.valuesAt(at, side)),
        at.length,
      )
    const piece = { from, to, raw: { times, values, statuses }, valuesAt, inputs: pieces }
    if (pieces.every(({ valuesAfter }) => valuesAfter === undefined)) return piece
    return {
      ...piece,
      valuesAfter: (at) =>
        combine(
          pieces.map((piece) => piece.valuesAfter?.(at) ?? piece.valuesAt(at, 'at')),
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

/** The BAD points among some, with the index of each in times that hold all of theirs. */
function badIndexes(
  { times: rawTimes, values, statuses }: PointColumns,
  times: Float64Array,
): readonly { readonly index: number; readonly value: number }[] {
  const bad: { index: number; value: number }[] = []
  let index = 0
  for (let i = 0; i < rawTimes.length; i++) {
    if (statuses[i] !== STATUS_BAD) continue
    while (times[index]! < rawTimes[i]!) index++
    bad.push({ index, value: values[i]! })
  }
  return bad
}
