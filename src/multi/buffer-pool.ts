/** Buffer that a chunk of an answer is written into, as bytes and as numbers. */
export interface OutputBuffer {
  readonly bytes: Buffer
  /** Of the same memory. */
  readonly view: DataView
}

/** A new buffer, not cleared: old bytes of its memory are still there. */
export function makeOutputBuffer(length: number): OutputBuffer {
  const bytes = Buffer.allocUnsafeSlow(length)
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, length) }
}

/** Length of pooled buffers, in bytes: a chunk of an answer and what writing it may go beyond. */
export const BUFFER_BYTES = 163_840
/** Free buffers kept: enough for some answers that go out at once, and not much memory. */
const MOST_KEPT = 16

/**
 * Buffer pool with a free list: a buffer is used again once its chunk has been sent. New memory for each chunk of a
 * large answer would cost as much as writing it: the system clears it page by page, it is never in the processor's
 * cache, and the garbage collector runs for it.
 */
export class BufferPool {
  readonly #kept: OutputBuffer[] = []
  /** Buffers in use, by their memory; one that does not come back is garbage like any other. */
  readonly #taken = new WeakMap<ArrayBufferLike, OutputBuffer>()

  take(): OutputBuffer {
    const buffer = this.#kept.pop() ?? makeOutputBuffer(BUFFER_BYTES)
    this.#taken.set(buffer.bytes.buffer, buffer)
    return buffer
  }

  /** Takes back the buffer of a chunk that nobody reads any more; other memory is left alone. */
  giveBack(chunk: Uint8Array): void {
    const buffer = this.#taken.get(chunk.buffer)
    if (buffer === undefined) return
    this.#taken.delete(chunk.buffer)
    if (this.#kept.length < MOST_KEPT) this.#kept.push(buffer)
  }
}
