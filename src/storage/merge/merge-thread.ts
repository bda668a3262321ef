import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { errorOf, startThread, type ThreadFailure } from '../background-thread.ts'
import { systemFiles } from '../files/system-files.ts'
import { tokenText } from '../ownership/ownership.ts'
import { type MergeOrder, type MergeResult, type Merger, MOST_OUTPUTS } from './merge.ts'
import { InputDamage, InputUnreadable, type UnreadableCode } from './merge-input.ts'

export type ToThread = { readonly kind: 'merge'; readonly order: MergeOrder } | { readonly kind: 'abort' }

export type FromThread =
  | { readonly kind: 'done'; readonly result: MergeResult }
  | { readonly kind: 'damage'; readonly part: string; readonly message: string }
  | {
      readonly kind: 'unreadable'
      readonly part: string
      readonly message: string
      readonly code: UnreadableCode
    }
  | ThreadFailure

/**
 * Merges on a thread of its own, which starts with the first merge. A thread that ends before its time fails the merge
 * under way, and the next merge starts another one.
 */
export function startMerger(): Merger {
  return new ThreadMerger()
}

interface Waiting {
  readonly order: MergeOrder
  resolve(result: MergeResult): void
  reject(error: unknown): void
}

class ThreadMerger implements Merger {
  #thread: Worker | null = null
  #waiting: Waiting | null = null

  merge(order: MergeOrder, signal: AbortSignal): Promise<MergeResult> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted()
      if (this.#waiting !== null) throw new Error('a merge is under way')
      const thread = this.#started()
      const abort = () => thread.postMessage({ kind: 'abort' } satisfies ToThread)
      signal.addEventListener('abort', abort, { once: true })
      const settle = () => {
        signal.removeEventListener('abort', abort)
        this.#waiting = null
        // The thread keeps no process alive that has nothing else to do.
        thread.unref()
      }
      this.#waiting = {
        order,
        resolve(result) {
          settle()
          resolve(result)
        },
        reject(error) {
          settle()
          reject(signal.aborted ? signal.reason : error)
        },
      }
      thread.ref()
      thread.postMessage({ kind: 'merge', order } satisfies ToThread)
    })
  }

  async close(): Promise<void> {
    await this.#thread?.terminate()
    this.#thread = null
  }

  #started(): Worker {
    if (this.#thread !== null) return this.#thread
    const limits = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 256 }
    const thread = startThread<FromThread>(
      new URL('./thread.ts', import.meta.url),
      limits,
      'the thread of merges',
      {
        message: (message) => this.#settle(message),
        exit: (ended, reason) => {
          if (this.#thread === ended) this.#thread = null
          if (this.#waiting === null) return
          removeOutputs(this.#waiting.order)
          this.#waiting.reject(reason)
        },
      },
    )
    this.#thread = thread
    return thread
  }

  #settle(message: FromThread): void {
    switch (message.kind) {
      case 'done':
        this.#waiting?.resolve(message.result)
        break
      case 'damage':
        this.#waiting?.reject(new InputDamage(message.part, message.message))
        break
      case 'unreadable':
        this.#waiting?.reject(new InputUnreadable(message.part, message.message, message.code))
        break
      case 'error':
        this.#waiting?.reject(errorOf(message))
        break
      default:
        message satisfies never
    }
  }
}

/** What a merge wrote that did not come to its end: one that fails again and again must not fill the disk. */
function removeOutputs({ folder, namePrefix, firstNumber }: MergeOrder): void {
  const first = `${namePrefix}${tokenText(firstNumber)}.part`
  const end = `${namePrefix}${tokenText(firstNumber + MOST_OUTPUTS)}.part`
  try {
    for (const name of systemFiles.list(folder)) {
      if (name >= first && name < end) systemFiles.remove(join(folder, name))
    }
  } catch {
    // No manifest names them: the next owner removes them.
  }
}
