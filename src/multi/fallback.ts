import type { ErrorCode } from '../errors/codes.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { CallLabel, InvalidLabel, ParsedLabel } from './call.ts'
import type { ExecutableLabel, ExecutedLabel } from './execute.ts'
import type { Breach } from './limit.ts'
import type { Plan, PlannedLabel } from './plan.ts'

/**
 * The labels of a call with the fallbacks of those that read too much: of all that read stored points one by one where
 * the call is over its load, and of each whose points would be too many to generate. `null` when there is none.
 */
export function withFallbacks(
  labels: readonly CallLabel[],
  plan: Plan,
  breaches: readonly Breach[],
): readonly CallLabel[] | null {
  const isOverLoad = breaches.some(({ code }) => code === 'LIMIT_HISTORIAN_LOAD')
  let isChanged = false
  const changed = labels.map((label, i) => {
    if (label.kind === 'invalid' || label.request.fallback === undefined) return label
    const planned = plan.labels[i]!
    const isTooMuch =
      planned.kind === 'invalid' ? isOverGenerated(planned.cause) : isOverLoad && readsRaw(planned)
    if (!isTooMuch) return label
    isChanged = true
    return { ...label, request: label.request.fallback }
  })
  return isChanged ? changed : null
}

/**
 * What a historian says that will not make a chart: its limits, or no such request where another instance is behind it.
 */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(['HISTORIAN_LIMIT', 'HISTORIAN_REFUSED'])

/**
 * The fallbacks of the labels that a historian refused to compute, which is known only when it was asked; each with the
 * index of its label. `null` when there is none.
 */
export function refusedFallbacks(
  labels: readonly (ExecutableLabel | InvalidLabel)[],
  outcomes: readonly (ExecutedLabel | InvalidLabel)[],
): ReadonlyMap<number, ParsedLabel> | null {
  const fallbacks = new Map<number, ParsedLabel>()
  outcomes.forEach((outcome, i) => {
    const label = labels[i]!
    if (!('issue' in outcome) || label.kind === 'invalid') return
    const { fallback } = label.parsed.request
    if (fallback !== undefined && REFUSALS.has(outcome.issue.code))
      fallbacks.set(i, { ...label.parsed, request: fallback })
  })
  return fallbacks.size === 0 ? null : fallbacks
}

function isOverGenerated(cause: unknown): boolean {
  return cause instanceof TidemarkError && cause.code === 'LIMIT_GENERATED_POINTS'
}

function readsRaw({ reads }: PlannedLabel): boolean {
  return reads.some(({ stored }) => stored !== null)
}
