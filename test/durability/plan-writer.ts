import { setTimeout as wait } from 'node:timers/promises'
import type { RunningService } from '../cli/run.ts'
import { callService, isUnanswered } from './kill-calls.ts'
import type { KillRequest } from './kill-plan.ts'

/** Makes one request of a plan after the other, and each again that nobody answered. */
export class PlanWriter {
  /** The last request that was answered. */
  sequence: number
  unanswered = 0
  readonly #service: RunningService
  readonly #key: string
  readonly #requestOf: (sequence: number) => KillRequest
  readonly #pauseMs: number
  #isOver = false
  #isAbandoned = false
  readonly #running: Promise<void>

  /**
   * @param after    the last request that is there
   * @param pauseMs  between two requests
   */
  constructor(
    service: RunningService,
    key: string,
    requestOf: (sequence: number) => KillRequest,
    after: number,
    pauseMs = 0,
  ) {
    this.#service = service
    this.#key = key
    this.#requestOf = requestOf
    this.#pauseMs = pauseMs
    this.sequence = after
    this.#running = this.#run()
  }

  /** Ends it after the request that is on its way. */
  async stop(): Promise<void> {
    this.#isOver = true
    await this.#running
  }

  /** To be called when nobody answers any more: what was not answered is not made again. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true
    await this.stop()
  }

  async #run(): Promise<void> {
    for (let isAgain = false; !this.#isAbandoned && (!this.#isOver || isAgain); ) {
      try {
        await callService(this.#service, this.#key, this.#requestOf(this.sequence + 1), isAgain)
        this.sequence++
        isAgain = false
        if (this.#pauseMs > 0) await wait(this.#pauseMs)
      } catch (error) {
        if (!isUnanswered(error)) throw error
        this.unanswered++
        isAgain = true
        await wait(5)
      }
    }
  }
}
