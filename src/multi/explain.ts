import { CALL_LIMITS } from '../errors/limits.ts'
import { formatInstant } from '../time/format.ts'
import type { ParsedCall } from './call.ts'
import type { Breach, CallLimits, CallTotals } from './limit.ts'
import type { Plan } from './plan.ts'
import { type EstimatedRead, sumLoad } from './reads.ts'

/** Labels of one text. */
const STEP_LABELS = 256

interface Explained {
  readonly totals: CallTotals
  readonly limits: CallLimits
  readonly reasons: readonly Breach[]
}

/**
 * The answer to `"explain": true`, in texts that follow each other: what the call would need, and whether the limits
 * allow it. Nothing was fetched.
 */
export async function explainTexts(
  parsed: ParsedCall,
  plan: Plan,
  { totals, limits, reasons }: Explained,
  pause: () => Promise<void>,
): Promise<readonly string[]> {
  // Labels are keys from outside: entries are joined as text, so that `__proto__` is a label like any other.
  const requests = new JoinedTexts()
  const errors = new JoinedTexts()
  const issues = new JoinedTexts()
  for (const [i, planned] of plan.labels.entries()) {
    if (i % STEP_LABELS === STEP_LABELS - 1) await pause()
    if (planned.kind === 'invalid') {
      errors.add(`${JSON.stringify(planned.label)}:${JSON.stringify(planned.issue.message)}`)
      issues.add(JSON.stringify(planned.issue))
      continue
    }
    const { parsed, size, reads } = planned
    const entry = {
      tags: [...new Set(reads.map(({ read }) => `${read.historian}/${read.tag}`))],
      requestedPoints: size.points,
      load: sumLoad(new Set(reads)).points,
      pushDowns: pushDownsOf(reads),
    }
    requests.add(`${JSON.stringify(parsed.label)}:${JSON.stringify(entry)}`)
  }
  const { requestedPoints, effectiveTags, aggregateWindows } = totals
  const ofCall = { requestedPoints, effectiveTags, load: totals.load?.points ?? 0, aggregateWindows }
  const messages = JSON.stringify(reasons.map((breach) => breach.message))
  const warnings = parsed.warnings.list()
  return [
    '{"results":{},"errors":{',
    ...errors.texts,
    `},"explain":{"allowed":${reasons.length === 0},"reasons":${messages},"requests":{`,
    ...requests.texts,
    `},"totals":${JSON.stringify(ofCall)},"limits":${JSON.stringify(explainedLimits(limits))}},`,
    ...(issues.texts.length > 0 ? ['"issues":[', ...issues.texts, '],'] : []),
    ...(warnings.length > 0 ? [`"warnings":${JSON.stringify(warnings)},`] : []),
    `"now":${JSON.stringify(formatInstant(parsed.now, parsed.zone))}}`,
  ]
}

/** Texts with commas between them, joined to some that are worth a chunk. */
class JoinedTexts {
  readonly texts: string[] = []

  add(text: string): void {
    const last = this.texts.length - 1
    if (last < 0) this.texts.push(text)
    else if (this.texts[last]!.length < CHUNK_CHARACTERS) this.texts[last] += `,${text}`
    else this.texts.push(`,${text}`)
  }
}

const CHUNK_CHARACTERS = 65_536

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
