import { MIN_INSTANT } from '../../time/instant.ts'
import type { Chunk, ChunkStream } from './chunk.ts'

/**
 * One evaluation of a range for several readers: each reads at its own pace, a chunk is pulled once, and it is garbage
 * when all have passed it. Who begins later starts from the beginning as long as the beginning is kept.
 */
export class SharedStream {
  readonly #retains: (chunk: Chunk) => boolean
  #first: Link | null
  #reached: number = MIN_INSTANT

  /**
   * @param retains whether a chunk may still be kept for readers that begin later
   * @param pause   called after each chunk: operators inside each other work out theirs one after the other, from the
   *                innermost on, and none of them waits for anything then
   */
  constructor(source: ChunkStream, retains: (chunk: Chunk) => boolean, pause: () => Promise<void>) {
    this.#retains = retains
    const paused = async () => {
      const chunk = await source.next()
      await pause()
      return chunk
    }
    this.#first = new Link({ next: paused }, (chunk) => {
      this.#reached = Math.max(this.#reached, chunk.to)
      if (!this.#retains(chunk)) this.#first = null
    })
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
        const chunk = await here.pulled()
        link = chunk === null ? null : here.next
        return chunk
      },
    }
  }
}

/** A place in the stream: a chunk that is pulled when a reader first gets there, and the place after it. */
class Link {
  readonly #source: ChunkStream
  readonly #onChunk: (chunk: Chunk) => void
  #chunk: Promise<Chunk | null> | null = null
  #next: Link | null = null

  constructor(source: ChunkStream, onChunk: (chunk: Chunk) => void) {
    this.#source = source
    this.#onChunk = onChunk
  }

  get next(): Link {
    this.#next ??= new Link(this.#source, this.#onChunk)
    return this.#next
  }

  pulled(): Promise<Chunk | null> {
    if (this.#chunk === null) {
      this.#chunk = this.#source.next()
      // Readers handle a rejection, each its own; none may be left of a reader that has stopped.
      this.#chunk.then(
        (chunk) => {
          if (chunk !== null) this.#onChunk(chunk)
        },
        () => {},
      )
    }
    return this.#chunk
  }
}
