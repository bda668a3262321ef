import type { PointColumns } from '../series/columns.ts'
import { Arena } from './arena.ts'
import { type BlockView, encodeAppended, encodeBlock } from './block.ts'
import { KEY_BYTES, writeBlockKey } from './block-key.ts'
import type { Bytes, Store } from './environment.ts'

/** A commit failed, and nothing was changed; `cause` is why. */
export class CommitFailed extends Error {
  constructor(cause: unknown) {
    super('the commit failed', { cause })
    this.name = 'CommitFailed'
  }
}

/** lmdb-js rejects the writes of a failed commit with an error whose `commitError` is a promise that rejects with the reason. */
async function reasonOfFailure(error: unknown): Promise<unknown> {
  try {
    await (error as { commitError?: Promise<never> }).commitError
    return error
  } catch (reason) {
    return reason
  }
}

/**
 * What one commit will change, worked out beforehand: entries to put and to remove, in order. Working it out may take many turns
 * of the event loop; `apply` is one turn, and so one lmdb transaction, all of it or nothing.
 */
export class Changes {
  readonly #points: Store
  readonly #arena = new Arena()
  #blocks: { tag: number; time: number; value: Bytes | null }[] = []
  #entries: { store: Store; key: Bytes; value: Bytes | null }[] = []

  constructor(points: Store) {
    this.#points = points
  }

  get isEmpty(): boolean {
    return this.#blocks.length === 0 && this.#entries.length === 0
  }

  /** Stores the points with index from start to end as a block under its first time. */
  putBlock(tag: number, points: PointColumns, start = 0, end = points.times.length): void {
    const value = encodeBlock(this.#arena, points, start, end)
    this.#blocks.push({ tag, time: points.times[start]!, value })
  }

  /** Stores points as a block under another time than their first: TAIL. */
  putBlockAt(tag: number, time: number, points: PointColumns): void {
    this.#blocks.push({ tag, time, value: encodeBlock(this.#arena, points, 0, points.times.length) })
  }

  /** Stores the points of a block and later ones. */
  putAppended(tag: number, time: number, block: BlockView, points: PointColumns): void {
    this.#blocks.push({ tag, time, value: encodeAppended(this.#arena, block, points) })
  }

  removeBlock(tag: number, time: number): void {
    this.#blocks.push({ tag, time, value: null })
  }

  /** Stores an entry of another database than `points`; key and value are copied. */
  put(store: Store, key: Bytes, value: Bytes): void {
    this.#entries.push({ store, key: this.#arena.copy(key), value: this.#arena.copy(value) })
  }

  remove(store: Store, key: Bytes): void {
    this.#entries.push({ store, key: this.#arena.copy(key), value: null })
  }

  /**
   * Hands everything to lmdb-js as one batch, which it commits in one transaction on another thread. Resolves when the commit is
   * durable; rejects with CommitFailed when it failed, and then nothing was changed. Only afterwards may `reset` be called.
   */
  async apply(): Promise<void> {
    if (this.isEmpty) return
    try {
      await this.#points.batch(() => {
        for (const { store, key, value } of this.#entries) {
          if (value === null) store.remove(key)
          else store.put(key, value)
        }
        for (const { tag, time, value } of this.#blocks) {
          const key = writeBlockKey(KEY, tag, time)
          if (value === null) this.#points.remove(key)
          else this.#points.put(key, value)
        }
      })
    } catch (error) {
      throw new CommitFailed(await reasonOfFailure(error))
    }
  }

  reset(): void {
    this.#blocks = []
    this.#entries = []
    this.#arena.reset()
  }
}

const KEY = new Uint8Array(KEY_BYTES)
