import { concatColumns, lowerBound, STATUS_BAD, sliceColumns, upperBound } from '../series/columns.ts'
import { valueBetween } from '../series/interpolate.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../time/instant.ts'
import type { DynamicWindow } from '../time/total-windows.ts'
import { ChordReader, type Chords, KNOT_BAD, KNOT_NO_POINT } from './chords.ts'
import type { Piece, PieceRange, PieceStream } from './series.ts'
import { prefixSums } from './total-spans.ts'
import type { TotalSource } from './total-streams.ts'

/** The range of its input that a total with a moving window needs for a range of its own. */
export function reachOf(
  layout: DynamicWindow,
  from: Instant,
  to: Instant,
): { readonly from: Instant; readonly to: Instant } {
  const first = Math.max(Math.min(layout.startFor(from), from), MIN_INSTANT)
  const last = Math.min(Math.max(layout.endFor(to), to), END_INSTANT)
  return { from: instantFromUs(first), to: instantFromUs(Math.max(last, first)) }
}

/**
 * Streams a total with one window for each t, which moves with t. Holds the input over one window and one page; descending,
 * over the whole range, since a window then needs what comes later.
 */
export class DynamicTotalStream implements PieceStream {
  readonly #total: TotalSource
  readonly #layout: DynamicWindow
  readonly #range: PieceRange
  readonly #reader: ChordReader
  /** The input from the start of the window at the position on, as far as it was read. */
  #chords: Chords | null = null
  #ended = false
  #position: Instant

  constructor(total: TotalSource, layout: DynamicWindow, range: PieceRange) {
    this.#total = total
    this.#layout = layout
    this.#range = range
    const reach = reachOf(layout, range.from, range.to)
    this.#reader = new ChordReader(total.input, total.context, {
      ...range,
      ...reach,
      order: 'asc',
      extent: 'all',
    })
    this.#position = range.from
  }

  async next(): Promise<Piece | null> {
    const from = this.#position
    const { to, order } = this.#range
    while (from < to) {
      await this.#readOn()
      const until = this.#ended ? to : order === 'asc' ? this.#covered() : from
      if (until <= from) continue
      const chords = this.#chords
      this.#position = until
      const piece = this.#piece(chords ?? NO_CHORDS, from, until)
      if (chords !== null) this.#chords = dropBefore(chords, Math.min(this.#layout.startFor(until), until))
      return piece
    }
    return null
  }

  async #readOn(): Promise<void> {
    const next = this.#ended ? null : await this.#reader.next()
    if (next === null) this.#ended = true
    else this.#chords = this.#chords === null ? next : joinChords(this.#chords, next)
  }

  /** The last knot whose window lies wholly in what was read. */
  #covered(): Instant {
    const times = this.#chords?.times ?? new Float64Array(0)
    const end = times.at(-1) ?? 0
    let low = 0
    let high = times.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#layout.endFor(instantFromUs(times[middle]!)) <= end) low = middle + 1
      else high = middle
    }
    return instantFromUs(Math.min(times[low - 1] ?? this.#position, this.#range.to))
  }

  #piece(chords: Chords, from: Instant, to: Instant): Piece {
    const totalTo = runningTotal(chords)
    const { rateUs, ends } = this.#total
    const valuesAt = (times: Float64Array): Float64Array =>
      times.map((time) => {
        const at = instantFromUs(time)
        const total = totalTo(this.#layout.startFor(at), this.#layout.endFor(at)) / rateUs
        return Number.isFinite(total) ? total : Number.NaN
      })
    const raw = new Map<number, number>()
    for (const end of ends) if (end >= from && end < to) raw.set(end, 0)
    for (let i = lowerBound(chords.times, from); i < lowerBound(chords.times, to); i++) {
      if (chords.kinds[i] !== KNOT_NO_POINT) {
        raw.set(chords.times[i]!, chords.kinds[i] === KNOT_BAD ? STATUS_BAD : 0)
      }
    }
    const times = Float64Array.from(raw.keys()).sort()
    const values = valuesAt(times)
    const statuses = Uint8Array.from(times, (time, i) =>
      Number.isNaN(values[i]!) ? STATUS_BAD : raw.get(time)!,
    )
    return { from, to, raw: { times, values, statuses }, valuesAt }
  }
}

const NO_CHORDS: Chords = {
  times: new Float64Array(0),
  at: new Float64Array(0),
  before: new Float64Array(0),
  kinds: new Uint8Array(0),
}

/** The integral of chords between any two instants. */
function runningTotal({ times, at, before }: Chords): (from: number, to: number) => number {
  const areas = new Float64Array(Math.max(0, times.length - 1))
  for (let i = 0; i < areas.length; i++) {
    const area = (times[i + 1]! - times[i]!) * (at[i]! / 2 + before[i + 1]! / 2)
    areas[i] = Number.isNaN(area) ? 0 : area
  }
  const sums = prefixSums(areas)
  /** The chord that holds an instant, and the integral from its first knot to there. */
  const within = (instant: number): readonly [chord: number, area: number] => {
    const chord = upperBound(times, instant) - 1
    if (chord < 0) return [0, 0]
    if (chord >= areas.length) return [areas.length, 0]
    const value1 = at[chord]!
    const value2 = before[chord + 1]!
    if (Number.isNaN(value1) || Number.isNaN(value2)) return [chord, 0]
    const value = valueBetween(instant, times[chord]!, value1, times[chord + 1]!, value2)
    return [chord, (instant - times[chord]!) * (value1 / 2 + value / 2)]
  }
  return (from, to) => {
    const [first, cut] = within(from)
    const [last, part] = within(to)
    return to <= from ? 0 : sums.between(first, last) - cut + part
  }
}

/** One after the other; the last knot of the one is the first of the other. */
function joinChords(a: Chords, b: Chords): Chords {
  const joint = a.times.length - 1
  const head = sliceColumns({ times: a.times, values: a.at, statuses: a.kinds }, 0, joint)
  const {
    times,
    values: at,
    statuses: kinds,
  } = concatColumns([head, { times: b.times, values: b.at, statuses: b.kinds }])
  const before = new Float64Array(times.length)
  before.set(a.before)
  before.set(b.before.subarray(1), a.before.length)
  return { times, at, before, kinds }
}

/** Without the chords that end before an instant. */
function dropBefore({ times, at, before, kinds }: Chords, instant: number): Chords {
  const first = Math.max(0, upperBound(times, instant) - 1)
  return {
    times: times.subarray(first),
    at: at.subarray(first),
    before: before.subarray(first),
    kinds: kinds.subarray(first),
  }
}
