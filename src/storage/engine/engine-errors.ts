import { systemCode } from '../../errors/system-code.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { Damage } from '../damage.ts'
import { isDiskError } from '../files/files.ts'
import { reasonOf } from '../files/refusals.ts'
import { Superseded } from '../ownership/ownership.ts'

const REPLACED = 'its folder is not there any more, or another one is in its place'

/** The errors that callers of an embedded historian get. */
export class EngineErrors {
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
    return this.writeFailed(
      `there was no room to become the owner of its data, which are only read until there is: ${cause}`,
    )
  }

  superseded({ isFolderGone }: Superseded): TidemarkError {
    return this.writeFailed(
      isFolderGone
        ? `${REPLACED}: put it back, and start again`
        : 'another process owns its data now; end this one',
    )
  }

  writeFailed(reason: string, cause?: unknown): TidemarkError {
    return new TidemarkError('WRITE_FAILED', { historian: this.#historian, reason }, { cause })
  }

  outcomeUnknown(reason: string, cause: unknown): TidemarkError {
    return new TidemarkError('WRITE_OUTCOME_UNKNOWN', { historian: this.#historian, reason }, { cause })
  }

  corrupt(reason: string, cause: unknown): TidemarkError {
    return new TidemarkError('STORAGE_CORRUPT', { historian: this.#historian, reason }, { cause })
  }

  /** What is said of every read while a part of the log is damaged. */
  leftOut(reason: string): string {
    return `Historian ${this.#historian} reads without what is damaged of its log: ${reason}`
  }

  unavailable(cause: unknown): TidemarkError {
    const fields = { historian: this.#historian, reason: reasonOf(cause) }
    return new TidemarkError('HISTORIAN_UNAVAILABLE', fields, { cause })
  }

  /** What the caller of a change gets for an error met while it was written. */
  ofWriting(cause: unknown): TidemarkError {
    const reason =
      cause instanceof Superseded
        ? cause.isFolderGone
          ? REPLACED
          : 'another process became the owner of its data while they were written'
        : isDiskError(cause)
          ? 'the disk reported an error while they were written'
          : reasonOf(cause)
    return this.outcomeUnknown(reason, cause)
  }

  /** What the caller of a change gets for an error met before anything was written, or while it was not. */
  ofChange(error: unknown): unknown {
    if (error instanceof TidemarkError) return error
    if (error instanceof Damage) return this.ofRead(error)
    if (error instanceof Superseded) return this.superseded(error)
    return systemCode(error) === '' ? error : this.writeFailed(reasonOf(error), error)
  }

  /** What the caller of a read gets for an error that it met. */
  ofRead(error: unknown): unknown {
    if (error instanceof TidemarkError) return error
    if (error instanceof Damage) return this.corrupt(error.message, error)
    // An abort has a code of its own.
    return /^E[A-Z0-9]+$/.test(systemCode(error)) ? this.unavailable(error) : error
  }
}
