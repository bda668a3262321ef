import { lowerBound, STATUS_BAD } from '../series/columns.ts'
import type { Instant } from '../time/instant.ts'
import { breathe } from './page.ts'
import type { Ledger, Piece, PieceRange, PieceStream, Series, SeriesContext } from './series.ts'

/** What stands at a knot of chords. */
export const KNOT_GOOD = 0
export const KNOT_BAD = 1
/** An end of the range or the end of a hold, where there is no raw point. */
export const KNOT_NO_POINT = 2

/**
 * A signal as integrals take it, over a stretch: straight from (times[k], at[k]) to (times[k + 1], before[k + 1]), where
 * `before` is the limit from the left. Where either end is NaN the signal has no value in between.
 */
export interface Chords {
  /** Ascending, distinct; at least 2. */
  readonly times: Float64Array
  readonly at: Float64Array
  readonly before: Float64Array
  readonly kinds: Uint8Array
}

interface Knot {
  readonly time: number
  readonly at: number
  readonly before: number
  readonly kind: number
}

/**
 * Reads a series as chords between its raw points, stretch by stretch; stretches join. A series that is not straight
 * between its raw points is read from the raw point before the range to the one after it, so that its integrals
 * do not depend on where the range was cut; the first and last stretch then reach out of the range.
 * @source CALCULATIONS.md, section 2
 */
export class ChordReader {
  readonly #series: Series
  readonly #context: SeriesContext
  readonly #range: PieceRange
  readonly #onPiece: (piece: Piece) => void
  #stream: PieceStream | null = null
  #first = 0 as Instant
  #last = 0 as Instant
  /** Whether there is a raw point at `#last`, which the pieces leave out. */
  #endsRaw = false
  /** The knot that joins what was given with what comes. */
  #joint: Knot | null = null
  /** Where holds end: at `now`, unless something moved them. Ascending. */
  readonly #holdEnds: readonly Instant[]
  /** The signal where each hold ends, once the piece that has it was read. */
  readonly #atEnds: (Knot | null)[]
  /** The signal a microsecond later, and a microsecond after the last raw point of the latest piece if beyond an end. */
  readonly #afterEnds: (Knot | null)[]
  #afterRaw: Knot | null = null

  constructor(
    series: Series,
    context: SeriesContext,
    range: PieceRange,
    onPiece: (piece: Piece) => void = () => {},
  ) {
    this.#series = series
    this.#context = context
    this.#range = range
    this.#onPiece = onPiece
    this.#holdEnds = [...holdEndsOf(series, context)].sort((a, b) => a - b)
    this.#atEnds = this.#holdEnds.map(() => null)
    this.#afterEnds = this.#holdEnds.map(() => null)
  }

  /** The next stretch; `null` after the last. */
  async next(): Promise<Chords | null> {
    const stream = this.#stream ?? (await this.#open())
    for (;;) {
      const piece = await stream.next()
      if (piece === null) return null
      this.#onPiece(piece)
      const knots = this.#joined(this.#knotsOf(piece))
      const length = knots.times.length
      if (length > 0) this.#joint = knotAt(knots, this.#range.order === 'asc' ? length - 1 : 0)
      if (length > 1) return knots
      await breathe(this.#context)
    }
  }

  async #open(): Promise<PieceStream> {
    const { from, to, wantedFrom = from, wantedTo = to } = this.#range
    const [before, after] = this.#series.straight
      ? [null, null]
      : await Promise.all([
          this.#series.rawTime('before-or-at', from),
          this.#series.rawTime('after-or-at', to),
        ])
    this.#first = before ?? from
    this.#last = after ?? to
    this.#endsRaw = after !== null
    const reach = { from: this.#first, to: this.#last, wantedFrom, wantedTo }
    this.#stream = this.#series.pieces({ ...this.#range, ...reach })
    return this.#stream
  }

  /** The raw points of a piece, and the end of the range where the piece has it. */
  #knotsOf(piece: Piece): Chords {
    const { times, statuses } = piece.raw
    const opens = piece.from === this.#first && times[0] !== this.#first
    const closes = piece.to === this.#last
    const knotTimes = new Float64Array(times.length + Number(opens) + Number(closes))
    const kinds = new Uint8Array(knotTimes.length).fill(KNOT_NO_POINT)
    knotTimes.set(times, Number(opens))
    for (let i = 0; i < times.length; i++) {
      kinds[i + Number(opens)] = statuses[i] === STATUS_BAD ? KNOT_BAD : KNOT_GOOD
    }
    if (opens) knotTimes[0] = this.#first
    if (closes) knotTimes[knotTimes.length - 1] = this.#last
    for (const [i, end] of this.#holdEnds.entries()) {
      this.#atEnds[i] = this.#knotIn(piece, end) ?? this.#atEnds[i]!
      this.#afterEnds[i] = this.#knotIn(piece, end + 1) ?? this.#afterEnds[i]!
    }
    const lastRaw = times.at(-1)
    if (lastRaw !== undefined) {
      const isBeyond = this.#holdEnds.length > 0 && lastRaw > this.#holdEnds[0]!
      this.#afterRaw = isBeyond ? this.#knotIn(piece, lastRaw + 1) : null
    }
    return {
      times: knotTimes,
      at: piece.valuesAfter?.(knotTimes) ?? piece.valuesAt(knotTimes, 'at'),
      before: piece.valuesAt(knotTimes, 'before'),
      kinds,
    }
  }

