import type { MaybePromise } from '../../historian/maybe-promise.ts'
import { isUnreadable } from '../damage.ts'
import { EngineSnapshot } from './engine-snapshot.ts'
import type { EngineState } from './engine-state.ts'

/**
 * Brings what is in memory up to what another process did; a promise when that takes long, after which it is to be
 * asked again. Throws, or rejects with, what reads then reject with.
 */
export type CatchUp = () => Promise<void> | null

/** What reads of another process's historian take. */
export interface Following {
  readonly catchUp: CatchUp
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
  readonly #catchUp: CatchUp | null
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

  /** @param catchUp  `null` where this process alone changes the historian */
  constructor(state: EngineState, catchUp: CatchUp | null) {
    this.#state = state
    this.#catchUp = catchUp
  }

  async read<T>(signal: AbortSignal, read: (snapshot: EngineSnapshot) => T | Promise<T>): Promise<T> {
    let snapshot: EngineSnapshot | null = null
    try {
      for (let wait = this.#catchUpFirst(); wait !== null; wait = this.#catchUpFirst()) {
        await wait
        // An owner may be faster for as long as it likes.
        signal.throwIfAborted()
      }
      snapshot = this.#begin(signal)
      return await read(snapshot)
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
        return wait.then(
          () => this.readEach(signal, count, result, readOne, toRest),
          (error: unknown) => Promise.reject(this.#failed(error)),
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
    if (this.#catchUp === null || this.#joined > 0 || this.#isCaughtUp) return null
    const wait = this.#catchUp()
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
