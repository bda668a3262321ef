import { TurnBudget } from './turn-budget.ts'

/**
 * Cooperative scheduling of one long call: yields to the event loop, for other calls and this one's deadline, while a
 * long request is read, checked or planned.
 */
export class CooperativeScheduler {
  readonly #signal: AbortSignal
  readonly #since: number
  readonly #turn: TurnBudget

  /**
   * @param signal of the request; `yield` throws its reason once it is aborted
   * @param since  when the request began, as `performance.now` tells
   * @param turn   time slice that all calls of the process share
   */
  constructor(signal: AbortSignal, since: number = performance.now(), turn: TurnBudget = TurnBudget.shared) {
    this.#signal = signal
    this.#turn = turn
    this.#since = since
  }

  /** Whether the time slice is spent, so that `yield` is due; cheap enough for every hundredth point. */
  get isDue(): boolean {
    return this.#turn.isSpent(this.#since)
  }

  /** Yields when it is due: for loops whose every iteration may be long. */
  async yieldIfDue(): Promise<void> {
    if (this.isDue) await this.yield()
  }

  /** Yields to the event loop: resolves in a later tick, in which no other call that yielded goes on. */
  async yield(): Promise<void> {
    await this.#turn.next()
    this.#signal.throwIfAborted()
  }
}
