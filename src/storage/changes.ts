import type { PointColumns } from '../series/columns.ts'
import { Arena } from './arena.ts'
import { type BlockView, encodeAppended, encodeBlock, joinChunks, STEP_POINTS } from './block.ts'
import { KEY_BYTES, TAIL, writeBlockKey } from './block-key.ts'
import { ChunkList } from './chunk-list.ts'
import type { Bytes, Store } from './environment.ts'
import { encodeSummary } from './summary-entry.ts'

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

interface BlockChange {
  readonly tag: number
  readonly time: number
  /** `null` to remove the block. */
  readonly value: Bytes | null
  /** Its entry of `summaries`: `null` to remove it, undefined to leave what there is. */
  readonly summary: Bytes | null | undefined
}

/** A place in a change that is being worked out. */
export interface ChangesMark {
  readonly blocks: number
  readonly entries: number
}

/**
 * What one commit will change, worked out beforehand: entries to put and to remove, in order. Working it out may take many turns
 * of the event loop; `apply` is one turn, and so one lmdb transaction, all of it or nothing.
 */
export class Changes {
  readonly #points: Store
  readonly #summaries: Store
  readonly #arena = new Arena()
  #blocks: BlockChange[] = []
  #entries: { store: Store; key: Bytes; value: Bytes | null }[] = []

  constructor(points: Store, summaries: Store) {
    this.#points = points
    this.#summaries = summaries
  }

  get isEmpty(): boolean {
    return this.#blocks.length === 0 && this.#entries.length === 0
  }

  /** What was worked out so far; `undo` takes what comes after it back. */
  mark(): ChangesMark {
    return { blocks: this.#blocks.length, entries: this.#entries.length }
  }

  undo({ blocks, entries }: ChangesMark): void {
    this.#blocks.length = blocks
    this.#entries.length = entries
  }

  /** Stores points as one plain block under their first time. */
  putPlain(tag: number, points: PointColumns): void {
    const value = encodeBlock(this.#arena, points, 0, points.times.length)
    const summary = encodeSummary(this.#arena, null)
    this.#blocks.push({ tag, time: points.times[0]!, value, summary })
  }

  /** Stores points as the tail. */
  putTail(tag: number, points: PointColumns): void {
    const value = encodeBlock(this.#arena, points, 0, points.times.length)
    this.#blocks.push({ tag, time: TAIL, value, summary: undefined })
  }

  /** Stores the points of a plain block and later ones in its place. */
  putAppended(tag: number, time: number, block: BlockView, points: PointColumns): void {
    const value = encodeAppended(this.#arena, block, points)
    this.#blocks.push({ tag, time, value, summary: undefined })
  }

  /** Stores chunks as compressed blocks, each under its first time. */
  putChunks(tag: number, chunks: ChunkList, spread: boolean): void {
    for (const block of chunks.blocks(spread)) {
      const { block: value, stretch } = joinChunks(this.#arena, block)
      const summary = encodeSummary(this.#arena, stretch)
      this.#blocks.push({ tag, time: stretch.firstTime, value, summary })
    }
  }

  /** Stores points that are newer than all others: few as a step, many as compressed blocks. */
  putNewest(tag: number, points: PointColumns): void {
    if (points.times.length <= STEP_POINTS) {
      this.putPlain(tag, points)
      return
    }
    const chunks = new ChunkList()
    chunks.addPoints(points, false)
    this.putChunks(tag, chunks, false)
  }

  removeBlock(tag: number, time: number): void {
    this.#blocks.push({ tag, time, value: null, summary: time === TAIL ? undefined : null })
  }

  /** Stores an entry of another database than `points`; key and value are copied. */
  put(store: Store, key: Bytes, value: Bytes): void {
    this.#entries.push({ store, key: this.#arena.copy(key), value: this.#arena.copy(value) })
  }

  /** Stores an entry whose key and value lie in memory of this change (`key`, `arena`) and are not copied. */
  putOwned(store: Store, key: Bytes, value: Bytes): void {
    this.#entries.push({ store, key, value })
  }

  /** Memory for a key of so many bytes. */
  key(size: number): Bytes {
    const { bytes, offset } = this.#arena.allocate(size)
    return bytes.subarray(offset, offset + size)
  }

  /** Memory for values, in place until `reset`. */
  get arena(): Arena {
    return this.#arena
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
        for (const { tag, time, value, summary } of this.#blocks) {
          const key = writeBlockKey(KEY, tag, time)
          if (value === null) this.#points.remove(key)
          else this.#points.put(key, value)
          if (summary === null) this.#summaries.remove(key)
          else if (summary !== undefined) this.#summaries.put(key, summary)
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
