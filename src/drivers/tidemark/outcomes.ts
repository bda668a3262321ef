import { ERRORS, type ErrorCode, type ErrorKind } from '../../errors/codes.ts'
import type { Attempt } from '../../historian/remote/change.ts'
import type { UpstreamIssue } from './errors.ts'

/*
 * What an answer to a change says of what became of it. Only what the interface words as certain is: an answer of
 * something between here and there, or of a newer version, may stand for anything.
 */

/** Kinds of errors that are found before anything is changed. */
const BEFORE_ANY_CHANGE: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  'invalid',
  'unauthorized',
  'forbidden',
  'not-found',
  'method',
  'media-type',
  'too-large',
  'limit',
])

/** Codes of other kinds that say for certain that nothing, or nothing more, was changed. */
const CERTAIN: ReadonlySet<string> = new Set<ErrorCode>([
  'WRITE_FAILED',
  'WRITE_PARTIAL',
  'CHANGE_FAILED',
  'CHANGE_PARTIAL',
  'HISTORIAN_UNAVAILABLE',
  'KEYS_UNAVAILABLE',
  'OVERLOADED',
  'RATE_LIMITED',
])

/** Statuses with which something between here and there may have cut a request off after it was passed on. */
const UNCERTAIN_STATUSES: ReadonlySet<number> = new Set([408, 409, 425])

export function isOutcomeUnknown({ code }: UpstreamIssue): boolean {
  return code.endsWith('_OUTCOME_UNKNOWN')
}

/** Whether what an issue is about was for certain not changed. */
export function isCertain({ code }: UpstreamIssue): boolean {
  if (CERTAIN.has(code)) return true
  return Object.hasOwn(ERRORS, code) && BEFORE_ANY_CHANGE.has(ERRORS[code as ErrorCode].kind)
}

/** Tells the attempt what an answer says of it that is not 200. */
export function reportRefusal(attempt: Attempt, status: number, issues: readonly UpstreamIssue[]): void {
  // Beside points that are too old all others were taken.
  const isPartly = issues.some(({ code }) => code.endsWith('_PARTIAL') || code === 'POINT_TOO_OLD')
  if (isPartly) attempt.takenInPart()
  const isRefused =
    issues.length > 0
      ? issues.every(isCertain)
      : status >= 400 && status < 500 && !UNCERTAIN_STATUSES.has(status)
  if (isRefused) attempt.refused()
}
