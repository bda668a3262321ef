import { type ErrorBody, errorBodyOf } from '../errors/error-body.ts'
import { HintBudget } from '../errors/hint-budget.ts'
import { outcomeOf, type Result } from '../errors/outcome.ts'
import { type Issue, showInput, TidemarkError } from '../errors/tidemark-error.ts'
import type { Warnings } from '../errors/warnings.ts'
import type { CallContext } from '../historian/contract.ts'
import { type Abortable, withDeadline } from '../historian/deadline.ts'
import type { HistorianView } from '../historian/registry.ts'
import { withSuggestions } from '../historian/suggestions.ts'
import type { Instant } from '../time/instant.ts'
import { invalidTime } from '../time/invalid-time.ts'
import { parseTime } from '../time/parse.ts'
import { parseTimeZone, type TimeZone } from '../time/zone.ts'
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

/** A JSON object as it was parsed. */
export type Fields = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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

/** The body as an object whose unknown fields are warned about; otherwise the request is refused. */
export function readBody(body: unknown, known: readonly string[], warnings: Warnings): Fields {
  if (!isObject(body)) {
    throw refused(`The body is ${showInput(body)}: an object with ${known[0]} is expected`)
  }
  warnings.checkFields(body, known, 'the call')
  return body
}

/** `now` and `timeZone` of the body, as in a multi call: left out or null is the call's own. */
export function readClock(
  fields: Fields,
  call: WriteCall,
): { readonly now: Instant; readonly zone: TimeZone } {
  const zone = readZone(fields.timeZone, call.defaultZone)
  const input = fields.now ?? null
  if (input === null) return { now: call.now, zone }
  const now = parseTime(input, { now: call.now, zone })
  if (now === null) throw invalidTime(input, 'now', { now: call.now, zone, hints: new HintBudget() })
  return { now, zone }
}

function readZone(input: unknown, defaultZone: TimeZone): TimeZone {
  if (input === undefined || input === null) return defaultZone
  const zone = typeof input === 'string' ? parseTimeZone(input) : null
  if (zone !== null) return zone
  const shown = showInput(input)
  throw new TidemarkError('INVALID_TIME_ZONE', { input: shown }, { place: { input: shown } })
}

/** A field that is true or false; left out it is false. */
export function readFlag(fields: Fields, name: string): boolean {
  const value = fields[name] === undefined ? false : fields[name]
  if (typeof value === 'boolean') return value
  throw refused(`Invalid ${name} ${showInput(value)}: true or false is expected`)
}

/** As `readFlag`, and null is false too; for switches that count only when they are true. */
export function readOptionalFlag(fields: Fields, name: string): boolean {
  return fields[name] === null ? false : readFlag(fields, name)
}

/** A field that must be an object, such as the one of points by tag. */
export function readObject(fields: Fields, name: string, expected: string): Fields {
  const value = fields[name]
  if (isObject(value)) return value
  throw refused(`Invalid ${name} ${showInput(value)}: ${expected} is expected`)
}

/** The field `tags`: an array, whose entries are for the caller to check. */
export function readTags(fields: Fields): readonly unknown[] {
  const value = fields.tags
  if (Array.isArray(value)) return value
  throw refused(`Invalid tags ${showInput(value)}: an array of tag addresses is expected`)
}

export function refused(message: string): TidemarkError {
  return new TidemarkError('INVALID_REQUEST', { message })
}
