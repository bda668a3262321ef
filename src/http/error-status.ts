import type { ErrorKind } from '../errors/codes.ts'
import type { Outcome } from '../errors/outcome.ts'
import type { MultiOutcome } from '../multi/run.ts'

/**
 * The HTTP status of each kind of error: the only place that knows. A client never sees 499, which is there for the
 * log: it went away before its answer.
 */
const STATUS_OF_KIND = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  method: 405,
  'too-large': 413,
  silent: 408,
  'media-type': 415,
  'not-implemented': 501,
  limit: 400,
  cancelled: 499,
  corrupt: 500,
  bug: 500,
  overloaded: 503,
  rate: 429,
  unavailable: 503,
  deadline: 504,
} as const satisfies Record<ErrorKind, number>

/** A call that was carried out as it should, also when that was to say what is wrong with its entries. */
const STATUS_OF_OUTCOME = {
  ...STATUS_OF_KIND,
  done: 200,
  executed: 200,
  explained: 200,
  issues: 400,
  refused: 400,
} as const satisfies Record<ErrorKind | Outcome | MultiOutcome, number>

export function statusOfKind(kind: ErrorKind): number {
  return STATUS_OF_KIND[kind]
}

export function statusOfOutcome(outcome: Outcome | MultiOutcome): number {
  return STATUS_OF_OUTCOME[outcome]
}
