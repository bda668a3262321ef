import { collectGarbage } from '../scheduling/garbage-collector.ts'

/** Bytes of columns that may become garbage before the garbage collector is called for them. */
const DUE_BYTES = 2 * 2 ** 20

/**
 * Minor GC on demand, for columns of points that were read for answers and are garbage now. Their memory lies outside
 * of the JavaScript heap: V8 sees it grow, and goes through the whole heap for every 15 MB, on two processors for some
 * 40 ms, though a minor GC, of 0.5 ms, would free it. So a minor GC is started explicitly: between 100,000 points and
 * the next ones that halves the processor time of an answer.
 */
export class MinorGc {
  #bytes = 0

  /** Counts bytes that were allocated for an answer, and are garbage when it is sent. */
  add(bytes: number): void {
    this.#bytes += bytes
  }

  /**
   * To be called when as little work as possible is in progress: live objects are copied. Collects only when enough
   * was added.
   */
  collect(): void {
    if (this.#bytes < DUE_BYTES) return
    this.#bytes = 0
    collectGarbage('minor')
  }
}
