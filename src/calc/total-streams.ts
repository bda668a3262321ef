import { type Instant, instantFromUs } from '../time/instant.ts'
import type { LaidWindows } from '../time/total-windows.ts'
import { ChordReader, type Chords } from './chords.ts'
import type { Piece, PieceRange, PieceStream, Series, SeriesContext } from './series.ts'
import { accumulate, type TotalBase, totalPiece } from './total-pieces.ts'

/** What a total is made of. */
export interface TotalSource {
  readonly input: Series
  readonly context: SeriesContext
  readonly rateUs: number
  /** Raw points at the ends of the request's range. */
  readonly ends: readonly number[]
  /** Integral of the input over one span. */
  integral(from: Instant, to: Instant): Promise<number>
}

/**
 * Streams a total with windows laid end to end. Ascending, the running total is carried from piece to piece; descending,
 * each piece starts with the integral from the start of its window.
 */
export class LaidTotalStream implements PieceStream {
  readonly #total: TotalSource
  readonly #layout: LaidWindows
  readonly #range: PieceRange
  readonly #reader: ChordReader
  /** Chords that were read and are not used up. */
  #chords: Chords | null = null
  #base: TotalBase | null = null
  #position: Instant

  constructor(total: TotalSource, layout: LaidWindows, range: PieceRange) {
    this.#total = total
    this.#layout = layout
    this.#range = range
    // Two more, for the point held back at the cut of a page and for the knot that joins the next stretch.
    this.#reader = new ChordReader(total.input, total.context, { ...range, page: range.page + 2 })
    this.#position = range.order === 'asc' ? range.from : range.to
  }

  async next(): Promise<Piece | null> {
    const { order, from, to } = this.#range
    const ascending = order === 'asc'
    while (this.#position !== (ascending ? to : from)) {
      this.#chords ??= await this.#reader.next()
      const chords = this.#chords
      if (chords === null) return null
      const reach = ascending ? Math.min(chords.times.at(-1)!, to) : Math.max(chords.times[0]!, from)
      // A first stretch can lie before the range, when it reaches out to the raw point before it.
      if (ascending ? reach <= this.#position : reach >= this.#position) {
        this.#chords = null
        continue
      }
      return ascending ? this.#ascend(chords, reach) : this.#descend(chords, reach)
    }
    return null
  }

  async #ascend(chords: Chords, reach: number): Promise<Piece> {
    const from = this.#position
    this.#base ??= await this.#baseAt(from)
    const starts: number[] = []
    let start = this.#layout.endAt(from)
    while (start <= reach && starts.length < this.#range.page) {
      starts.push(start)
      start = this.#layout.endAt(start)
    }
    // Short windows: as many of them as a page holds, and the rest next time.
    const to = instantFromUs(start <= reach ? starts.at(-1)! : reach)
    if (to === chords.times.at(-1)!) this.#chords = null
    this.#position = to
    const windowStarts = Float64Array.from(starts)
    const stretch = accumulate(chords, from, to, windowStarts, this.#base)
    this.#base = { at: stretch.totalAt.at(-1)!, before: stretch.totalBefore.at(-1)! }
    return this.#piece(stretch, chords, windowStarts)
  }

  async #descend(chords: Chords, reach: number): Promise<Piece> {
    const to = this.#position
    const starts: number[] = []
    let start = this.#layout.startAt(to)
    while (start > reach && starts.length < this.#range.page) {
      starts.push(start)
      start = this.#layout.startAt(instantFromUs(start - 1))
    }
    const from = instantFromUs(start > reach ? starts.pop()! : reach)
    if (from === chords.times[0]!) this.#chords = null
    this.#position = from
    const windowStarts = Float64Array.from(starts.reverse())
    const stretch = accumulate(chords, from, to, windowStarts, await this.#baseAt(from))
    return this.#piece(stretch, chords, windowStarts)
  }

  #piece(stretch: ReturnType<typeof accumulate>, chords: Chords, windowStarts: Float64Array): Piece {
    return totalPiece(stretch, chords, windowStarts, this.#layout, this.#total.rateUs, this.#total.ends)
  }

  /** The total where a stretch begins, from the start of its window, or of the window that ends there. */
  async #baseAt(at: Instant): Promise<TotalBase> {
    const last = instantFromUs(at - 1)
    const before = await this.#total.integral(this.#layout.startAt(last), at)
    return { at: this.#layout.startAt(at) === at ? 0 : before, before }
  }
}
