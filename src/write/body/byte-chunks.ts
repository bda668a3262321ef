/** Bits of a place within its chunk; a chunk has 256 kB. */
const CHUNK_BITS = 18
const CHUNK_BYTES = 1 << CHUNK_BITS

interface Chunk {
  readonly bytes: Buffer<ArrayBuffer>
  readonly view: DataView
}

/**
 * Short texts as bytes, one behind the other in chunks of memory: adding one never moves the others, and a text lies in
 * one chunk.
 */
export class ByteChunks {
  #chunks: Chunk[] = []
  /** Where the next text begins in the last chunk. */
  #next = CHUNK_BYTES

  /** Bytes of memory. */
  get bytes(): number {
    return this.#chunks.length * CHUNK_BYTES
  }

  /** Copies bytes, at most 256 kB; gives their place, a number of 32 bits. */
  add(from: Uint8Array, start: number, length: number): number {
    if (this.#next + length > CHUNK_BYTES) {
      const bytes = Buffer.from(new ArrayBuffer(CHUNK_BYTES))
      this.#chunks.push({ bytes, view: new DataView(bytes.buffer) })
      this.#next = 0
    }
    const at = this.#next
    const { bytes } = this.#chunks.at(-1)!
    // A loop, as a call of `set` costs more than most texts.
    for (let i = 0; i < length; i++) bytes[at + i] = from[start + i]!
    this.#next = at + length
    return ((this.#chunks.length - 1) << CHUNK_BITS) | at
  }

  /** The memory of a place, in which it is at `offsetOf`. */
  viewOf(place: number): DataView {
    return this.#chunks[place >>> CHUNK_BITS]!.view
  }

  bytesOf(place: number): Buffer {
    return this.#chunks[place >>> CHUNK_BITS]!.bytes
  }

  static offsetOf(place: number): number {
    return place & (CHUNK_BYTES - 1)
  }

  /** Gives all memory back at once. */
  clear(): void {
    for (const { bytes } of this.#chunks) bytes.buffer.transfer(0)
    this.#chunks = []
    this.#next = CHUNK_BYTES
  }
}
