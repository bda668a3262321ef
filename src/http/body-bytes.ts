import { type BodyMemory, giveUp } from './body-memory.ts'

/**
 * The first place of a long body; it grows fourfold as the body comes. Memory that nothing is written to takes no room,
 * but the garbage collector counts it.
 */
const FIRST_PLACE_BYTES = 1_048_576
const GROWTH = 4

/** Shorter chunks of a body are put together: by itself each takes some hundred bytes more than it has. */
const SHORT_BYTES = 4_096
const GATHERED_BYTES = 65_536

/** A body that has come. */
export interface Body {
  /** All of them; not to be read after `release`. */
  readonly bytes: Buffer
  /**
   * Gives the bytes back to the pool when they are not needed any more. Repeatable; may be left out.
   */
  release(): void
}

/**
 * The bytes of a body as they come. Where the length was announced they are copied into their place at once, while the
 * processor still has them at hand, and not all together at the end.
 */
export class BodyBytes implements Body {
  readonly #announced: number
  readonly #memory: BodyMemory
  #place: Buffer | null = null
  #chunks: Buffer[] = []
  /** The last of the chunks, while short ones are gathered in it, and how much of it they take. */
  #gathering: Buffer | null = null
  #gathered = 0
  #length = 0

  /** @param announced how many bytes are expected; 0 where that is not known. Fewer or more may come. */
  constructor(announced: number, memory: BodyMemory) {
    this.#announced = announced
    this.#memory = memory
  }

  get length(): number {
    return this.#length
  }

  /** @param chunk not to be looked at by anybody else any more */
  add(chunk: Buffer): void {
    if (this.#chunks.length === 0 && chunk.length < this.#announced) {
      this.#place ??= this.#memory.take(Math.min(this.#announced, FIRST_PLACE_BYTES))
    }
    const { length } = chunk
    this.#grow(length)
    if (this.#place !== null && this.#length + length <= this.#place.length) {
      chunk.copy(this.#place, this.#length)
      giveUp(chunk)
    } else {
      if (this.#place !== null) this.#chunks.push(this.#place.subarray(0, this.#length))
      this.#place = null
      if (length < SHORT_BYTES) this.#gather(chunk)
      else {
        this.#endGathering()
        this.#chunks.push(chunk)
      }
    }
    this.#length += length
  }

  #gather(chunk: Buffer): void {
    if (this.#gathering === null || this.#gathered + chunk.length > GATHERED_BYTES) {
      this.#endGathering()
      this.#gathering = Buffer.allocUnsafeSlow(GATHERED_BYTES)
      this.#gathered = 0
      this.#chunks.push(this.#gathering)
    }
    chunk.copy(this.#gathering, this.#gathered)
    this.#gathered += chunk.length
    giveUp(chunk)
  }

  #endGathering(): void {
    if (this.#gathering !== null)
      this.#chunks[this.#chunks.length - 1] = this.#gathering.subarray(0, this.#gathered)
    this.#gathering = null
  }

  /** Makes the place larger where so many more bytes do not fit, as far as was announced. */
  #grow(more: number): void {
    const place = this.#place
    if (place === null || this.#length + more <= place.length || place.length >= this.#announced) return
    const larger = this.#memory.take(
      Math.min(this.#announced, Math.max(GROWTH * place.length, this.#length + more)),
    )
    place.copy(larger, 0, 0, this.#length)
    this.#memory.giveBack(place)
    this.#place = larger
  }

  /** All that came, when nothing comes any more. */
  get bytes(): Buffer {
    if (this.#place !== null) return this.#place.subarray(0, this.#length)
    this.#endGathering()
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#length)
  }

  release(): void {
    const place = this.#place
    this.#place = null
    this.#chunks = []
    this.#gathering = null
    this.#length = 0
    if (place !== null) this.#memory.giveBack(place)
  }
}
