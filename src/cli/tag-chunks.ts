import { CommandError } from './exit.ts'

/** The other side takes fewer tags in one request (LIMIT_TAGS); nothing of it was done. */
export class TooManyTags extends CommandError {}

/**
 * How many tags one request has: half as many from the moment on at which the other side takes no more, which no
 * endpoint says beforehand.
 */
export class TagChunks {
  #most: number

  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most
  }

  /** Asks for chunks of items of one tag each, in order. @throws what `ask` throws, but TooManyTags of several tags */
  async each<Item>(items: readonly Item[], ask: (chunk: readonly Item[]) => Promise<void>): Promise<void> {
    for (let at = 0; at < items.length; ) {
      const chunk = items.slice(at, at + this.#most)
      try {
        await ask(chunk)
        at += chunk.length
      } catch (error) {
        if (!(error instanceof TooManyTags) || chunk.length === 1) throw error
        this.#most = Math.ceil(chunk.length / 2)
      }
    }
  }
}
