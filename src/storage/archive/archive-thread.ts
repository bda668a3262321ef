import type { Worker } from 'node:worker_threads'
import { startThread } from '../background-thread.ts'
import type { Files } from '../files/files.ts'
import type { RecordRange } from '../wal/counted.ts'
import type { ArchiveMark } from './archive-file.ts'
import { type ArchiveOrder, type ArchivePlace, archiveSegment, writeMark } from './archive-segment.ts'

/** Writes to an archive, which may be slow or stand still: nobody else waits for it. One call at a time. */
export interface ArchiveWriter {
  /** As `archiveSegment`. */
  archive(order: ArchiveOrder): Promise<RecordRange | null>
  mark(place: ArchivePlace, mark: ArchiveMark): Promise<void>
  close(): Promise<void>
}

export type ToThread =
  | { readonly kind: 'archive'; readonly order: ArchiveOrder }
  | { readonly kind: 'mark'; readonly place: ArchivePlace; readonly mark: ArchiveMark }

export interface FromThread {
  /** What `archiveSegment` gave; `null` otherwise. */
  readonly gap: RecordRange | null
  /** `null` for success. */
  readonly failure: { readonly name: string; readonly message: string; readonly code: string | null } | null
}

/** Writes on the thread of the caller: for tests with files of their own. */
export function inlineArchiveWriter(files: Files): ArchiveWriter {
  return {
    archive: async (order) => archiveSegment(files, order),
    mark: async (place, mark) => writeMark(files, place, mark),
    close: async () => {},
  }
}

/** Writes on a thread of its own, which starts with the first call, and anew after it has ended. */
export function startArchiveWriter(): ArchiveWriter {
  return new ThreadArchiveWriter()
}

class ThreadArchiveWriter implements ArchiveWriter {
  #thread: Worker | null = null
  #waiting: { resolve(gap: RecordRange | null): void; reject(error: unknown): void } | null = null

  archive(order: ArchiveOrder): Promise<RecordRange | null> {
    return this.#call({ kind: 'archive', order })
  }

  async mark(place: ArchivePlace, mark: ArchiveMark): Promise<void> {
    await this.#call({ kind: 'mark', place, mark })
  }

  async close(): Promise<void> {
    await this.#thread?.terminate()
    this.#thread = null
  }

  #call(message: ToThread): Promise<RecordRange | null> {
    return new Promise((resolve, reject) => {
      if (this.#waiting !== null) throw new Error('the archive is being written to')
      const thread = this.#started()
      this.#waiting = { resolve, reject }
      thread.postMessage(message)
    })
  }

  #started(): Worker {
    if (this.#thread !== null) return this.#thread
    // It looks at all names of the archive of a historian, which nobody may have tidied up for years: 100 bytes each.
    const limits = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 1_024 }
    const thread = startThread<FromThread>(
      new URL('./thread.ts', import.meta.url),
      limits,
      'the thread of the archive',
      {
        message: ({ failure, gap }) => this.#settle(failure === null ? null : errorOf(failure), gap),
        exit: (ended, reason) => {
          if (this.#thread === ended) this.#thread = null
          this.#settle(reason, null)
        },
      },
    )
    this.#thread = thread
    // What is not archived now is archived after the next start.
    thread.unref()
    return thread
  }

  #settle(error: unknown, gap: RecordRange | null): void {
    const waiting = this.#waiting
    this.#waiting = null
    if (error === null) waiting?.resolve(gap)
    else waiting?.reject(error)
  }
}

function errorOf({ name, message, code }: NonNullable<FromThread['failure']>): Error {
  return Object.assign(new Error(message), { name }, code === null ? {} : { code })
}
