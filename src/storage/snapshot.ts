import type { ReadOptions, Root } from './environment.ts'
import { Pacer } from './pause.ts'

/**
 * One state of an environment for as long as a read lasts. lmdb-js keeps one read transaction for everything that happens in
 * one turn of the event loop; a read that lets others in between takes hold of that transaction first, so that it goes on seeing
 * what it saw. Must be ended with `done`: a transaction that stays open keeps lmdb from reusing pages.
 */
export class Snapshot {
  readonly signal: AbortSignal
  readonly #root: Root
  readonly #pacer = new Pacer()
  options: ReadOptions | undefined = undefined
  /** Called once, before others are let in for the first time: what is in memory belongs to this state only until then. */
  beforeRest: (() => void) | null = null
  /** Called once, when others are let in for the first time or all is done: until then the state is that of this turn of the event loop. */
  onLeave: (() => void) | null = null

  constructor(root: Root, signal: AbortSignal) {
    signal.throwIfAborted()
    this.#root = root
    this.signal = signal
  }

  /** Whether others were let in since the beginning. */
  get hasRested(): boolean {
    return this.options !== undefined
  }

  /** Whether it is time for `rest`. */
  isDue(): boolean {
    return this.#pacer.isDue()
  }

  /** Lets others in. Whatever was a view of stored bytes before is not valid afterwards. Throws when aborted. */
  async rest(): Promise<void> {
    if (this.options === undefined) {
      this.options = { transaction: this.#root.useReadTransaction() }
      this.beforeRest?.()
      this.#leave()
    }
    await this.#pacer.rest(this.signal)
  }

  done(): void {
    this.options?.transaction.done()
    this.options = undefined
    this.#leave()
  }

  #leave(): void {
    this.onLeave?.()
    this.onLeave = null
  }
}

/** Runs a read on one state of the environment. */
export async function withSnapshot<T>(
  root: Root,
  signal: AbortSignal,
  read: (snapshot: Snapshot) => T | Promise<T>,
): Promise<T> {
  const snapshot = new Snapshot(root, signal)
  try {
    return await read(snapshot)
  } finally {
    snapshot.done()
  }
}
