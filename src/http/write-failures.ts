import { TidemarkError } from '../errors/tidemark-error.ts'

/** A failure is reported for so long when nobody writes any more. */
const TOLD_MS = 300_000

/**
 * The last failure of a change of each historian, until a change succeeds or five minutes are over. What the caller did
 * wrong, and what was cancelled, are none.
 */
export class WriteFailures {
  readonly #failures = new Map<string, { readonly at: number; readonly reason: string }>()

  succeeded(historian: string): void {
    if (this.#failures.size > 0) this.#failures.delete(historian)
  }

  failed(historian: string, error: unknown): void {
    if (!(error instanceof TidemarkError) || !isOfHistorian(error) || isUnreachable(error)) return
    this.#failures.set(historian, { at: performance.now(), reason: error.message })
  }

  /** Why changes fail; `null` when they do not, as far as is known. */
  of(historian: string): string | null {
    const failure = this.#failures.get(historian)
    return failure === undefined || performance.now() - failure.at > TOLD_MS ? null : failure.reason
  }
}

/**
 * Whether the historian could not be reached, which its next health check finds out by itself, also when it is over.
 */
function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as { readonly code?: unknown }
  return code === 'HISTORIAN_UNAVAILABLE' || isUnreachable(error.cause)
}

/** Kinds of errors that are about the historian and not about the call. */
export function isOfHistorian({ kind }: TidemarkError): boolean {
  return kind === 'unavailable' || kind === 'corrupt' || kind === 'deadline'
}
