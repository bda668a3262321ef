import { MIN_INSTANT } from '../../time/instant.ts'
import type { Chunk, ChunkStream } from './chunk.ts'

/**
 * One evaluation of a range for several readers: each reads at its own pace, a chunk is pulled once, and it is garbage
 * when all have passed it. Who begins later starts from the beginning as long as the beginning is kept.
 */
export class SharedStream {
  readonly #source: ChunkStream
  readonly #retains: (chunk: Chunk) => boolean
  readonly #pause: () => Promise<void>
  #first: Link | null = { chunk: null, next: null }
  #reached: number = MIN_INSTANT

  /**
   * @param retains whether a chunk may still be kept for readers that begin later
   * @param pause   called after each chunk: operators inside each other work out theirs one after the other, from the
   *                innermost on, and none of them waits for anything then
   */
  constructor(source: ChunkStream, retains: (chunk: Chunk) => boolean, pause: () => Promise<void>) {
    this.#source = source
    this.#retains = retains
    this.#pause = pause
  }

  /** The latest end of a chunk that was pulled. */
  get reached(): number {
    return this.#reached
  }

  /** A reader from the beginning; `null` when that is not kept any more. */
  reader(): ChunkStream | null {
    let link = this.#first
    if (link === null) return null
    return {
      next: async () => {
        const here: Link | null = link
        if (here === null) return null
        here.chunk ??= this.#pull()
        const chunk = await here.chunk
        if (chunk === null) link = null
        else {
          here.next ??= { chunk: null, next: null }
          link = here.next
        }
        return chunk
      },
    }
  }

  async #pull(): Promise<Chunk | null> {
    const chunk = await this.#source.next()
    await this.#pause()
    if (chunk === null) return null
    this.#reached = Math.max(this.#reached, chunk.to)
    if (!this.#retains(chunk)) this.#first = null
    return chunk
  }
}

/** A place in the stream: a chunk that is pulled when a reader first gets there, and the place after it. */
interface Link {
  chunk: Promise<Chunk | null> | null
  next: Link | null
}
