import { type ErrorBody, errorBodyOf } from '../errors/error-body.ts'
import { type Fields, invalidField } from '../errors/fields.ts'
import { outcomeOf, type Result } from '../errors/outcome.ts'
import { type Issue, TidemarkError } from '../errors/tidemark-error.ts'
import type { CallContext } from '../historian/contract.ts'
import { type Abortable, withDeadline } from '../historian/deadline.ts'
import type { HistorianView } from '../historian/registry.ts'
import { withSuggestions } from '../historian/suggestions.ts'
import type { Instant } from '../time/instant.ts'
import type { TimeZone } from '../time/zone.ts'
import type { WriteLimits } from './limits.ts'

/** Context of a request that changes something, given by the caller (the route or the command). */
export interface WriteCall {
  /** The historians that the caller's key may see. */
  readonly historians: HistorianView
  /** Wall-clock time at arrival; `now` of requests that name none. */
  readonly now: Instant
  /** Zone of requests that name none. */
  readonly defaultZone: TimeZone
  /** From now; passing it ends the request with outcome 'deadline'. */
  readonly deadlineSeconds: number
  /** Aborted when the client goes away. */
  readonly signal: Abortable
  /** The defaults when left out. */
  readonly limits?: WriteLimits
}

/**
 * Does the work of a request under its deadline. A TidemarkError that the work throws ends the request as a whole;
 * other errors are bugs and pass through.
 * @param refusal the body of such an end
 */
export async function answer<Body, Answer = Result<Body>>(
  call: WriteCall,
  work: (context: CallContext) => Promise<Answer>,
  refusal: (error: TidemarkError) => Body,
): Promise<Answer | Result<Body>> {
  const deadline = withDeadline(call.signal, call.deadlineSeconds, 'WRITE_DEADLINE_EXCEEDED')
  try {
    const context = { signal: deadline.signal }
    return await suggested(await work(context), call, context)
  } catch (error) {
    if (!(error instanceof TidemarkError)) throw error
    return { outcome: outcomeOf(error), body: refusal(error), failures: [error] }
  } finally {
    deadline.done()
  }
}

/** An answer whose issues have the names that were probably meant where a tag or a historian does not exist. */
async function suggested<Answer>(
  done: Answer,
  { historians }: WriteCall,
  context: CallContext,
): Promise<Answer> {
  const { body } = (done ?? {}) as { readonly body?: { readonly issues?: readonly Issue[] } }
  const before = body?.issues ?? []
  const issues = before.length === 0 ? before : await withSuggestions(before, historians, context)
  return issues === before ? done : { ...done, body: { ...body, issues } }
}

/** The general error body with further fields, for `answer`. */
export function refusalWith<Extra extends object>(extra: Extra): (error: TidemarkError) => ErrorBody & Extra {
  return (error) => ({ ...errorBodyOf(error), ...extra })
}

/** The field `tags`: an array, whose entries are for the caller to check. */
export function readTags(fields: Fields): readonly unknown[] {
  const value = fields.tags
  if (Array.isArray(value)) return value
  throw invalidField('tags', value, 'an array of tag addresses')
}
