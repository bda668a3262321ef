import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { errorOf, startThread, type ThreadEnded, type ThreadFailure } from '../background-thread.ts'
import { PointBatch } from '../blocks/point-batch.ts'
import { removeQuietly } from '../files/files.ts'
import { systemFiles } from '../files/system-files.ts'
import type { Packer, PartPacking } from './packer.ts'
import type { PartInfo, PartOrigin, Tombstone } from './part.ts'
import { TombstoneBuilder, type TombstoneColumns } from './tombstone-columns.ts'

export type ToThread =
  | { readonly kind: 'begin'; readonly folder: string; readonly name: string; readonly origin: PartOrigin }
  | {
      readonly kind: 'points'
      /** Of the batch. */
      readonly buffer: SharedArrayBuffer
      readonly entries: number
      readonly isOpen: boolean
    }
  | { readonly kind: 'finish'; readonly tombstones: TombstoneColumns }
  | { readonly kind: 'abandon' }

export type FromThread =
  /** The oldest batch that was sent may be filled again. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'done'; readonly info: PartInfo }
  | { readonly kind: 'abandoned' }
  | ThreadFailure

/** Batches: one is filled, one waits and one is read. */
const BATCHES = 3

/**
 * Packs on a thread of its own, which starts with the first part. A thread that ends before its time fails the part
 * under way, and the next one starts another thread.
 * @param folder  of the parts
 */
export function startPacker(folder: string): Packer {
  return new ThreadPacker(folder)
}

class ThreadPacker implements Packer {
  readonly #folder: string
  /** Memory that parts use one after the other. */
  #batches: readonly PointBatch[] | null = null
  #thread: Worker | null = null
  #packing: ThreadPacking | null = null

  constructor(folder: string) {
    this.#folder = folder
  }

  begin(name: string, origin: PartOrigin): PartPacking {
    if (this.#packing !== null) throw new Error('a part is being packed')
    const thread = this.#started()
    this.#batches ??= Array.from({ length: BATCHES }, () => new PointBatch())
    const packing = new ThreadPacking(thread, this.#batches, join(this.#folder, name), () => {
      this.#packing = null
      // The thread keeps no process alive that has nothing else to do.
      thread.unref()
    })
    this.#packing = packing
    thread.ref()
    thread.postMessage({ kind: 'begin', folder: this.#folder, name, origin } satisfies ToThread)
    return packing
  }

  async close(): Promise<void> {
    await this.#thread?.terminate()
    this.#thread = null
  }

  #started(): Worker {
    if (this.#thread !== null) return this.#thread
    // Little: what is sorted lies outside of the heap, in memory that is used again.
    const limits = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 256 }
    const thread = startThread<FromThread>(
      new URL('./thread.ts', import.meta.url),
      limits,
      'the thread that packs parts',
      {
        message: (message) => this.#packing?.take(message),
        exit: (ended, reason) => {
          if (this.#thread === ended) this.#thread = null
          this.#packing?.threadEnded(reason)
        },
      },
    )
    this.#thread = thread
    return thread
  }
}

class ThreadPacking implements PartPacking {
  readonly #thread: Worker
  readonly #path: string
  readonly #over: () => void
  readonly #free: PointBatch[]
  /** Batches that the thread has, the oldest first. */
  readonly #sent: PointBatch[] = []
  readonly #tombstones = new TombstoneBuilder()
  #failure: { readonly error: unknown } | null = null
  #info: PartInfo | null = null
  #isOver = false
  /** Called when the thread has said something. */
  #wake: (() => void) | null = null

  /**
   * @param path  of the part
   * @param over  called once, when the thread has done all that it was sent
   */
  constructor(thread: Worker, batches: readonly PointBatch[], path: string, over: () => void) {
    this.#path = path
    this.#thread = thread
    this.#free = [...batches]
    this.#over = over
  }

  async batch(): Promise<PointBatch> {
    for (;;) {
      if (this.#failure !== null) throw this.#failure.error
      const batch = this.#free.pop()
      if (batch !== undefined) {
        batch.clear()
        return batch
      }
      await this.#message()
    }
  }

  add(batch: PointBatch, isOpen: boolean): void {
    this.#sent.push(batch)
    this.#post({ kind: 'points', buffer: batch.buffer, entries: batch.entries, isOpen })
  }

  addTombstone({ tag, from, to, sequence }: Tombstone): void {
    this.#tombstones.add(tag, from, to, sequence)
  }

  async finish(): Promise<PartInfo> {
    const tombstones = this.#tombstones.sorted()
    const { tags, from, to, sequences } = tombstones
    this.#post({ kind: 'finish', tombstones }, [tags.buffer, from.buffer, to.buffer, sequences.buffer])
    for (;;) {
      if (this.#failure !== null) throw this.#failure.error
      if (this.#info !== null) return this.#info
      await this.#message()
    }
  }

  async abandon(): Promise<void> {
    this.#post({ kind: 'abandon' })
    while (!this.#isOver) await this.#message()
  }

  /** Takes what the thread says. */
  take(message: FromThread): void {
    switch (message.kind) {
      case 'taken':
        this.#free.push(this.#sent.shift()!)
        break
      case 'done':
        this.#info = message.info
        this.#end()
        break
      case 'abandoned':
        this.#end()
        break
      case 'error':
        this.#failure ??= { error: errorOf(message) }
        break
      default:
        message satisfies never
    }
    this.#wake?.()
  }

  /** Also what was written goes: a flush that fails again and again must not fill the disk. */
  threadEnded(error: ThreadEnded): void {
    this.#failure ??= { error }
    removeQuietly(systemFiles, this.#path)
    this.#end()
    this.#wake?.()
  }

  #end(): void {
    if (!this.#isOver) this.#over()
    this.#isOver = true
  }

  #post(message: ToThread, transferred: readonly ArrayBufferLike[] = []): void {
    if (!this.#isOver) this.#thread.postMessage(message, transferred as ArrayBuffer[])
  }

  #message(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    return promise
  }
}
