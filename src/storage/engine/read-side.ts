import type { MaybePromise } from '../../historian/maybe-promise.ts'
import { isUnreadable } from '../damage.ts'
import { EngineSnapshot } from './engine-snapshot.ts'
import type { EngineState } from './engine-state.ts'

/** What reads of another process's historian take. */
export interface Following {
  /**
   * Brings what is in memory up to what another process did; a promise when that takes long, after which it is to be
   * asked again. Throws, or rejects with, what reads then reject with.
   */
  readonly catchUp: () => Promise<void> | null
  /** May be called again. */
  close(): void
}

/** One of many small reads, by its index. */
export type ReadOne = (index: number, snapshot: EngineSnapshot) => void

/**
 * Runs reads, each on one state, which is brought up to date first where another process changes the historian. Reads
 * reject with the errors that callers get.
 */
export class ReadSide {
  readonly #state: EngineState
  readonly #following: Following | null
  /** Reads that wait until what another process did is here, and begin then. */
  #waiting = 0
  #isEnding = false
  /** Reads on the state that was caught up with last, which must stay as it is for them. */
  #joined = 0
  /** Whether nothing has come into this process since it was caught up, as between the reads of a small call. */
  #isCaughtUp = false
  readonly #lookAgain = () => {
    this.#isCaughtUp = false
  }
  readonly #leave = () => {
    this.#joined--
  }

  /** @param following  `null` where this process alone changes the historian */
  constructor(state: EngineState, following: Following | null) {
    this.#state = state
    this.#following = following
  }

  /**
   * To be called when no more reads come: the parts are closed with the last read that is on them, and what is followed
   * when none waits for it.
   */
  end(): void {
    this.#isEnding = true
    this.#endIfIdle()
  }

  async read<T>(signal: AbortSignal, read: (snapshot: EngineSnapshot) => T | Promise<T>): Promise<T> {
    let snapshot: EngineSnapshot | null = null
    try {
      const wait = this.#catchUpFirst()
      snapshot = wait === null ? this.#begin(signal) : await this.#beginAfter(wait, signal)
      const reading = read(snapshot)
      // It waits for something, if only for what is there.
      if (reading instanceof Promise) snapshot.capture()
      return await reading
    } catch (error) {
      throw this.#failed(error)
    } finally {
      snapshot?.done()
    }
  }

  /**
   * As `read`, for many small reads that mostly are done before others are to be let in: the result is there at once
   * then.
   * @param toRest  called before others are let in for the first time
   */
  readEach<T>(
    signal: AbortSignal,
    count: number,
    result: T,
    readOne: ReadOne,
    toRest: ((snapshot: EngineSnapshot) => void) | null = null,
  ): MaybePromise<T> {
    let snapshot: EngineSnapshot | null = null
    try {
      const wait = this.#catchUpFirst()
      if (wait !== null) {
        this.#waiting++
        return wait.then(
          () => {
            try {
              return this.readEach(signal, count, result, readOne, toRest)
            } finally {
              this.#waited()
            }
          },
          (error: unknown) => {
            this.#waited()
            throw this.#failed(error)
          },
        )
      }
      snapshot = this.#begin(signal)
      for (let i = 0; i < count; i++) {
        readOne(i, snapshot)
        if (!snapshot.isDue()) continue
        toRest?.(snapshot)
        return this.#readRest(snapshot, i + 1, count, readOne).then(() => result)
      }
      snapshot.done()
      return result
    } catch (error) {
      snapshot?.done()
      return Promise.reject(this.#failed(error))
    }
  }

  /** Begins a read that has to wait for what another process did. */
  async #beginAfter(first: Promise<void>, signal: AbortSignal): Promise<EngineSnapshot> {
    this.#waiting++
    try {
      for (let wait: Promise<void> | null = first; wait !== null; wait = this.#catchUpFirst()) {
        await wait
        // An owner may be faster for as long as it likes.
        signal.throwIfAborted()
      }
      return this.#begin(signal)
    } finally {
      this.#waited()
    }
  }

  #waited(): void {
    this.#waiting--
    this.#endIfIdle()
  }

  #endIfIdle(): void {
    if (!this.#isEnding || this.#waiting > 0) return
    this.#following?.close()
    this.#state.parts.end()
  }

  async #readRest(snapshot: EngineSnapshot, from: number, count: number, readOne: ReadOne): Promise<void> {
    try {
      await snapshot.pause()
      for (let i = from; i < count; i++) {
        readOne(i, snapshot)
        if (snapshot.isDue()) await snapshot.pause()
      }
    } catch (error) {
      throw this.#failed(error)
    } finally {
      snapshot.done()
    }
  }

  /** The error that a caller gets. */
  #failed(error: unknown): unknown {
    // What fails now is tried again with the next read that meets damage.
    if (isUnreadable(error)) this.#state.parts.recover().catch(() => {})
    return this.#state.errors.ofRead(error)
  }

  #catchUpFirst(): Promise<void> | null {
    if (this.#following === null || this.#joined > 0 || this.#isCaughtUp) return null
    const wait = this.#following.catchUp()
    if (wait !== null) return wait
    this.#isCaughtUp = true
    DONE.then(this.#lookAgain)
    return null
  }

  /** A read that begins in the same turn of the event loop as others joins their state. */
  #begin(signal: AbortSignal): EngineSnapshot {
    const snapshot = new EngineSnapshot(this.#state.parts, signal)
    this.#joined++
    snapshot.onLeave = this.#leave
    return snapshot
  }
}

const DONE = Promise.resolve()
