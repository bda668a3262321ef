/**
 * The bytes of a body as they come. Where the length was announced they are copied into their place at once, while the processor
 * still has them at hand, and not all together at the end.
 */
export class BodyBytes {
  readonly #announced: number
  #place: Buffer | null = null
  #chunks: Buffer[] = []
  #length = 0

  /** @param announced how many bytes are expected; 0 where that is not known. Fewer or more may come. */
  constructor(announced: number) {
    this.#announced = announced
  }

  get length(): number {
    return this.#length
  }

  add(chunk: Buffer): void {
    if (this.#chunks.length === 0 && chunk.length < this.#announced) {
      // Memory that is not written to costs nothing: who announces much and sends little takes little.
      this.#place ??= Buffer.allocUnsafeSlow(this.#announced)
    }
    if (this.#place !== null && this.#length + chunk.length <= this.#place.length) {
      chunk.copy(this.#place, this.#length)
    } else {
      if (this.#place !== null) this.#chunks.push(this.#place.subarray(0, this.#length))
      this.#place = null
      this.#chunks.push(chunk)
    }
    this.#length += chunk.length
  }

  /** All that came, in one piece. */
  whole(): Buffer {
    if (this.#place !== null) return this.#place.subarray(0, this.#length)
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#length)
  }
}
