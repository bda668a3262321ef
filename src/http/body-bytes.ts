import { type BodyMemory, giveUp } from './body-memory.ts'

/** A body that has come. */
export interface Body {
  /** In one piece; not to be looked at after `release`. */
  readonly bytes: Buffer
  /** To be called when nobody needs the bytes any more, so that another body can have their memory. Repeatable; may be left out. */
  release(): void
}

/**
 * The bytes of a body as they come. Where the length was announced they are copied into their place at once, while the processor
 * still has them at hand, and not all together at the end.
 */
export class BodyBytes implements Body {
  readonly #announced: number
  readonly #memory: BodyMemory
  #place: Buffer | null = null
  #chunks: Buffer[] = []
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
      // Memory that is not written to costs nothing: who announces much and sends little takes little.
      this.#place ??= this.#memory.take(this.#announced)
    }
    const { length } = chunk
    if (this.#place !== null && this.#length + length <= this.#place.length) {
      chunk.copy(this.#place, this.#length)
      giveUp(chunk)
    } else {
      if (this.#place !== null) this.#chunks.push(this.#place.subarray(0, this.#length))
      this.#place = null
      this.#chunks.push(chunk)
    }
    this.#length += length
  }

  /** All that came, when nothing comes any more. */
  get bytes(): Buffer {
    if (this.#place !== null) return this.#place.subarray(0, this.#length)
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#length)
  }

  release(): void {
    const place = this.#place
    this.#place = null
    this.#chunks = []
    this.#length = 0
    if (place !== null) this.#memory.giveBack(place)
  }
}
