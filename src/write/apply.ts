import type { ErrorKind } from '../errors/codes.ts'
import type { Outcome } from '../errors/outcome.ts'
import { type Issue, issue, TidemarkError } from '../errors/tidemark-error.ts'
import type { CallContext, Historian } from '../historian/contract.ts'
import { wasNeverSent } from '../historian/remote/unavailable.ts'

/** The part of a checked request that belongs to one historian. */
export interface Step {
  readonly historian: Historian
  run(context: CallContext): Promise<void>
}

/**
 * - `done`: every historian did its part;
 * - `rejected`: the first one found something wrong that the check did not see, as another request changed it in between;
 *   nothing was changed anywhere;
 * - `failed`: a historian failed; the issues say of each one what became of its part.
 */
export type Applied =
  | { readonly kind: 'done' }
  | { readonly kind: 'rejected'; readonly error: TidemarkError }
  | {
      readonly kind: 'failed'
      readonly outcome: Outcome
      readonly issues: readonly Issue[]
      readonly failure: unknown
    }

/** The codes that say what became of a historian's part. */
export type PartCodes = typeof WRITE_CODES | typeof CHANGE_CODES

export const WRITE_CODES = {
  done: 'WRITE_DONE',
  failed: 'WRITE_FAILED',
  unknown: 'WRITE_OUTCOME_UNKNOWN',
} as const
export const CHANGE_CODES = {
  done: 'CHANGE_DONE',
  failed: 'CHANGE_FAILED',
  unknown: 'CHANGE_OUTCOME_UNKNOWN',
} as const

/**
 * Has the historians do their parts one after the other, and stops at the first that fails: in a row and not at once,
 * so that as little as possible is done of a request that fails.
 */
export async function applyAll(
  steps: readonly Step[],
  codes: PartCodes,
  context: CallContext,
): Promise<Applied> {
  context.signal.throwIfAborted()
  for (const [index, step] of steps.entries()) {
    try {
      await step.run(context)
    } catch (error) {
      if (index === 0 && isRejection(error)) return { kind: 'rejected', error }
      return {
        kind: 'failed',
        outcome: outcomeOfFailure(error),
        issues: steps.map(({ historian }, other) => {
          const values = { historian: historian.name }
          if (other < index) return issue(codes.done, values)
          if (other === index) return failureIssue(historian, error, codes)
          const reason = `historian ${step.historian.name} failed before its turn came`
          return issue(codes.failed, { ...values, reason })
        }),
        failure: error,
      }
    }
  }
  return { kind: 'done' }
}

/** Kinds of errors that say what is wrong with a request; a driver throws them before it changes anything. */
const REJECTIONS: readonly ErrorKind[] = ['invalid', 'not-found', 'forbidden', 'limit', 'too-large']

function isRejection(error: unknown): error is TidemarkError {
  return error instanceof TidemarkError && REJECTIONS.includes(error.kind)
}

function failureIssue(historian: Historian, error: unknown, codes: PartCodes): Issue {
  const known = error instanceof TidemarkError
  const reason = known ? error.message : 'the service log says why'
  const values = { historian: historian.name, reason }
  // The historian itself knows what became of its part, and has said it in a whole sentence.
  if (known && error.code === 'WRITE_PARTIAL') return { code: error.code, message: error.message }
  if (known && error.code === 'WRITE_OUTCOME_UNKNOWN') {
    if (codes.unknown === error.code) return { code: error.code, message: error.message }
    return issue(codes.unknown, { ...values, reason: 'it was cut off while it made them' })
  }
  // Without atomic requests a part of the points may have been taken before the failure.
  const isUntouched =
    isRejection(error) || wasNeverSent(error) || (known && historian.capabilities.atomicWrites === 'request')
  return issue(isUntouched ? codes.failed : codes.unknown, values)
}

function outcomeOfFailure(error: unknown): Outcome {
  const kind = error instanceof TidemarkError ? error.kind : 'bug'
  return kind === 'deadline' || kind === 'cancelled' ? kind : 'unavailable'
}
