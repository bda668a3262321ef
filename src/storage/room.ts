import { CommitFailed } from './changes.ts'
import { isWithoutRoom } from './environment.ts'
import { tryRoom } from './preflight.ts'

/**
 * Keeps writes from lmdb while the disk has no room. What lmdb-js 3.5 makes of a write that the system refuses can be longer than the 100
 * bytes that it takes for it: each can end the process. So after one that failed the file system is asked first, until a commit succeeds.
 */
export class Room {
  readonly #folder: string
  #isShort = false

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Throws CommitFailed where a commit failed for want of room, and there is none yet. */
  check(): void {
    if (!this.#isShort) return
    try {
      tryRoom(this.#folder)
    } catch (error) {
      throw new CommitFailed(error)
    }
  }

  /** To be called with what a change failed with. */
  failed(error: unknown): void {
    if (error instanceof CommitFailed && isWithoutRoom(error.cause)) this.#isShort = true
  }

  /** To be called when one is committed. */
  committed(): void {
    this.#isShort = false
  }
}
