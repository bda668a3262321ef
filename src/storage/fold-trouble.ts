import { CommitFailed } from './changes.ts'
import { reasonOf } from './environment.ts'

/** Where trouble is told; the fields hold no secrets. */
export interface TroubleLog {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** How long folding rests after it failed, and at most, when it fails again and again. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

/**
 * Folding that fails although nothing says that stored points are damaged: the disk is full, say, or reports an error. Points stay in the
 * journal, and it is tried again after pauses that grow. The log is told when it begins and when it is over.
 */
export class FoldTrouble {
  readonly #historian: string
  readonly #log: TroubleLog | null
  #reason: string | null = null
  #pauseMs = 0
  #until = 0
  #points = Number.POSITIVE_INFINITY

  constructor(historian: string, log: TroubleLog | null) {
    this.#historian = historian
    this.#log = log
  }

  /** Why folding failed the last time; `null` when it did not. */
  get reason(): string | null {
    return this.#reason
  }

  /** Milliseconds until it is to be tried again, 0 when it may be. */
  get pauseMs(): number {
    return this.#reason === null ? 0 : Math.max(0, this.#until - performance.now())
  }

  /**
   * How many points a step may fold. Of what failed a little at first, then twice as much with each success: of a disk that is nearly
   * full it asks for less, and tags before the one that may be why are done with.
   */
  get points(): number {
    return this.#points
  }

  failed(error: unknown): void {
    const cause = error instanceof CommitFailed ? error.cause : error
    if (this.#reason === null) {
      this.#pauseMs = 0
      const message = 'points cannot be moved from the journal into blocks; it is tried again'
      this.#log?.error({ err: cause, historian: this.#historian }, message)
    }
    this.#reason = reasonOf(cause)
    this.#pauseMs = Math.min(Math.max(FIRST_PAUSE_MS, 2 * this.#pauseMs), LONGEST_PAUSE_MS)
    this.#until = performance.now() + this.#pauseMs
    this.#points = 1
  }

  /** To be called when a step is committed. @param isWhole  whether no epoch is left in part: until then it may fail again soon */
  succeeded(isWhole: boolean): void {
    this.#until = 0
    this.#points *= 2
    if (isWhole) this.over()
  }

  /** To be called when nothing is left to do, too. */
  over(): void {
    if (this.#reason === null) return
    this.#reason = null
    this.#points = Number.POSITIVE_INFINITY
    this.#log?.info({ historian: this.#historian }, 'points are moved from the journal into blocks again')
  }
}