  #knotIn(piece: Piece, time: number): Knot | null {
    if (time < piece.from || time > piece.to) return null
    const times = Float64Array.of(time)
    const at = (piece.valuesAfter?.(times) ?? piece.valuesAt(times, 'at'))[0]!
    return { time, at, before: piece.valuesAt(times, 'before')[0]!, kind: KNOT_NO_POINT }
  }

  /** With the joint before or after them, and with knots where holds end. */
  #joined(knots: Chords): Chords {
    const joint = this.#joint
    const whole =
      joint === null
        ? knots
        : this.#range.order === 'asc'
          ? insert(knots, 0, joint)
          : insert(knots, knots.times.length, joint)
    return this.#isOpen(whole) ? this.#withBreaks(whole) : this.#withEndOfHold(whole)
  }

  /** Whether the last chord is that after the last raw point, and has a value at its end. */
  #isOpen({ times, before, kinds }: Chords): boolean {
    const last = times.length - 1
    const isRaw = kinds[last] !== KNOT_NO_POINT || (this.#endsRaw && times[last] === this.#last)
    return last > 0 && !isRaw && !Number.isNaN(before[last]!)
  }

  /**
   * With knots in the chord after the last raw point. There the signal goes on as it is, and that of what leaves nulls out
   * goes on with another value where an input ends: after `now`, or after a last point beyond.
   */
  #withBreaks(knots: Chords): Chords {
    const start = knots.times.at(-2)!
    return [this.#afterRaw, ...this.#afterEnds, ...this.#atEnds].reduce((knots, knot) => {
      const after = knot === null || knot.time < start ? null : chordAround(knots, knot.time)
      return knot === null || after === null ? knots : insert(knots, after, knot)
    }, knots)
  }

  /** With a knot where a hold ends in a chord at whose later end there is no value any more, since it ended. */
  #withEndOfHold(knots: Chords): Chords {
    return this.#atEnds.reduce((knots, knot, i) => {
      const after = knot === null ? null : chordAround(knots, knot.time)
      if (knot === null || after === null || Number.isNaN(knot.before)) return knots
      const later = this.#afterEnds[i]
      // Another hold that ends later in the same chord is what ends the signal.
      if (i + 1 < this.#atEnds.length && later != null && !Number.isNaN(later.before)) return knots
      const ends = !Number.isNaN(knots.at[after - 1]!) && Number.isNaN(knots.before[after]!)
      return ends ? insert(knots, after, { ...knot, at: Number.NaN }) : knots
    }, knots)
  }
}

/** Instants at which the holds of a series end. */
export function holdEndsOf(series: Series, { now }: SeriesContext): readonly Instant[] {
  return series.holdEnds ?? [now]
}

/** Index of the later end of the chord that holds a time between its ends; `null` when none does. */
function chordAround({ times }: Chords, time: number): number | null {
  if (times.length < 2 || time <= times[0]! || time >= times.at(-1)!) return null
  const after = lowerBound(times, time)
  return times[after] === time ? null : after
}

/**
 * Plans what a ChordReader reads.
 * @param name     of who reads, the same only for equal series in equal contexts
 * @param widened  as in the ask for pieces: set when the ends of the range are not known yet
 */
export function planChords(
  series: Series,
  range: PieceRange,
  name: string,
  widened: string | null,
  ledger: Ledger,
): void {
  const { from, to } = range
  if (series.straight) {
    series.plan({ kind: 'pieces', ...range, widened }, ledger)
    return
  }
  const wider = `${name} ${from} ${to} ${widened ?? ''}`
  const near = widened === null ? {} : { near: wider }
  series.plan({ kind: 'raw-time', find: 'before-or-at', at: from, ...near }, ledger)
  series.plan({ kind: 'raw-time', find: 'after-or-at', at: to, ...near }, ledger)
  series.plan({ kind: 'pieces', ...range, widened: wider }, ledger)
}

function knotAt({ times, at, before, kinds }: Chords, index: number): Knot {
  return { time: times[index]!, at: at[index]!, before: before[index]!, kind: kinds[index]! }
}

function insert({ times, at, before, kinds }: Chords, index: number, knot: Knot): Chords {
  return {
    times: inserted(times, index, knot.time),
    at: inserted(at, index, knot.at),
    before: inserted(before, index, knot.before),
    kinds: Uint8Array.from(inserted(kinds, index, knot.kind)),
  }
}

function inserted(values: Float64Array | Uint8Array, index: number, value: number): Float64Array {
  const longer = new Float64Array(values.length + 1)
  longer.set(values.subarray(0, index))
  longer[index] = value
  longer.set(values.subarray(index), index + 1)
  return longer
}
