import { Worker } from 'node:worker_threads'
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
  | { readonly kind: 'close' }

export interface FromThread {
  readonly failure: {
    readonly message: string
    readonly code: string | null
    readonly syscall: string | null
    /** Of an append; `null` for any other call. */
    readonly isIntact: boolean | null
  } | null
}

/**
 * A device with a thread of its own, so that a sync waits behind nothing. Bytes must begin with shared memory
 * (GroupBuffer).
 */
export class ThreadDevice implements WalDevice {
  readonly #thread: Worker
  #waiting: { resolve(): void; reject(error: unknown): void; isAppend: boolean } | null = null
  #buffer: SharedArrayBuffer | null = null
  #ended: Error | null = null

  constructor() {
    this.#thread = new Worker(new URL('./thread.ts', import.meta.url), {
      // What the main thread needs of memory and options is nothing to this one.
      resourceLimits: { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 32 },
      execArgv: [],
    })
    this.#thread.unref()
    this.#thread.on('message', ({ failure }: FromThread) => {
      const waiting = this.#waiting
      this.#waiting = null
      this.#thread.unref()
      if (waiting === null) return
      if (failure === null) waiting.resolve()
      else waiting.reject(errorOf(failure))
    })
    const end = (error: Error) => {
      this.#ended = error
      const waiting = this.#waiting
      this.#waiting = null
      waiting?.reject(waiting.isAppend ? new AppendFailed(error, false) : error)
    }
    this.#thread.on('error', (error) => end(error as Error))
    this.#thread.on('exit', () => end(this.#ended ?? new Error('the thread of the log has ended')))
  }

  begin(path: string, folder: string, header: Uint8Array): Promise<void> {
    return this.#call({ kind: 'begin', path, folder, header })
  }

  append(bytes: Uint8Array, at: number): Promise<void> {
    const buffer = bytes.buffer as SharedArrayBuffer
    const isNew = buffer !== this.#buffer
    this.#buffer = buffer
    return this.#call({ kind: 'append', buffer: isNew ? buffer : null, length: bytes.length, at })
  }

  async close(): Promise<void> {
    if (this.#ended === null) await this.#call({ kind: 'close' })
    await this.#thread.terminate()
  }

  #call(message: ToThread): Promise<void> {
    return new Promise((resolve, reject) => {
      const isAppend = message.kind === 'append'
      if (this.#ended !== null) {
        reject(isAppend ? new AppendFailed(this.#ended, true) : this.#ended)
        return
      }
      // As long as it works the process does not end.
      this.#thread.ref()
      this.#waiting = { resolve, reject, isAppend }
      this.#thread.postMessage(message)
    })
  }
}

function errorOf({ message, code, syscall, isIntact }: NonNullable<FromThread['failure']>): Error {
  const error = Object.assign(new Error(message), code === null ? {} : { code, syscall })
  return isIntact === null ? error : new AppendFailed(error, isIntact)
}
