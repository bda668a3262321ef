import { REMEDIES } from '../errors/limits.ts'
import { type ErrorValues, fillIn, showInput } from '../errors/tidemark-error.ts'
import type { CallContext } from '../historian/contract.ts'
import type { HistorianView } from '../historian/registry.ts'
import { formatInstant } from '../time/format.ts'
import type { Instant } from '../time/instant.ts'
import type { ParsedLabel } from './call.ts'
import type { Breach, CallTotals } from './limit.ts'
import { longestRange } from './longest-range.ts'
import { type Plan, type PlannedLabel, type Planning, planCall, plannedLabels } from './plan.ts'
import { sumLoad } from './reads.ts'
import type { RequestSize } from './requests/request.ts'
import { type Item, LabelShares } from './shares.ts'

/** What is known after this time is answered: a historian may count slowly. */
const SEARCH_MS = 2_000

/** A call that a limit refuses. */
export interface RefusedCall {
  readonly plan: Plan
  readonly totals: CallTotals
  readonly planning: Planning
  readonly historians: HistorianView
  readonly context: CallContext
}

/**
 * What a caller can do about a breach, as the end of its sentence: the longest range that would be allowed, or what to
 * leave out. Fetches no points; a range that is too much for a historian is looked for with counts of shorter ones.
 */
export async function remedyOf(breach: Breach, call: RefusedCall): Promise<string> {
  switch (breach.code) {
    case 'LIMIT_REQUESTED_POINTS':
      return sizeRemedy(breach, 'points', call)
    case 'LIMIT_AGGREGATE_WINDOWS':
      return sizeRemedy(breach, 'windows', call)
    case 'LIMIT_EFFECTIVE_TAGS':
      return tagsRemedy(breach, call)
    case 'LIMIT_HISTORIAN_LOAD':
      return loadRemedy(breach, call)
    default:
      return ''
  }
}

/** More labels than a call may request points. */
export function crowdRemedy(breach: Breach): string {
  return severalCalls(breach)
}

async function sizeRemedy(breach: Breach, unit: keyof RequestSize, call: RefusedCall): Promise<string> {
  const shares = await sharesOf(call, (label) => [[label, label.size[unit]]])
  const heaviest = shares.heaviest[0]!
  const left = breach.limit - shares.without([heaviest])
  if (left < 1) return fewerLabels(breach, shares)
  const { parsed } = heaviest
  const { request, zone } = parsed
  const width = request.widthFor?.(left)
  if (width !== undefined)
    return width < 1 ? fewerLabels(breach, shares) : said('width', { most: width, label: nameOf(heaviest) })
  const range = await longestRange(request.range, async (to) => {
    const shorter = request.within?.({ from: request.range.from, to })
    if (shorter === undefined) return null
    return shorter.size({ points: left, windows: left }, zone)[unit] / left
  })
  if (range !== null) return rangeRemedy(parsed, range)
  return said(unit, { most: left, label: nameOf(heaviest) })
}

async function tagsRemedy(breach: Breach, call: RefusedCall): Promise<string> {
  const shares = await sharesOf(call, ({ reads }) =>
    reads.map(({ read }) => [`${read.historian}/${read.tag}`, 1]),
  )
  const heaviest = shares.heaviest[0]!
  const tags = shares.ownOf(heaviest)
  return tags > breach.limit ? said('tags', { label: nameOf(heaviest), tags }) : fewerLabels(breach, shares)
}

async function loadRemedy(breach: Breach, call: RefusedCall): Promise<string> {
  const { limit } = breach
  const { points, forMedian } = call.totals.load!
  if (forMedian > 0 && points - forMedian <= limit) return said('median', {})
  const shares = await sharesOf(call, ({ reads }) => reads.map((read) => [read, read.points]))
  const heaviest = shares.heaviest[0]!
  const rest = shares.without([heaviest])
  if (rest > limit) return fewerLabels(breach, shares)
  const range = await allowedRange(heaviest.parsed, limit - rest, call)
  if (range !== null) return rangeRemedy(heaviest.parsed, range)
  const isAlone = plannedLabels(call.plan).length === 1
  return isAlone ? said('calculation', { label: nameOf(heaviest) }) : fewerLabels(breach, shares)
}

function sharesOf(
  { plan, planning: { evaluation } }: RefusedCall,
  items: (label: PlannedLabel) => Iterable<Item>,
): Promise<LabelShares> {
  return LabelShares.of(plannedLabels(plan), items, () => evaluation.pause())
}

/** The longest range of a label that takes no more than so many points; `null` when even short ones take more. */
function allowedRange(
  label: ParsedLabel,
  points: number,
  { planning, historians, context }: RefusedCall,
): Promise<Instant | null> {
  const { request } = label
  const until = performance.now() + SEARCH_MS
  return longestRange(request.range, async (to) => {
    const shorter = request.within?.({ from: request.range.from, to })
    if (shorter === undefined) return null
    if (performance.now() > until) return Number.POSITIVE_INFINITY
    const plan = await planCall([{ ...label, request: shorter }], planning)
    const failures = await plan.reads.estimate(historians, points + 1, context, () =>
      planning.evaluation.pause(),
    )
    const [planned] = plannedLabels(plan)
    if (planned === undefined || failures.size > 0) return null
    const load = sumLoad(new Set(planned.reads))
    // Where counting stopped early it is unknown by how much it is too much.
    return load.capped ? Number.POSITIVE_INFINITY : load.points / Math.max(points, 1)
  })
}

function rangeRemedy({ label, request, zone }: ParsedLabel, to: Instant): string {
  const from = formatInstant(request.range.from, zone)
  return said('range', { label: showInput(JSON.stringify(label)), from, to: formatInstant(to, zone) })
}

/** Without the heaviest labels, where few are enough, else in several calls. */
function fewerLabels(breach: Breach, shares: LabelShares): string {
  const { heaviest } = shares
  for (let count = 1; count <= heaviest.length; count++) {
    const without = heaviest.slice(0, count)
    if (shares.without(without) <= breach.limit)
      return said('labels', { labels: without.map(nameOf).join(', ') })
  }
  return severalCalls(breach)
}

function severalCalls({ actual, limit }: Breach): string {
  return said('calls', { calls: Math.max(2, Math.ceil(actual / limit)) })
}

function nameOf({ parsed }: PlannedLabel): string {
  return showInput(JSON.stringify(parsed.label))
}

function said(remedy: keyof typeof REMEDIES, values: ErrorValues): string {
  return `; ${fillIn(REMEDIES[remedy], values)}`
}
