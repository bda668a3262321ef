import type { Damage } from './damage.ts'
import type { FoldTrouble } from './fold-trouble.ts'
import type { Folder, FoldLimits } from './folder.ts'
import type { Heads } from './heads/heads.ts'

/** What tells when points are to be folded. */
export interface FoldReasons {
  readonly heads: Heads
  readonly limits: FoldLimits
  readonly trouble: FoldTrouble
  /** What was found wrong with the journal: nothing is changed then, so that nothing of it is lost. */
  damage(): Damage | null
}

/**
 * Has points folded beside the steps that go with writes: step by step while nothing else waits, when they grow old, and when many
 * came and nothing more comes. What failed is tried again after a pause.
 */
export class FoldSchedule {
  readonly #reasons: FoldReasons
  readonly #folder: Folder
  readonly #isDue: () => boolean
  readonly #fold: () => Promise<void>
  #isQueued = false
  #isClosed = false
  #ageTimer: NodeJS.Timeout | null = null
  #restTimer: NodeJS.Timeout | null = null
  #retryTimer: NodeJS.Timeout | null = null

  /**
   * @param isDue  whether the folder has something to do in the newest state
   * @param fold   has it do a step behind whatever waits
   */
  constructor(reasons: FoldReasons, folder: Folder, isDue: () => boolean, fold: () => Promise<void>) {
    this.#reasons = reasons
    this.#folder = folder
    this.#isDue = isDue
    this.#fold = fold
  }

  /** Nothing is asked for afterwards. */
  close(): void {
    this.#isClosed = true
    if (this.#ageTimer !== null) clearTimeout(this.#ageTimer)
    if (this.#restTimer !== null) clearTimeout(this.#restTimer)
    if (this.#retryTimer !== null) clearTimeout(this.#retryTimer)
  }

  /** To be called after each commit: has the folder go on when nothing else waits, and looks after points that grow old. */
  goOn(): void {
    if (this.#isClosed || this.#reasons.damage() !== null) return
    if (this.#reasons.heads.activePoints > 0 && this.#ageTimer === null) {
      this.#ageTimer = setTimeout(() => {
        this.#ageTimer = null
        this.#folder.want()
        this.goOn()
      }, this.#reasons.limits.ageMs)
      this.#ageTimer.unref()
    }
    this.#waitForRest()
    const { trouble } = this.#reasons
    if (!this.#isDue()) {
      trouble.over()
      return
    }
    if (trouble.pauseMs > 0) {
      this.#retryLater(trouble.pauseMs)
      return
    }
    if (this.#isQueued) return
    this.#isQueued = true
    // Behind whatever waits now; what fails is tried again later.
    setImmediate(() => {
      if (this.#isClosed) return
      this.#fold().then(
        () => {
          this.#isQueued = false
          this.goOn()
        },
        () => {
          this.#isQueued = false
        },
      )
    })
  }

  #retryLater(pauseMs: number): void {
    if (this.#retryTimer !== null) return
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = null
      this.goOn()
    }, pauseMs)
    this.#retryTimer.unref()
  }

  /** Has the rest of many points folded when nothing more comes: called again, it waits anew. */
  #waitForRest(): void {
    const { rest } = this.#reasons.limits
    const { heads } = this.#reasons
    if (rest === undefined || heads.activePoints < rest.points) return
    if (this.#restTimer !== null) {
      this.#restTimer.refresh()
      return
    }
    this.#restTimer = setTimeout(() => {
      if (heads.activePoints < rest.points) return
      this.#folder.want()
      this.goOn()
    }, rest.afterMs)
    this.#restTimer.unref()
  }
}
