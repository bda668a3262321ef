import { formatInstant } from '../time/format.ts'
import type { ParsedCall } from './call.ts'
import type { Breach, CallLimits, CallTotals } from './limit.ts'
import type { Plan } from './plan.ts'

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
    if (planned.kind === 'wrong') {
      errors.push(`${JSON.stringify(planned.label)}:${JSON.stringify(planned.issue.message)}`)
      issues.push(planned.issue)
      continue
    }
    const { understood, size, ledger } = planned
    const entry = {
      tags: ledger.tags(),
      requestedPoints: size.points,
      load: ledger.load().points,
      pushDowns: ledger.pushDowns(),
    }
    requests.push(`${JSON.stringify(understood.label)}:${JSON.stringify(entry)}`)
  }
  const { requestedPoints, effectiveTags, aggregateWindows } = totals
  const parts = [
    `"allowed":${breaches.length === 0}`,
    `"reasons":${JSON.stringify(breaches.map((breach) => breach.message))}`,
    `"requests":{${requests.join(',')}}`,
    `"totals":${JSON.stringify({ requestedPoints, effectiveTags, load: totals.load?.points ?? 0, aggregateWindows })}`,
    `"limits":${JSON.stringify({
      requestedPoints: limits.requestedPoints,
      effectiveTags: limits.effectiveTags,
      load: limits.historianLoad,
      aggregateWindows: limits.aggregateWindows,
    })}`,
  ]
  const warnings = parsed.warnings.list()
  const tail = [
    ...(issues.length > 0 ? [`"issues":${JSON.stringify(issues)}`] : []),
    ...(warnings.length > 0 ? [`"warnings":${JSON.stringify(warnings)}`] : []),
    `"now":${JSON.stringify(formatInstant(parsed.now, parsed.zone))}`,
  ]
  return `{"results":{},"errors":{${errors.join(',')}},"explain":{${parts.join(',')}},${tail.join(',')}}`
}
