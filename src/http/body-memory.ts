/** Sizes are rounded up to a multiple of this, so that bodies of about the same length fit into each other's memory. */
const STEP_BYTES = 65_536
/** All that is kept for later bodies. */
const MAX_KEPT_BYTES = 4 * 2 ** 20

/**
 * Buffer pool for long bodies: left to the garbage collector, that of a hundred requests a second would add up
 * to a multiple of what is needed at a time.
 */
export class BodyMemory {
  #kept: Buffer[] = []
  #keptBytes = 0

  /** At least so many bytes, not zeroed. */
  take(bytes: number): Buffer {
    // Not a much longer one: that is for a body that needs it.
    const at = this.#kept.findIndex(({ length }) => length >= bytes && length <= 2 * bytes + STEP_BYTES)
    if (at < 0) return Buffer.allocUnsafeSlow(Math.ceil(bytes / STEP_BYTES) * STEP_BYTES)
    const [buffer] = this.#kept.splice(at, 1)
    this.#keptBytes -= buffer!.length
    return buffer!
  }

  /** Takes memory back that is not read any more; the buffer that was kept longest is dropped for it. */
  giveBack(buffer: Buffer): void {
    if (buffer.length > MAX_KEPT_BYTES) return
    this.#kept.push(buffer)
    this.#keptBytes += buffer.length
    while (this.#keptBytes > MAX_KEPT_BYTES) this.#keptBytes -= this.#kept.shift()!.length
  }
}

/**
 * Frees memory that is not read any more, if it is all of its buffer. Node takes memory from the
 * system for each chunk of a body that arrives; left to the garbage collector, it would have that go through the whole
 * heap for every 20 MB or so.
 */
export function giveUp(bytes: Buffer): void {
  const { buffer } = bytes
  if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length) buffer.transfer(0)
}
