import type { ReadPace } from '../pause.ts'
import { Pacer } from '../pause.ts'
import type { OpenParts, PartSet } from './part-set.ts'

/**
 * One state of a historian for as long as a read lasts: the parts of a version and, taken before the read waits for
 * anything for the first time, what it needs of the memory. Must be ended with `done`.
 */
export class EngineSnapshot implements ReadPace {
  readonly signal: AbortSignal
  readonly set: PartSet
  readonly #open: OpenParts
  readonly #pacer: Pacer
  #hasYielded = false
  #isCaptured = false
  #isDone = false
  /**
   * What is in memory belongs to this state only until it waits for the first time: captured once, before that, and
   * released in the end. An object, since V8 keeps what a function that was put into a field refers to until it goes
   * through the whole heap.
   */
  memory: { capture(): void; release(): void } | null = null
  /**
   * Called once, when others are let in for the first time or all is done. A function that is not made for the read.
   */
  onLeave: (() => void) | null = null

  constructor(open: OpenParts, signal: AbortSignal, pacer = new Pacer()) {
    signal.throwIfAborted()
    this.#pacer = pacer
    this.signal = signal
    this.#open = open
    this.set = open.current
    // Its files stay open whatever becomes of the version while the read waits for anything.
    open.hold(this.set)
  }

  /** Whether it has yielded since the beginning. */
  get hasYielded(): boolean {
    return this.#hasYielded
  }

  isDue(steps?: number): boolean {
    return this.#pacer.isDue(steps)
  }

  /**
   * Captures what it needs of the memory, unless it has: to be called before anything is waited for, also for what is
   * there already. A flush or a write that ends in the same turn of the event loop may go on at any `await`.
   */
  capture(): void {
    if (this.#isCaptured) return
    this.#isCaptured = true
    this.memory?.capture()
  }

  async pause(): Promise<void> {
    if (!this.#hasYielded) {
      this.#hasYielded = true
      this.capture()
      this.#leave()
    }
    await this.#pacer.pause(this.signal)
  }

  done(): void {
    if (!this.#isDone) {
      this.#open.release(this.set)
      this.memory?.release()
    }
    this.#isDone = true
    this.#leave()
  }

  #leave(): void {
    this.onLeave?.()
    this.onLeave = null
  }
}
