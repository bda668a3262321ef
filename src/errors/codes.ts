import { ACCESS_ERRORS } from './codes/access-errors.ts'
import { COMMAND_ERRORS } from './codes/command-errors.ts'
import { DATA_ERRORS } from './codes/data-errors.ts'
import { HISTORIAN_ERRORS } from './codes/historian-errors.ts'
import { LIMIT_ERRORS } from './codes/limit-errors.ts'
import { REQUEST_ERRORS } from './codes/request-errors.ts'
import type { ErrorEntry } from './error-entry.ts'

export type { ErrorEntry, ErrorKind } from './error-entry.ts'

/**
 * Every error that Tidemark reports, in one table, of which codes/ has a file for each subject. A code is stable:
 * clients branch on it, so it is never reused for something else. `text` is a template over the values given when it
 * is thrown; where docs quote a sentence it is contract, letter by letter. `kind` alone decides the HTTP status
 * (src/http/error-status.ts).
 */
export const ERRORS = {
  ...DATA_ERRORS,
  ...REQUEST_ERRORS,
  ...ACCESS_ERRORS,
  ...LIMIT_ERRORS,
  ...HISTORIAN_ERRORS,
  ...COMMAND_ERRORS,
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof ERRORS
