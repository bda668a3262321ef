import { CALL_LIMITS } from '../errors/limits.ts'
import { formatInstant } from '../time/format.ts'
import type { ParsedCall } from './call.ts'
import type { Breach, CallLimits, CallTotals } from './limit.ts'
import type { Plan } from './plan.ts'
import { type EstimatedRead, sumLoad } from './reads.ts'

/** The answer to `"explain": true`: what the call would need, and whether the limits allow it. Nothing was fetched. */
export function explainText(
  parsed: ParsedCall,
  plan: Plan,
  totals: CallTotals,
  limits: CallLimits,
  breaches: readonly Breach[],
): string {
  // Labels are keys from outside: entries are joined as text, so that `__proto__` is a label like any other.
  const requests: string[] = []
  const errors: string[] = []
  const issues: unknown[] = []
  for (const planned of plan.labels) {
    if (planned.kind === 'invalid') {
      errors.push(`${JSON.stringify(planned.label)}:${JSON.stringify(planned.issue.message)}`)
      issues.push(planned.issue)
      continue
    }
    const { parsed, size, reads } = planned
    const entry = {
      tags: [...new Set(reads.map(({ read }) => `${read.historian}/${read.tag}`))],
      requestedPoints: size.points,
      load: sumLoad(new Set(reads)).points,
      pushDowns: pushDownsOf(reads),
    }
    requests.push(`${JSON.stringify(parsed.label)}:${JSON.stringify(entry)}`)
  }
  const { requestedPoints, effectiveTags, aggregateWindows } = totals
  const parts = [
    `"allowed":${breaches.length === 0}`,
    `"reasons":${JSON.stringify(breaches.map((breach) => breach.message))}`,
    `"requests":{${requests.join(',')}}`,
    `"totals":${JSON.stringify({ requestedPoints, effectiveTags, load: totals.load?.points ?? 0, aggregateWindows })}`,
    `"limits":${JSON.stringify(explainedLimits(limits))}`,
  ]
  const warnings = parsed.warnings.list()
  const tail = [
    ...(issues.length > 0 ? [`"issues":${JSON.stringify(issues)}`] : []),
    ...(warnings.length > 0 ? [`"warnings":${JSON.stringify(warnings)}`] : []),
    `"now":${JSON.stringify(formatInstant(parsed.now, parsed.zone))}`,
  ]
  return `{"results":{},"errors":{${errors.join(',')}},"explain":{${parts.join(',')}},${tail.join(',')}}`
}

/** What historians compute themselves for a label. */
function pushDownsOf(reads: readonly EstimatedRead[]): readonly string[] {
  const pushDowns = reads.map(({ read }) => read.pushDown).filter((pushDown) => pushDown !== null)
  return [...new Set(pushDowns)].sort()
}

/** The limits by the names of the totals that they bound. */
function explainedLimits(limits: CallLimits): Readonly<Record<string, number>> {
  const explained: Record<string, number> = {}
  for (const [name, limit] of Object.entries(CALL_LIMITS)) {
    if ('explain' in limit) explained[limit.explain] = limits[name as keyof CallLimits]
  }
  return explained
}
