import { TidemarkError } from '../errors/tidemark-error.ts'
import { concatColumns, lowerBound, STATUS_BAD, sliceColumns } from '../series/columns.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../time/instant.ts'
import { ChordReader, planChords } from './chords.ts'
import type { MovingWindow } from './moving-window.ts'
import { breathe, pagePoints } from './page.ts'
import type { Ask, Ledger, Piece, PieceRange, PieceStream, Series, SeriesContext } from './series.ts'
import { ChordFeed, HeldInput, type InputFeed, PieceFeed } from './sliding-input.ts'
import { inputValues, type SlidingOp, slidingValues } from './sliding-stretch.ts'

/** What is aggregated over moving windows. */
export interface SlidingSource {
  readonly input: Series
  readonly op: SlidingOp
  readonly window: MovingWindow
  readonly context: SeriesContext
  /** The same only for equal series in equal contexts. */
  readonly name: string
}

/**
 * Points that a window may have where it is not known beforehand how far back it lies: at the last raw point before a
 * range, when that is further away than the window is long.
 */
const FAR_POINTS = 20_000
/** One for the point held back where a page is cut, one at the very end of the range, one for the knot that joins chords. */
const MORE_POINTS = 3

/**
 * Streams aggregates over moving windows. Holds the input over the windows of one piece. Pieces are as long as what must be
 * held before them, so that no point is gone over more than a few times, however long the window.
 */
export class SlidingStream implements PieceStream {
  readonly #source: SlidingSource
  readonly #range: PieceRange
  #held: HeldInput | null = null
  #feed: InputFeed | null = null
  #position: Instant
  /** Descending: the end of what was not given yet. */
  #left: Instant

  constructor(source: SlidingSource, range: PieceRange) {
    this.#source = source
    this.#range = range
    this.#position = range.from
    this.#left = range.to
  }

  next(): Promise<Piece | null> {
    const { order, extent, to } = this.#range
    if (order === 'asc') return this.#ascend()
    return extent === 'first' && this.#left === to ? this.#newest() : this.#allLeft()
  }

  async #ascend(): Promise<Piece | null> {
    const { from, to, extent } = this.#range
    const position = this.#position
    if (position >= to) return null
    this.#held ??= await this.#readLead(from)
    this.#feed ??= this.#feedOf(mainRange(this.#range))
    const held = this.#held
    const lead = held.countPoints()
    let until = position
    while (until < to && (until === position || (extent === 'all' && held.countPoints() < 2 * lead))) {
      const reach = await this.#feed.next(held)
      if (reach === null) break
      // Whether a raw point stands at the end of what was read is not known yet; a microsecond before it is.
      until = instantFromUs(Math.max(position, Math.min(reach < END_INSTANT ? reach - 1 : reach, to)))
      await breathe(this.#source.context)
    }
    if (until === position) return null
    this.#position = until
    const piece = this.#piece(held, position, until)
    held.dropBefore(this.#source.window.earliestStart(until))
    return piece
  }

  /** The newest piece, of a range that is read from its end. */
  async #newest(): Promise<Piece> {
    const { from, to } = this.#range
    const newest = new HeldInput()
    const reach = (await this.#feedOf(mainRange(this.#range)).next(newest)) ?? from
    const start = instantFromUs(Math.max(Math.min(reach, to), from))
    this.#left = start
    const held = await this.#readLead(start)
    held.append(newest)
    return this.#piece(held, start, to)
  }

  /** All that is left, as one piece: a window needs what comes before it, so there is nothing to be gained by cutting. */
  async #allLeft(): Promise<Piece | null> {
    const from = this.#range.from
    const to = this.#left
    if (from >= to) return null
    this.#left = from
    const page = pagePoints(this.#source.context)
    const stream = new SlidingStream(this.#source, { ...this.#range, to, order: 'asc', page, extent: 'all' })
    const pieces: Piece[] = []
    for (let piece = await stream.next(); piece !== null; piece = await stream.next()) pieces.push(piece)
    return {
      from,
      to,
      raw: concatColumns(pieces.map(({ raw }) => raw)),
      valuesAt: (times, side) => inputValues(pieces, times, side),
    }
  }

  #piece(held: HeldInput, from: Instant, to: Instant): Piece {
    const { op, window, context } = this.#source
    const { pieces, chords } = held
    const all = held.raw()
    const valuesAt = slidingValues(op, window, { pieces: [...pieces], raw: all, chords, now: context.now })
    const { times, statuses } = sliceColumns(all, lowerBound(all.times, from), lowerBound(all.times, to))
    const values = valuesAt(times, 'at')
    const shown = statuses.map((status, i) => (Number.isNaN(values[i]!) ? STATUS_BAD : status))
    return { from, to, raw: { times, values, statuses: shown }, valuesAt }
  }

  /** What the windows from an instant on reach of the input before it. */
  async #readLead(from: Instant): Promise<HeldInput> {
    const { window, context } = this.#source
    const { wantedFrom } = this.#range
    const held = new HeldInput()
    const start = window.earliestStart(from)
    if (start >= from) return held
    const range = { from: start, to: from, order: 'asc', page: pagePoints(context), extent: 'all' } as const
    if (wantedFrom !== undefined && from < window.earliestStart(wantedFrom)) {
      const reach = await this.#feedOf({ ...range, ...FAR }).next(held)
      if (reach === null || reach <= start) return held
      throw new TidemarkError('LIMIT_FAR_WINDOW', { window: window.name, limit: FAR_POINTS })
    }
    const feed = this.#feedOf(range)
    while ((await feed.next(held)) !== null) await breathe(context)
    return held
  }

