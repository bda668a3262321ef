import { type Issue, issueOf } from './tidemark-error.ts'
import type { Warnings } from './warnings.ts'

/** The body of every error that has no shape of its own; printable as it is. */
export interface ErrorBody {
  readonly message: string
  readonly errors: readonly string[]
  /** The machine-readable twins of `errors`, in the same order; left out where `errors` is empty. */
  readonly issues?: readonly Issue[]
  readonly warnings?: readonly string[]
  /** Of a write of which everything was taken but so many points that are too old. */
  readonly tooOld?: number
}

/** A body with one sentence in `errors` for each issue. */
export function errorBody(message: string, issues: readonly Issue[], warnings?: Warnings): ErrorBody {
  return {
    message,
    errors: issues.map((issue) => issue.message),
    ...(issues.length > 0 && { issues }),
    ...warningsField(warnings),
  }
}

/** The body of a thrown error: its sentence as `message` and as the only one of `errors`. */
export function errorBodyOf(error: unknown, warnings?: Warnings): ErrorBody {
  const issue = issueOf(error)
  return errorBody(issue.message, [issue], warnings)
}

/** The field `warnings` for an answer, left out when there is none: spread into the body. */
export function warningsField(warnings: Warnings | undefined): { readonly warnings?: readonly string[] } {
  const sentences = warnings?.list() ?? []
  return sentences.length > 0 ? { warnings: sentences } : {}
}
