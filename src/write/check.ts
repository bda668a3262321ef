import { type ErrorBody, errorBody, warningsField } from '../errors/error-body.ts'
import type { Result } from '../errors/outcome.ts'
import { type Issue, issueOf, type TidemarkError } from '../errors/tidemark-error.ts'
import type { Warnings } from '../errors/warnings.ts'
import type { Applied } from './apply.ts'
import type { IssueList } from './issues.ts'

/** `message` of an invalid request; the sentence is contract. */
export const ERRORS_IN_REQUEST = 'There were errors in the request'

/**
 * The answer to a request that its check found invalid, or could not finish as historians were out of reach.
 * @returns `null` when there is nothing against the request
 */
export function checkFailed(
  issues: IssueList,
  failures: readonly TidemarkError[],
  warnings: Warnings,
): Result<ErrorBody> | null {
  const [first] = failures
  if (first !== undefined) {
    const all = [...failures.map((failure) => issueOf(failure)), ...issues.list()]
    return { outcome: first.kind, body: errorBody(first.message, all, warnings), failures }
  }
  return issues.count === 0 ? null : issuesAnswer(issues.list(), warnings)
}

/** The answer to a request in which these issues were found. */
export function issuesAnswer(issues: readonly Issue[], warnings: Warnings): Result<ErrorBody> {
  return { outcome: 'issues', body: errorBody(ERRORS_IN_REQUEST, issues, warnings) }
}

/** The answer to a request that failed while it was applied. */
export function failedAnswer(
  applied: Applied & { readonly kind: 'failed' },
  message: string,
  warnings: Warnings,
): Result<ErrorBody> {
  const { outcome, issues, failure } = applied
  return { outcome, body: errorBody(message, issues, warnings), failures: [failure] }
}

/** The answer to a request that was applied. */
export function doneAnswer(message: string, warnings: Warnings): Result<ErrorBody> {
  return { outcome: 'done', body: { message, errors: [], ...warningsField(warnings) } }
}
