import { isObject } from '../../errors/fields.ts'
import { leftOutPrefix } from '../../errors/left-out.ts'
import type { CallContext } from '../../historian/contract.ts'
import { damagedThere, errorOfIssue, notUnderstood, shortened, type UpstreamIssue } from './errors.ts'
import type { Answer, CallKind, Instance } from './instance.ts'
import { timeText } from './wire.ts'

/** One labelled request of a multi call. */
export interface LabelRequest {
  readonly type: string
  /** Address there. */
  readonly tag: string
  readonly details: Readonly<Record<string, unknown>>
  /** Whether the answer may lack points that are damaged there; they are then named in its `missing`. */
  readonly partial?: true
}

export interface AskOptions {
  readonly kind: CallKind
  /** The call's `now`, in microseconds; left out where the answers do not depend on it. */
  readonly now?: number
}

/**
 * Sends requests as the labels of one multi call and gives their results in the same order; `null` for a tag that does
 * not exist. Rejects when any of them failed for another reason: with what is wrong with the historian, as it is called
 * here.
 */
export async function ask(
  instance: Instance,
  requests: readonly LabelRequest[],
  { kind, now }: AskOptions,
  context: CallContext,
): Promise<readonly (Readonly<Record<string, unknown>> | null)[]> {
  if (requests.length === 0) return []
  const body = JSON.stringify({
    timeZone: 'UTC',
    format: 'columns',
    ...(now !== undefined && { now: timeText(now) }),
    // An array has its indexes for names.
    requests: { ...requests.map(({ type, tag, details }) => ({ type, tag, details })) },
  })
  const answer = await instance.read(kind, '/historian/multi', body, context)
  const { historian } = instance
  const { results, next, missing, warnings } = answer.body
  const issues = issuesByLabel(answer)
  const left = isObject(missing) ? missing : {}
  passOn(
    warnings,
    requests.filter((_, index) => Object.hasOwn(left, index)),
    instance,
    context,
  )
  return requests.map((request, index) => {
    const label = String(index)
    const issue = issues.get(label)
    if (issue !== undefined) {
      if (isMissingTag(issue)) return null
      throw errorOfIssue(historian, issue)
    }
    const result = isObject(results) && Object.hasOwn(results, label) ? results[label] : null
    if (!isObject(result)) throw notUnderstood(historian, `label ${label} has neither a result nor an error`)
    if (Object.hasOwn(left, label)) {
      if (request.partial !== true) throw damagedThere(historian)
      return { ...result, ...nextOf(next, label), missing: left[label] }
    }
    // Instances of before have it in the label.
    return { ...result, ...nextOf(next, label) }
  })
}

/**
 * What requests would read there, each on its own, in points; 0 for a tag that does not exist and `null` for more than
 * a call may read. Nothing is read. Rejects as `ask` does.
 */
export async function explainLoads(
  instance: Instance,
  requests: readonly LabelRequest[],
  context: CallContext,
): Promise<readonly (number | null)[]> {
  if (requests.length === 0) return []
  const body = JSON.stringify({
    timeZone: 'UTC',
    explain: true,
    requests: { ...requests.map(({ type, tag, details }) => ({ type, tag, details })) },
  })
  const answer = await instance.read('estimate', '/historian/multi', body, context)
  const { historian } = instance
  const issues = issuesByLabel(answer)
  const explain = isObject(answer.body.explain) ? answer.body.explain : {}
  const limits = isObject(explain.limits) ? explain.limits : {}
  return requests.map((_, index) => {
    const label = String(index)
    const issue = issues.get(label)
    if (issue !== undefined) {
      if (isMissingTag(issue)) return 0
      throw errorOfIssue(historian, issue)
    }
    const found = isObject(explain.requests) ? explain.requests[label] : null
    if (!isObject(found) || typeof found.load !== 'number' || typeof limits.load !== 'number')
      throw notUnderstood(historian, `label ${label} is not explained`)
    return found.load > limits.load ? null : found.load
  })
}

function issuesByLabel({ issues }: Answer): ReadonlyMap<string, UpstreamIssue> {
  return new Map(issues.flatMap((issue) => (issue.label === null ? [] : [[issue.label, issue] as const])))
}

function isMissingTag({ code }: UpstreamIssue): boolean {
  return code === 'TAG_NOT_FOUND' || code === 'INVALID_TAG_ADDRESS'
}

function nextOf(next: unknown, label: string): { readonly next?: unknown } {
  return isObject(next) && Object.hasOwn(next, label) ? { next: next[label] } : {}
}

/**
 * What the other instance says of its reads, but for points that are missing: those are said here by their own name.
 */
function passOn(
  warnings: unknown,
  partial: readonly LabelRequest[],
  { historian }: Instance,
  { warn }: CallContext,
): void {
  if (warn === undefined || !Array.isArray(warnings)) return
  const prefixes = partial.map(({ tag }) => leftOutPrefix(tag))
  for (const sentence of warnings) {
    if (typeof sentence !== 'string' || prefixes.some((prefix) => sentence.startsWith(prefix))) continue
    warn(`Historian ${historian}: ${shortened(sentence)}`)
  }
}
