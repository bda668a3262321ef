import type { Instant } from '../time/instant.ts'
import { breathe } from './page.ts'
import type { Piece, PieceRange, PieceStream, SeriesContext } from './series.ts'

/** What stands around a piece that is to be worked on. */
export interface Surroundings<Input extends Piece, State> {
  /** What was before the piece: carried on from the piece before it, or looked up. */
  before(): Promise<State>
  /**
   * The first thing that `find` finds in the pieces after this one, as far as they are read anyway.
   * @returns `null` when they do not have it: it then has to be looked up from `end` on
   */
  ahead<Found>(find: (piece: Input) => Found | null): Promise<Found | null>
  /** As far as `ahead` looks. */
  readonly end: Instant
  /** Whether the piece begins where the range does, so that nothing joins it there. */
  readonly isFirst: boolean
}

/** Makes each piece of a result from a piece of its input and from what was before it. */
export interface Carrier<Input extends Piece, State> {
  readonly context: SeriesContext
  /** The input, piece by piece. */
  open(range: PieceRange): { next(): Promise<Input | null> }
  /** What was before an instant. */
  lookUp(at: Instant): Promise<State>
  carry(
    piece: Input,
    around: Surroundings<Input, State>,
  ): Promise<{ readonly piece: Piece; readonly after: State }>
}

/**
 * Streams a result that depends on what came before. Ascending, that is carried from piece to piece. Descending, it is
 * looked up for each piece when only the first is wanted; otherwise the range is read ascending first, and held in
 * memory, so that nothing is read twice.
 */
export class CarryStream<Input extends Piece, State> implements PieceStream {
  readonly #carrier: Carrier<Input, State>
  readonly #range: PieceRange
  readonly #ascending: boolean
  readonly #input: { next(): Promise<Input | null> }
  /** Read and not worked on yet. */
  readonly #waiting: Input[] = []
  #state: { readonly after: State } | null = null
  /** All pieces, when they are given in the opposite order of how they were read. */
  #all: Piece[] | null = null

  constructor(carrier: Carrier<Input, State>, range: PieceRange) {
    this.#carrier = carrier
    this.#range = range
    this.#ascending = range.order === 'asc' || range.extent === 'all'
    this.#input = carrier.open(this.#ascending ? { ...range, order: 'asc' } : range)
  }

  async next(): Promise<Piece | null> {
    if (this.#range.order === 'asc' || !this.#ascending) return this.#read()
    if (this.#all === null) {
      this.#all = []
      for (let piece = await this.#read(); piece !== null; piece = await this.#read()) {
        this.#all.push(piece)
        await breathe(this.#carrier.context)
      }
    }
    return this.#all.pop() ?? null
  }

  async #read(): Promise<Piece | null> {
    const input = this.#waiting.shift() ?? (await this.#input.next())
    if (input === null) return null
    const state = this.#ascending ? this.#state : null
    const looksAhead = this.#ascending && this.#range.extent === 'all'
    const { piece, after } = await this.#carrier.carry(input, {
      before: async () => (state === null ? this.#carrier.lookUp(input.from) : state.after),
      ahead: async (find) => (looksAhead ? this.#ahead(find) : null),
      end: looksAhead ? this.#range.to : input.to,
      isFirst: input.from === this.#range.from,
    })
    this.#state = { after }
    return piece
  }

  async #ahead<Found>(find: (piece: Input) => Found | null): Promise<Found | null> {
    for (let i = 0; ; i++) {
      if (i === this.#waiting.length) {
        const piece = await this.#input.next()
        if (piece === null) return null
        this.#waiting.push(piece)
      }
      const found = find(this.#waiting[i]!)
      if (found !== null) return found
    }
  }
}
