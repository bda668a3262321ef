import { lowerBound, type PointColumns, STATUS_BAD, STATUS_OK } from '../series/columns.ts'
import type { Side } from '../series/interpolate.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../time/instant.ts'
import type { DynamicWindow } from '../time/total-windows.ts'
import { dropChords, joinChords } from './chord-joints.ts'
import { ChordSums } from './chord-sums.ts'
import { ChordReader, type Chords, KNOT_BAD, KNOT_NO_POINT } from './chords.ts'
import { breathe, pagePoints } from './page.ts'
import type { Piece, PieceRange, PieceStream, SeriesContext } from './series.ts'
import type { TotalSource } from './total-streams.ts'

/** The range of its input that a total with a moving window needs for a range of its own. */
export function reachOf(
  layout: DynamicWindow,
  from: Instant,
  to: Instant,
): { readonly from: Instant; readonly to: Instant } {
  const first = Math.max(Math.min(layout.startFor(from) - layout.slackUs, from), MIN_INSTANT)
  const last = Math.min(Math.max(layout.endFor(to) + layout.slackUs, to), END_INSTANT)
  return { from: instantFromUs(first), to: instantFromUs(Math.max(last, first)) }
}

/** How a total with a moving window reads its input: whole windows, and so in pages of its own. */
export function dynamicReads(
  layout: DynamicWindow,
  range: Pick<PieceRange, 'from' | 'to' | 'wantedFrom' | 'wantedTo'>,
  context: SeriesContext,
): PieceRange {
  const { wantedFrom = range.from, wantedTo = range.to } = range
  // What is wanted reaches back as far as what is read, so that it is told from the raw point before it there too.
  const wanted = reachOf(layout, wantedFrom, wantedTo)
  const reads = { order: 'asc', page: pagePoints(context), extent: 'all' } as const
  return { ...reachOf(layout, range.from, range.to), ...reads, wantedFrom: wanted.from, wantedTo: wanted.to }
}

/**
 * Streams a total with one window for each t, which moves with t. Holds the input over the windows of one piece. Pieces are
 * as long as what must be held before them, so that no chord is gone over more than a few times, however long the window.
 * Descending, it holds the whole range, since a window needs what comes before it.
 */
export class DynamicTotalStream implements PieceStream {
  readonly #total: TotalSource
  readonly #layout: DynamicWindow
  readonly #range: PieceRange
  readonly #reader: ChordReader
  /** The input from the start of the window at the position on, as far as it was read. */
  #parts: Chords[] = []
  #ended = false
  #position: Instant

  constructor(total: TotalSource, layout: DynamicWindow, range: PieceRange) {
    this.#total = total
    this.#layout = layout
    this.#range = range
    this.#reader = new ChordReader(total.input, total.context, dynamicReads(layout, range, total.context))
    this.#position = range.from
  }

  async next(): Promise<Piece | null> {
    const from = this.#position
    const { to, order, page } = this.#range
    if (from >= to) return null
    const held = this.#count()
    while (!this.#ended && (order === 'desc' || this.#count() < 2 * held + page)) await this.#readOn()
    let until = this.#covered(from)
    while (until <= from) {
      await this.#readOn()
      until = this.#covered(from)
    }
    this.#position = until
    const chords = joinChords(this.#parts)
    const piece = this.#piece(chords, from, until)
    this.#parts = [dropChords(chords, reachOf(this.#layout, until, until).from)]
    return piece
  }

  async #readOn(): Promise<void> {
    const next = await this.#reader.next()
    if (next === null) this.#ended = true
    else this.#parts.push(next)
    await breathe(this.#total.context)
  }

  #count(): number {
    return this.#parts.reduce((sum, { times }) => sum + times.length, 0)
  }

  /** The last knot whose window, and all before, lie wholly in what was read; at the end of it the end of the range. */
  #covered(from: Instant): Instant {
    const { to, order } = this.#range
    if (this.#ended) return to
    if (order === 'desc') return from
    const end = this.#parts.at(-1)?.times.at(-1) ?? Number.NEGATIVE_INFINITY
    for (const { times } of this.#parts.toReversed()) {
      let low = 0
      let high = times.length
      while (low < high) {
        const middle = (low + high) >>> 1
        if (this.#layout.endFor(instantFromUs(times[middle]!)) + this.#layout.slackUs <= end) low = middle + 1
        else high = middle
      }
      if (low > 0) return instantFromUs(Math.min(times[low - 1]!, to))
    }
    return from
  }

  #piece(chords: Chords, from: Instant, to: Instant): Piece {
    const { rateUs, ends } = this.#total
    const layout = this.#layout
    const sums = new ChordSums(chords)
    const valuesAt = (times: Float64Array, side: Side): Float64Array => {
      // From the left, calendar windows can jump: what they come from is that of a microsecond before, and one more.
      const early = side === 'at' ? 0 : 1
      const starts = times.map((time) => layout.startFor(instantFromUs(time - early)) + early)
      const stops = times.map((time) => layout.endFor(instantFromUs(time - early)) + early)
      return sums.between(starts, stops).integrals.map((integral) => {
        const total = integral / rateUs
        return Number.isFinite(total) ? total : Number.NaN
      })
    }
    const { times, statuses } = rawOf(chords, from, to, ends)
    const values = valuesAt(times, 'at')
    for (let i = 0; i < values.length; i++) if (Number.isNaN(values[i]!)) statuses[i] = STATUS_BAD
    return { from, to, raw: { times, values, statuses }, valuesAt }
  }
}

/** Times and statuses of the raw points in [from, to): those of the input, and the ends of the request's range. */
function rawOf(
  { times: knots, kinds }: Chords,
  from: Instant,
  to: Instant,
  ends: readonly number[],
): Pick<PointColumns, 'times' | 'statuses'> {
  const first = lowerBound(knots, from)
  const last = lowerBound(knots, to)
  const times = new Float64Array(last - first + ends.length)
  const statuses = new Uint8Array(times.length)
  const left = ends.filter((end) => end >= from && end < to)
  let count = 0
  const add = (time: number, status: number): void => {
    times[count] = time
    statuses[count++] = status
  }
  for (let k = first; k < last; k++) {
    while (left.length > 0 && left[0]! < knots[k]!) add(left.shift()!, STATUS_OK)
    if (kinds[k] === KNOT_NO_POINT) continue
    if (left[0] === knots[k]) left.shift()
    add(knots[k]!, kinds[k] === KNOT_BAD ? STATUS_BAD : STATUS_OK)
  }
  for (const end of left) add(end, STATUS_OK)
  return { times: times.subarray(0, count), statuses: statuses.subarray(0, count) }
}
