import type { Worker } from 'node:worker_threads'
import { errorOf, startThread, ThreadEnded, type ThreadFailure } from '../background-thread.ts'
import { AppendFailed, type WalDevice } from './device.ts'

export type ToThread =
  | { readonly kind: 'begin'; readonly path: string; readonly folder: string; readonly header: Uint8Array }
  | {
      readonly kind: 'append'
      /** The memory that groups are in from now on; `null` for that of the call before. */
      readonly buffer: SharedArrayBuffer | null
      readonly length: number
      readonly at: number
    }
  | { readonly kind: 'end' | 'close' }

export interface FromThread {
  readonly failure: {
    readonly cause: ThreadFailure
    /** Of an append; `null` for any other call. */
    readonly append: Pick<AppendFailed, 'isIntact' | 'wasWriting'> | null
  } | null
}

/**
 * A device with a thread of its own, so that a sync waits behind nothing. Bytes must begin with shared memory
 * (GroupBuffer). A thread that ends by itself fails the call under way, whose outcome is not known if it was an append,
 * and the next segment is begun by another one.
 */
export class ThreadDevice implements WalDevice {
  readonly #ended: (reason: ThreadEnded) => void
  #thread: Worker | null
  #waiting: { resolve(): void; reject(error: unknown): void; isAppend: boolean } | null = null
  #buffer: SharedArrayBuffer | null = null
  #hasSegment = false
  #isClosing = false

  /** @param ended  called when the thread has ended by itself, or cannot be started */
  constructor(ended: (reason: ThreadEnded) => void) {
    this.#ended = ended
    try {
      this.#thread = this.#start()
    } catch (error) {
      // The first segment begins with the next try.
      if (!(error instanceof ThreadEnded)) throw error
      this.#thread = null
    }
  }

  get hasSegment(): boolean {
    return this.#hasSegment
  }

  async begin(path: string, folder: string, header: Uint8Array): Promise<void> {
    this.#hasSegment = false
    this.#thread ??= this.#start()
    await this.#call({ kind: 'begin', path, folder, header })
    this.#hasSegment = true
  }

  async append(bytes: Uint8Array, at: number): Promise<void> {
    const buffer = bytes.buffer as SharedArrayBuffer
    const isNew = buffer !== this.#buffer
    const isWritten = this.#call({ kind: 'append', buffer: isNew ? buffer : null, length: bytes.length, at })
    // Only what was sent is known to the thread: from other memory it would write another group.
    if (this.#waiting !== null) this.#buffer = buffer
    await isWritten
  }

  async end(): Promise<void> {
    this.#hasSegment = false
    // One that has ended has closed its files.
    if (this.#thread !== null) await this.#call({ kind: 'end' })
  }

  async close(): Promise<void> {
    this.#isClosing = true
    if (this.#thread !== null) await this.#call({ kind: 'close' }).catch(() => {})
    await this.#thread?.terminate()
  }

  #start(): Worker {
    try {
      const thread = startThread<FromThread>(
        new URL('./thread.ts', import.meta.url),
        // What the main thread needs of memory and options is nothing to this one.
        { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 32 },
        'the thread of the log',
        {
          message: ({ failure }) => this.#settle(failure === null ? null : failed(failure)),
          exit: (_thread, reason) => this.#end(reason),
        },
      )
      thread.unref()
      return thread
    } catch (error) {
      if (error instanceof ThreadEnded) this.#ended(error)
      throw error
    }
  }

  /** Nothing of the thread runs any more: what follows is written behind nothing of its. */
  #end(reason: ThreadEnded): void {
    this.#thread = null
    this.#buffer = null
    this.#hasSegment = false
    if (!this.#isClosing) this.#ended(reason)
    this.#settle(this.#waiting?.isAppend === true ? new AppendFailed(reason, NOTHING_KNOWN) : reason)
  }

  #settle(error: Error | null): void {
    const waiting = this.#waiting
    this.#waiting = null
    this.#thread?.unref()
    if (error === null) waiting?.resolve()
    else waiting?.reject(error)
  }

  #call(message: ToThread): Promise<void> {
    return new Promise((resolve, reject) => {
      const isAppend = message.kind === 'append'
      if (this.#thread === null) {
        const reason = new ThreadEnded('the thread of the log', undefined)
        reject(isAppend ? new AppendFailed(reason, NOTHING_KNOWN) : reason)
        return
      }
      // As long as it works the process does not end.
      this.#thread.ref()
      this.#waiting = { resolve, reject, isAppend }
      try {
        this.#thread.postMessage(message)
      } catch (error) {
        // The thread knows nothing of it: nothing is written.
        this.#settle(
          isAppend ? new AppendFailed(error, { isIntact: true, wasWriting: true }) : (error as Error),
        )
      }
    })
  }
}

/** Of the append that the thread had when it ended. */
const NOTHING_KNOWN = { isIntact: false, wasWriting: false }

function failed({ cause, append }: NonNullable<FromThread['failure']>): Error {
  const error = errorOf(cause)
  return append === null ? error : new AppendFailed(error, append)
}
