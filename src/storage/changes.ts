import type { PointColumns } from '../series/columns.ts'
import { Arena } from './arena.ts'
import { type BlockView, encodeAppended, encodeBlock, joinChunks } from './block.ts'
import { KEY_BYTES, TAIL, writeBlockKey } from './block-key.ts'
import { ChunkList } from './chunk-list.ts'
import type { Bytes, Store } from './environment.ts'
import type { Stretch } from './stretch.ts'
import { type BlockSummary, encodePage } from './summary-page.ts'

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
  /** Its summary: `null` for one that has none, undefined for one that is removed, and for a tail. */
  readonly stretch: Stretch | null | undefined
}

/** New summaries of blocks by the time of their first point; `undefined` for a block that is removed. */
export type BlockSummaries = ReadonlyMap<number, Stretch | null | undefined>

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

  /** What comes after a mark means to the summaries of a tag. */
  summariesSince({ blocks }: ChangesMark, tag: number): BlockSummaries {
    const changed = new Map<number, Stretch | null | undefined>()
    for (let i = blocks; i < this.#blocks.length; i++) {
      const change = this.#blocks[i]!
      if (change.tag === tag && change.time !== TAIL) changed.set(change.time, change.stretch)
    }
    return changed
  }

  undo({ blocks, entries }: ChangesMark): void {
    this.#blocks.length = blocks
    this.#entries.length = entries
  }

  /** Stores points as one plain block under their first time. */
  putPlain(tag: number, points: PointColumns): void {
    const value = encodeBlock(this.#arena, points, 0, points.times.length)
    this.#blocks.push({ tag, time: points.times[0]!, value, stretch: null })
  }

  /** Stores points as the tail. */
  putTail(tag: number, points: PointColumns): void {
    const value = encodeBlock(this.#arena, points, 0, points.times.length)
    this.#blocks.push({ tag, time: TAIL, value, stretch: undefined })
  }

  /** Stores the points of a plain block and later ones in its place. */
  putAppended(tag: number, time: number, block: BlockView, points: PointColumns): void {
    const value = encodeAppended(this.#arena, block, points)
    this.#blocks.push({ tag, time, value, stretch: null })
  }

  /** Stores chunks as compressed blocks, each under its first time. */
  putChunks(tag: number, chunks: ChunkList, spread: boolean): void {
    for (const block of chunks.blocks(spread)) {
      const { block: value, stretch } = joinChunks(this.#arena, block)
      this.#blocks.push({ tag, time: stretch.firstTime, value, stretch })
    }
  }

  /** Stores points that are newer than all others as blocks of their own. */
  putNewest(tag: number, points: PointColumns): void {
    const chunks = new ChunkList(this.#arena)
    chunks.addPoints(points, false)
    this.putChunks(tag, chunks, false)
  }

  removeBlock(tag: number, time: number): void {
    this.#blocks.push({ tag, time, value: null, stretch: undefined })
  }

  /** Stores a page of summaries of a tag: under the time of its first block, or TAIL for the newest. */
  putPage(tag: number, time: number, blocks: readonly BlockSummary[]): void {
    const key = writeBlockKey(this.key(KEY_BYTES), tag, time)
    this.putOwned(this.#summaries, key, encodePage(this.#arena, blocks))
  }

  removePage(tag: number, time: number): void {
    this.#entries.push({
      store: this.#summaries,
      key: writeBlockKey(this.key(KEY_BYTES), tag, time),
      value: null,
    })
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