  #feedOf(range: PieceRange): InputFeed {
    const { input, op, context } = this.#source
    if (op !== 'AVG') return new PieceFeed(input.pieces(range), range.order)
    const pieces: Piece[] = []
    return new ChordFeed(
      new ChordReader(input, context, range, (piece) => pieces.push(piece)),
      range.order,
      pieces,
    )
  }
}

/** Plans what a SlidingStream reads. */
export function planSliding(
  source: SlidingSource,
  ask: Ask & { readonly kind: 'pieces' },
  ledger: Ledger,
): void {
  const { window, context, name, input } = source
  const { from, to, order, extent, widened, inside } = ask
  const lead = (start: Instant, end: Instant, unknown: string | null): void => {
    if (start >= end) return
    const range = { from: start, to: end, order: 'asc', page: pagePoints(context), extent: 'all' } as const
    planFeed(source, range, unknown, ledger)
  }
  const start = window.earliestStart(from)
  if (inside === true && widened !== null) lead(start, from, `${name} lead ${from} ${widened}`)
  else if (widened !== null) {
    // The range begins at a raw point that is not known yet, so this is as far as it is looked for without a bound.
    lead(window.earliestStart(start), from, `${name} lead ${from} ${widened}`)
    if (input.varies === 'data' && MIN_INSTANT < from) {
      planFeed(source, { from: MIN_INSTANT, to: from, ...FAR }, `${name} far ${from} ${widened}`, ledger)
    }
  } else if (order === 'desc' && extent === 'first') lead(start, to, `${name} lead ${from} ${to}`)
  else lead(start, from, null)
  planFeed(source, mainRange(ask), widened, ledger)
}

function planFeed(
  { op, input, name }: SlidingSource,
  { from, to, order, page, extent }: PieceRange,
  widened: string | null,
  ledger: Ledger,
): void {
  const range = { from, to, order, page, extent }
  if (op === 'AVG') planChords(input, range, name, widened, ledger)
  else input.plan({ kind: 'pieces', ...range, widened }, ledger)
}

const FAR = { order: 'desc', page: FAR_POINTS, extent: 'first' } as const

/** The range itself, and a raw point at its very end, which windows up to there hold. */
function mainRange(range: PieceRange): PieceRange {
  const to = instantFromUs(Math.min(range.to + 1, END_INSTANT))
  return { ...range, to, page: range.page + MORE_POINTS }
}
