import { concatColumns, lowerBound, NO_POINTS, type PointColumns, sliceColumns } from '../series/columns.ts'
import { type Instant, instantFromUs } from '../time/instant.ts'
import { dropChords, joinChords } from './chord-joints.ts'
import type { ChordReader, Chords } from './chords.ts'
import type { Piece, PieceStream } from './series.ts'

/** The input of moving windows as far as it was read and is still needed. */
export class HeldInput {
  #pieces: Piece[] = []
  /** Joined only when they are asked for: each page would otherwise copy all before it. */
  #chords: Chords[] = []

  get pieces(): readonly Piece[] {
    return this.#pieces
  }

  get chords(): Chords | null {
    if (this.#chords.length === 0) return null
    const joined = joinChords(this.#chords)
    this.#chords = [joined]
    return joined
  }

  /** Raw points that are held. */
  countPoints(): number {
    return this.#pieces.reduce((count, { raw }) => count + raw.times.length, 0)
  }

  addPiece(piece: Piece): void {
    this.#pieces.push(piece)
  }

  addChords(chords: Chords): void {
    this.#chords.push(chords)
  }

  /** Goes on with what was read from where this ends. */
  append(later: HeldInput): void {
    this.#pieces.push(...later.#pieces)
    this.#chords.push(...later.#chords)
  }

  /** Forgets what lies before an instant. */
  dropBefore(instant: Instant): void {
    this.#pieces = this.#pieces.filter(({ to }) => to > instant)
    const { chords } = this
    if (chords !== null) this.#chords = [dropChords(chords, instant)]
  }

  /** All raw points; pieces may overlap where nothing is. */
  raw(): PointColumns {
    let reached = Number.NEGATIVE_INFINITY
    const parts = this.#pieces.map(({ raw, to }) => {
      const part = sliceColumns(raw, lowerBound(raw.times, reached), raw.times.length)
      reached = Math.max(reached, to)
      return part
    })
    return parts.length === 0 ? NO_POINTS : concatColumns(parts)
  }
}

/** Reads an input stretch by stretch into what is held. */
export interface InputFeed {
  /** Reads on; how far the input is known then, forwards or, when it is read from its end, backwards. `null` at the end. */
  next(held: HeldInput): Promise<Instant | null>
}

/** Pieces as they come. */
export class PieceFeed implements InputFeed {
  readonly #stream: PieceStream
  readonly #order: 'asc' | 'desc'

  constructor(stream: PieceStream, order: 'asc' | 'desc') {
    this.#stream = stream
    this.#order = order
  }

  async next(held: HeldInput): Promise<Instant | null> {
    const piece = await this.#stream.next()
    if (piece === null) return null
    held.addPiece(piece)
    return this.#order === 'asc' ? piece.to : piece.from
  }
}

/** Pieces and the chords over them. */
export class ChordFeed implements InputFeed {
  readonly #reader: ChordReader
  readonly #order: 'asc' | 'desc'
  readonly #pieces: Piece[]

  /** @param pieces where the reader puts the pieces that it reads */
  constructor(reader: ChordReader, order: 'asc' | 'desc', pieces: Piece[]) {
    this.#reader = reader
    this.#order = order
    this.#pieces = pieces
  }

  async next(held: HeldInput): Promise<Instant | null> {
    const chords = await this.#reader.next()
    const read = this.#pieces.splice(0)
    if (this.#order === 'desc') read.reverse()
    for (const piece of read) held.addPiece(piece)
    if (chords === null) return null
    held.addChords(chords)
    return instantFromUs(this.#order === 'asc' ? chords.times.at(-1)! : chords.times[0]!)
  }
}
