import { TimeSlice } from '../scheduling/time-slice.ts'

/** How long work may hold the event loop before it yields. */
const SLICE_MS = 4
/** The clock is read once in so many steps. */
const STEPS_PER_LOOK = 16

/** Tells long reads when to yield to the event loop. */
export interface ReadPace {
  /** Whether it is time for `pause`; to be called often. @param steps that were done, of some microseconds each */
  isDue(steps?: number): boolean
  /** Yields to the event loop. Throws when the read is aborted. */
  pause(): Promise<void>
}

/** Cooperative scheduling: tells long loops when to yield to the event loop. */
export class Pacer {
  /** NaN until the first look: small reads end before it, and the clock takes longer than a step of theirs. */
  #since = Number.NaN
  #steps = 0

  /**
   * Whether it is time for `pause`, also because of what others have done in this tick of the event loop; call it
   * often, it costs next to nothing.
   * @param steps    that were done, each of some microseconds
   * @param sliceMs  how long the event loop may be held
   */
  isDue(steps = 1, sliceMs = SLICE_MS): boolean {
    this.#steps += steps
    if (this.#steps < STEPS_PER_LOOK) return false
    this.#steps = 0
    const now = performance.now()
    if (Number.isNaN(this.#since)) this.#since = now
    return now - this.#since >= sliceMs || TimeSlice.shared.isSpent()
  }

  /**
   * Yields: one long read or call goes on in each tick of the event loop. Throws the signal's reason when it is
   * aborted.
   */
  async pause(signal?: AbortSignal): Promise<void> {
    await TimeSlice.shared.next(this.isFirst)
    signal?.throwIfAborted()
    this.#since = performance.now()
  }

  /** Whether it goes on before long calls that have waited for longer. */
  protected get isFirst(): boolean {
    return false
  }
}

/**
 * The pacer of what all others wait for: a change, behind which the next ones begin, or what a process that follows
 * takes before it reads. It goes on in each tick of the event loop, beside one long read: in the queue of these it
 * would wait for a slice of each of them, for every slice of its own.
 */
export class ChangePacer extends Pacer {
  protected override get isFirst(): boolean {
    return true
  }
}

/** A step of work takes as long as so many of a pacer: the clock is asked after each. */
export const STEPS_OF_WORK = STEPS_PER_LOOK

/** Does work of a change to its end, and yields between its steps whenever that is due. */
export function inSlices<T>(work: Generator<void, T>): Promise<T> {
  return atPace(work, new ChangePacer(), STEPS_OF_WORK)
}

/**
 * Does work to its end, and yields between its steps whenever it is time.
 * @param steps  of the pace that a step of the work takes as long as
 */
export async function atPace<T>(work: Generator<void, T>, pace: ReadPace, steps = 1): Promise<T> {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
    if (pace.isDue(steps)) await pace.pause()
  }
}

/** Does work that could be done in steps to its end. */
export function atOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}
