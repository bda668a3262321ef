import { TidemarkError } from '../errors/tidemark-error.ts'
import type { CommitFailed } from './changes.ts'
import { Damage } from './damage.ts'
import { isPanic, reasonOf } from './environment.ts'

/** What is wrong while folding fails, without why. */
export const UNFOLDED = 'points cannot be moved from its journal into blocks'

/** The errors that callers of a historian get. */
export class HistorianErrors {
  readonly #historian: string

  constructor(historian: string) {
    this.#historian = historian
  }

  tagNotFound(tag: string): TidemarkError {
    const place = { tag: `${this.#historian}/${tag}` }
    return new TidemarkError('TAG_NOT_FOUND', { historian: this.#historian, tag }, { place })
  }

  tagExists(tag: string): TidemarkError {
    return new TidemarkError('TAG_EXISTS', { address: `${this.#historian}/${tag}` })
  }

  /** Of any change, as long as this process is not the owner. @param cause  why it is not, in words */
  notOwned(cause: string): TidemarkError {
    return this.#writeFailed(
      `there was no room to become the owner of its data, which are only read until there is: ${cause}`,
    )
  }

  takenOver(): TidemarkError {
    return this.#writeFailed('another process has taken its data over; end this one')
  }

  /** Of writes while folding fails and too much waits for it. @param cause  why it fails, in words */
  tooMuchWaits(cause: string): TidemarkError {
    return this.#writeFailed(`${UNFOLDED} (${cause}), and too many wait there`)
  }

  commitFailed({ cause }: CommitFailed): TidemarkError {
    return this.#writeFailed(reasonOf(cause), cause)
  }

  /** What a caller gets for an error that reading met: itself unless it is Damage or of lmdb. */
  ofRead(error: unknown): unknown {
    // Its sentence can hold the name of a tag, which is nothing that lmdb said.
    if (error instanceof TidemarkError) return error
    if (error instanceof Damage) return this.#corrupt(error.message, error)
    if (isPanic(error)) {
      const fields = { historian: this.#historian, reason: reasonOf(error) }
      return new TidemarkError('HISTORIAN_UNAVAILABLE', fields, { cause: error })
    }
    return isLmdbError(error) ? this.#corrupt(reasonOf(error), error) : error
  }

  #writeFailed(reason: string, cause?: unknown): TidemarkError {
    return new TidemarkError('WRITE_FAILED', { historian: this.#historian, reason }, { cause })
  }

  #corrupt(reason: string, cause: unknown): TidemarkError {
    return new TidemarkError('STORAGE_CORRUPT', { historian: this.#historian, reason }, { cause })
  }
}

/** Whether lmdb itself tells what it found in its file; not that it gave up, see isPanic. */
export function isLmdbError(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof TidemarkError || error instanceof Damage) return false
  return /MDB_/.test(error.message) && !isPanic(error)
}
