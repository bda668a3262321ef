const CHUNK_BYTES = 1 << 20
/** Kept for the next change; anything beyond is given back. */
const KEPT_CHUNKS = 8

/** A place in memory for one value, 8-byte aligned. */
export interface Place {
  readonly bytes: Uint8Array
  /** The chunk of `bytes` as doubles. */
  readonly doubles: Float64Array
  /** Byte offset into the chunk, a multiple of 8. */
  readonly offset: number
}

interface Chunk {
  readonly bytes: Uint8Array
  readonly doubles: Float64Array
}

/**
 * Memory for what is packed, taken in big chunks: a new ArrayBuffer for each piece would cost more than the packing.
 * What was allocated stays in place until `reset`.
 */
export class Arena {
  #chunks: Chunk[] = [makeChunk(CHUNK_BYTES)]
  #chunk = 0
  #used = 0

  /** Memory for so many bytes, not zeroed. */
  allocate(size: number): Place {
    const aligned = (size + 7) & ~7
    let chunk = this.#chunks[this.#chunk]!
    if (this.#used + aligned > chunk.bytes.length) {
      this.#chunk++
      this.#used = 0
      const next = this.#chunks[this.#chunk]
      if (next === undefined || next.bytes.length < aligned) {
        this.#chunks.splice(this.#chunk, 0, makeChunk(Math.max(CHUNK_BYTES, aligned)))
      }
      chunk = this.#chunks[this.#chunk]!
    }
    const offset = this.#used
    this.#used += aligned
    return { bytes: chunk.bytes, doubles: chunk.doubles, offset }
  }

  /** Copies bytes in and gives where they are. */
  copy(value: Uint8Array): Uint8Array {
    const { bytes, offset } = this.allocate(value.length)
    bytes.set(value, offset)
    return bytes.subarray(offset, offset + value.length)
  }

  /** All that was handed out is free again. */
  reset(): void {
    this.#chunks = this.#chunks.filter(({ bytes }) => bytes.length === CHUNK_BYTES).slice(0, KEPT_CHUNKS)
    if (this.#chunks.length === 0) this.#chunks.push(makeChunk(CHUNK_BYTES))
    this.#chunk = 0
    this.#used = 0
  }
}

function makeChunk(size: number): Chunk {
  const buffer = new ArrayBuffer(size)
  return { bytes: new Uint8Array(buffer), doubles: new Float64Array(buffer) }
}
