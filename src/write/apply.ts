import type { ErrorCode, ErrorKind } from '../errors/codes.ts'
import type { Outcome } from '../errors/outcome.ts'
import { type Issue, issue, TidemarkError } from '../errors/tidemark-error.ts'
import type { CallContext, Historian } from '../historian/contract.ts'
import { changedNothing } from '../historian/remote/change.ts'
import { reasonIn } from '../historian/remote/unavailable.ts'

/** The part of a checked request that belongs to one historian. */
export interface Step {
  readonly historian: Historian
  run(context: CallContext): Promise<void>
}

/**
 * - `done`: every historian did its part;
 * - `rejected`: the first one found an error that the check did not see, as another request changed it in
 *   between; nothing was changed anywhere;
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
  partial: 'WRITE_PARTIAL',
  unknown: 'WRITE_OUTCOME_UNKNOWN',
} as const
export const CHANGE_CODES = {
  done: 'CHANGE_DONE',
  failed: 'CHANGE_FAILED',
  partial: 'CHANGE_PARTIAL',
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

function failureIssue({ name, capabilities }: Historian, error: unknown, codes: PartCodes): Issue {
  const values = { historian: name }
  if (!(error instanceof TidemarkError)) {
    const code = changedNothing(error) ? codes.failed : codes.unknown
    return issue(code, { ...values, reason: 'the service log says why' })
  }
  // The historian itself knows what became of its part; its words are about points, whatever was changed.
  const outcome = REPORTED_AS[error.code]
  if (outcome !== undefined) return issue(codes[outcome], { ...values, reason: reasonIn(error, name) })
  // Without atomic requests a part of the points may have been taken before the failure.
  const isUntouched = isRejection(error) || changedNothing(error) || capabilities.atomicWrites === 'request'
  return issue(isUntouched ? codes.failed : codes.unknown, { ...values, reason: error.message })
}

/**
 * What became of a change of metadata that failed: its own error, but worded as a change where the driver's is about
 * points.
 */
export function changeError({ name }: Historian, error: unknown): unknown {
  const outcome = error instanceof TidemarkError ? REPORTED_AS[error.code] : undefined
  if (outcome === undefined) return error
  const reason = reasonIn(error as TidemarkError, name)
  return new TidemarkError(CHANGE_CODES[outcome], { historian: name, reason }, { cause: error })
}

const REPORTED_AS: { readonly [Code in ErrorCode]?: keyof PartCodes } = {
  WRITE_FAILED: 'failed',
  WRITE_PARTIAL: 'partial',
  WRITE_OUTCOME_UNKNOWN: 'unknown',
}

/** A change that was cut off by the deadline, or by a client that left, ends as such, whatever became of it. */
function outcomeOfFailure(error: unknown): Outcome {
  const cause = error instanceof TidemarkError && REPORTED_AS[error.code] !== undefined ? error.cause : error
  const kind = kindOf(cause) ?? kindOf(error) ?? 'bug'
  return kind === 'deadline' || kind === 'cancelled' ? kind : 'unavailable'
}

function kindOf(error: unknown): ErrorKind | null {
  return error instanceof TidemarkError ? error.kind : null
}
