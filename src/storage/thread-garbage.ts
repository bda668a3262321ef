import { collectGarbage } from '../scheduling/garbage-collector.ts'

/** Bytes of buffers that a thread may leave for as long as it has more to do. */
const MOST_BYTES = 32 * 2 ** 20
/** A thread that has had nothing to do for so long gives its memory back. */
const IDLE_MS = 5_000

/**
 * Garbage of a thread that packs or merges. Its points lie outside of its heap, which is small: V8 would leave a hundred
 * megabytes until it needs more. A major GC takes helper threads beside it, which have the priority of the process and
 * keep answers from a processor: so there is one where much is left, or when nothing follows.
 */
export class ThreadGarbage {
  readonly #bytes: () => number
  readonly #collect: () => void
  #timer: NodeJS.Timeout | null = null

  /** @param bytes  of all buffers of this thread, garbage included */
  constructor(
    bytes: () => number = () => process.memoryUsage().arrayBuffers,
    collect: () => void = () => collectGarbage('major'),
  ) {
    this.#bytes = bytes
    this.#collect = collect
  }

  /** To be called when work begins. */
  begin(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  /** To be called when work has ended. */
  end(): void {
    this.begin()
    if (this.#bytes() > MOST_BYTES) this.#collect()
    else this.#timer = setTimeout(this.#collect, IDLE_MS)
  }
}
