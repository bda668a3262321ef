import type { CallContext } from '../../historian/contract.ts'
import { errorOfIssue, notUnderstood, type UpstreamIssue } from './errors.ts'
import { type CallKind, type Instance, isObject } from './instance.ts'
import { timeText } from './wire.ts'

/** One labelled request of a multi call. */
export interface LabelRequest {
  readonly type: string
  /** Address there. */
  readonly tag: string
  readonly details: Readonly<Record<string, unknown>>
}

export interface AskOptions {
  readonly kind: CallKind
  /** The call's `now`, in microseconds; left out where the answers do not depend on it. */
  readonly now?: number
}

/**
 * Sends requests as the labels of one multi call and gives their results in the same order; `null` for a tag that does not
 * exist. Rejects when any of them failed for another reason: with what is wrong with the historian, as it is called here.
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
    requests: { ...requests },
  })
  const answer = await instance.read(kind, '/historian/multi', body, context)
  const { historian } = instance
  const { results } = answer.body
  const issues = new Map<string, UpstreamIssue>()
  for (const issue of answer.issues) if (issue.label !== null) issues.set(issue.label, issue)
  return requests.map((_, index) => {
    const label = String(index)
    const issue = issues.get(label)
    if (issue !== undefined) {
      if (issue.code === 'TAG_NOT_FOUND' || issue.code === 'INVALID_TAG_ADDRESS') return null
      throw errorOfIssue(historian, issue)
    }
    const result = isObject(results) && Object.hasOwn(results, label) ? results[label] : null
    if (!isObject(result)) throw notUnderstood(historian, `label ${label} has neither a result nor an error`)
    return result
  })
}
