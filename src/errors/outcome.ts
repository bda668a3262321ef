import type { ErrorKind } from './codes.ts'
import type { TidemarkError } from './tidemark-error.ts'

/**
 * How an operation ended; http alone knows the status of each. `issues`: the request was checked and is invalid in
 * parts, all of which are listed. `refused`: it was invalid as a whole. Otherwise the kind of the error that ended it.
 */
export type Outcome = 'done' | 'issues' | 'refused' | ErrorKind

/** An answer in printable data, and how it came about. */
export interface Result<Body> {
  readonly outcome: Outcome
  readonly body: Body
  /** What went wrong behind the sentences of the body, for the log alone; left out when nothing did. */
  readonly failures?: readonly unknown[]
}

/** The outcome of a call that an error ended as a whole. */
export function outcomeOf(error: TidemarkError): Outcome {
  return error.kind === 'invalid' ? 'refused' : error.kind
}
