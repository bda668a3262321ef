import { CALL_LIMITS } from '../errors/limits.ts'
import type { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import type { Breach, CallLimits, CallTotals } from './limit.ts'
import { type Plan, plannedLabels } from './plan.ts'
import { sumLoad } from './reads.ts'

/** Labels of one text. */
const STEP_LABELS = 256

interface Explained {
  readonly totals: CallTotals
  readonly limits: CallLimits
  readonly reasons: readonly Breach[]
}

/**
 * The field `explain` of the answer to `"explain": true`, in texts that follow each other: what the call would need,
 * and whether the limits allow it. Labels are keys from outside: entries are joined as text, so that `__proto__` is a
 * label like any other.
 */
export async function explainTexts(
  plan: Plan,
  { totals, limits, reasons }: Explained,
  scheduler: CooperativeScheduler,
): Promise<readonly string[]> {
  const messages = JSON.stringify(reasons.map(({ message }) => message))
  const texts = [`{"allowed":${reasons.length === 0},"reasons":${messages},"requests":{`]
  const labels = plannedLabels(plan)
  for (let from = 0; from < labels.length; from += STEP_LABELS) {
    if (from > 0) await scheduler.yieldIfDue()
    const entries = labels.slice(from, from + STEP_LABELS).map(({ parsed, size, reads }) => {
      const pushDowns = reads.map(({ pushDown }) => pushDown).filter((pushDown) => pushDown !== null)
      const entry = {
        tags: [...new Set(reads.map(({ historian, tag }) => `${historian}/${tag}`))],
        requestedPoints: size.points,
        load: sumLoad(new Set(reads)).points,
        pushDowns: [...new Set(pushDowns)].sort(),
      }
      return `${JSON.stringify(parsed.label)}:${JSON.stringify(entry)}`
    })
    texts.push(`${from > 0 ? ',' : ''}${entries.join(',')}`)
  }
  const { requestedPoints, effectiveTags, aggregateWindows } = totals
  const ofCall = { requestedPoints, effectiveTags, load: totals.load?.points ?? 0, aggregateWindows }
  texts.push(`},"totals":${JSON.stringify(ofCall)},"limits":${JSON.stringify(explainedLimits(limits))}}`)
  return texts
}

/** The limits by the names of the totals that they bound. */
function explainedLimits(limits: CallLimits): Readonly<Record<string, number>> {
  const explained: Record<string, number> = {}
  for (const [name, limit] of Object.entries(CALL_LIMITS)) {
    if ('explain' in limit) explained[limit.explain] = limits[name as keyof CallLimits]
  }
  return explained
}
