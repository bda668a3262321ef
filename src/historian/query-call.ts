import { type ErrorBody, errorBodyOf, warningsField } from '../errors/error-body.ts'
import { outcomeOf, type Result } from '../errors/outcome.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { Warnings } from '../errors/warnings.ts'
import type { CallContext } from './contract.ts'
import { type Abortable, Deadline } from './deadline.ts'
import type { QueryParameters } from './query-parameters.ts'
import type { HistorianView } from './registry.ts'

/** What a search or a look at the tree of names is made in. */
export interface QueryCall {
  /** The historians that the caller's key may see. */
  readonly historians: HistorianView
  readonly deadlineSeconds: number
  /** Aborted when the client goes away. */
  readonly signal: Abortable
}

/**
 * The answer to a call with query parameters, within its deadline, with a warning of each parameter that is not among
 * `fields`; `apikey` is passed over. A TidemarkError of `read` becomes the answer, any other one is thrown.
 */
export async function answerQuery<Body extends object>(
  query: QueryParameters,
  fields: readonly string[],
  call: QueryCall,
  read: (context: CallContext) => Promise<Body>,
): Promise<Result<Body | ErrorBody>> {
  const deadline = new Deadline(call.signal, call.deadlineSeconds)
  try {
    const warnings = new Warnings()
    warnings.checkFields(query, fields, 'the query', ['apikey'])
    const body = await deadline.race(read({ signal: deadline.signal }))
    return { outcome: 'done', body: { ...body, ...warningsField(warnings) } }
  } catch (error) {
    if (!(error instanceof TidemarkError)) throw error
    return { outcome: outcomeOf(error), body: errorBodyOf(error), failures: [error] }
  } finally {
    deadline.done()
  }
}
