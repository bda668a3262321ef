import { STATUS_BAD } from '../series/columns.ts'
import type { Instant } from '../time/instant.ts'
import { breathe } from './page.ts'
import { timesFor } from './read-memo.ts'
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
  /** The knot that joins what was given with what comes. */
  #joint: Knot | null = null
  /** The signal's limit at `now` from the left, once the piece that holds `now` was read. */
  #beforeNow = Number.NaN

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
    const { from, to } = this.#range
    const [before, after] = this.#series.straight
      ? [null, null]
      : await Promise.all([
          this.#series.rawTime('before-or-at', from),
          this.#series.rawTime('after-or-at', to),
        ])
    this.#first = before ?? from
    this.#last = after ?? to
    this.#stream = this.#series.pieces({ ...this.#range, from: this.#first, to: this.#last })
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
    const { now, source } = this.#context
    if (piece.from <= now && now <= piece.to) {
      this.#beforeNow = piece.valuesAt(timesFor(source, now), 'before')[0]!
    }
    return {
      times: knotTimes,
      at: piece.valuesAt(knotTimes, 'at'),
      before: piece.valuesAt(knotTimes, 'before'),
      kinds,
    }
  }

  /** With the joint before or after them, and with a knot at `now` where a hold ends there. */
  #joined(knots: Chords): Chords {
    const joint = this.#joint
    const whole =
      joint === null
        ? knots
        : this.#range.order === 'asc'
          ? insert(knots, 0, joint)
          : insert(knots, knots.times.length, joint)
    const { now } = this.#context
    const { times, at, before } = whole
    if (Number.isNaN(this.#beforeNow) || times.length < 2 || now <= times[0]! || now >= times.at(-1)!) {
      return whole
    }
    let after = 1
    while (times[after]! <= now) after++
    const ends = times[after - 1]! < now && !Number.isNaN(at[after - 1]!) && Number.isNaN(before[after]!)
    if (!ends) return whole
    return insert(whole, after, { time: now, at: Number.NaN, before: this.#beforeNow, kind: KNOT_NO_POINT })
  }
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
