import { REMEDIES } from '../errors/limits.ts'
import { type ErrorValues, fillIn, showInput } from '../errors/tidemark-error.ts'
import type { CallContext } from '../historian/contract.ts'
import type { HistorianView } from '../historian/registry.ts'
import { forEach } from '../scheduling/each.ts'
import { formatInstant } from '../time/format.ts'
import type { Instant } from '../time/instant.ts'
import type { ParsedLabel } from './call.ts'
import type { Breach, CallTotals } from './limit.ts'
import { longestRange } from './longest-range.ts'
import { type Plan, type PlannedLabel, type Planning, planCall, plannedLabels, totalsOf } from './plan.ts'
import { sumLoad } from './reads.ts'
import type { RequestSize } from './requests/request.ts'

/** What is known after this time is answered: a historian may count slowly. */
const SEARCH_MS = 2_000
/** Labels that are known as the heaviest. */
const HEAVIEST = 3

/** A call that a limit refuses. */
export interface RefusedCall {
  readonly plan: Plan
  readonly totals: CallTotals
  readonly planning: Planning
  readonly historians: HistorianView
  readonly context: CallContext
}

/** What a limit counts: of one label alone, and of a call. */
interface Measure {
  ofLabel(label: PlannedLabel): number
  ofCall(totals: CallTotals): number
}

const POINTS: Measure = {
  ofLabel: ({ size }) => size.points,
  ofCall: ({ requestedPoints }) => requestedPoints,
}
const WINDOWS: Measure = {
  ofLabel: ({ size }) => size.windows,
  ofCall: ({ aggregateWindows }) => aggregateWindows,
}
const TAGS: Measure = {
  ofLabel: ({ reads }) => new Set(reads.map(({ historian, tag }) => `${historian}/${tag}`)).size,
  ofCall: ({ effectiveTags }) => effectiveTags,
}
const LOAD: Measure = {
  ofLabel: ({ reads }) => sumLoad(new Set(reads)).points,
  ofCall: ({ load }) => load?.points ?? 0,
}

/**
 * What a caller can do about a breach, as the end of its sentence: the longest range that would be allowed, or what to
 * leave out. Fetches no points; a range that is too much for a historian is looked for with counts of shorter ones.
 */
export async function remedyOf(breach: Breach, call: RefusedCall): Promise<string> {
  switch (breach.code) {
    case 'LIMIT_REQUESTED_POINTS':
      return sizeRemedy(breach, 'points', await weighed(POINTS, call))
    case 'LIMIT_AGGREGATE_WINDOWS':
      return sizeRemedy(breach, 'windows', await weighed(WINDOWS, call))
    case 'LIMIT_EFFECTIVE_TAGS':
      return tagsRemedy(breach, await weighed(TAGS, call))
    case 'LIMIT_HISTORIAN_LOAD':
      return loadRemedy(breach, call)
    default:
      return ''
  }
}

async function sizeRemedy(breach: Breach, unit: keyof RequestSize, call: WeighedCall): Promise<string> {
  const label = call.heaviest[0]!
  const left = breach.limit - (await without(1, call))
  if (left < 1) return fewerLabels(breach, call)
  const { parsed } = label
  const { request, zone } = parsed
  const width = request.widthFor?.(left)
  if (width !== undefined)
    return width < 1 ? fewerLabels(breach, call) : said('width', { most: width, label: nameOf(label) })
  const range = await longestRange(request.range, async (to) => {
    const shorter = request.within?.({ from: request.range.from, to })
    if (shorter === undefined) return null
    return shorter.size({ points: left, windows: left }, zone)[unit] / left
  })
  if (range !== null) return rangeRemedy(parsed, range)
  return said(unit, { most: left, label: nameOf(label) })
}

async function tagsRemedy(breach: Breach, call: WeighedCall): Promise<string> {
  const label = call.heaviest[0]!
  const tags = TAGS.ofLabel(label)
  return tags > breach.limit ? said('tags', { label: nameOf(label), tags }) : fewerLabels(breach, call)
}

async function loadRemedy(breach: Breach, refused: RefusedCall): Promise<string> {
  const { limit } = breach
  const withoutMedian = { withLoad: true, withMedian: false }
  const { load } = await totalsOf(refused.plan, withoutMedian, refused.planning.scheduler)
  if (load!.points <= limit) return said('median', {})
  const call = await weighed(LOAD, refused)
  const label = call.heaviest[0]!
  const rest = await without(1, call)
  if (rest > limit) return fewerLabels(breach, call)
  const range = await allowedRange(label.parsed, limit - rest, call)
  if (range !== null) return rangeRemedy(label.parsed, range)
  const isAlone = plannedLabels(call.plan).length === 1
  return isAlone ? said('calculation', { label: nameOf(label) }) : fewerLabels(breach, call)
}

/** A refused call with what its limit counts, and the labels that take most of it, the first above all. */
interface WeighedCall extends RefusedCall {
  readonly measure: Measure
  readonly heaviest: readonly PlannedLabel[]
}

async function weighed(measure: Measure, call: RefusedCall): Promise<WeighedCall> {
  let heaviest: { readonly label: PlannedLabel; readonly own: number }[] = []
  await forEach(plannedLabels(call.plan), call.planning.scheduler, (label) => {
    const own = measure.ofLabel(label)
    if (heaviest.length === HEAVIEST && own <= heaviest.at(-1)!.own) return
    heaviest = [...heaviest, { label, own }].sort((a, b) => b.own - a.own).slice(0, HEAVIEST)
  })
  return { ...call, measure, heaviest: heaviest.map(({ label }) => label) }
}

/** What the call would take without so many of its heaviest labels. */
async function without(count: number, call: WeighedCall): Promise<number> {
  const left = new Set<unknown>(call.heaviest.slice(0, count))
  const rest = { ...call.plan, labels: call.plan.labels.filter((label) => !left.has(label)) }
  return call.measure.ofCall(await totalsOf(rest, { withLoad: true }, call.planning.scheduler))
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
    const failures = await plan.reads.estimate(historians, points + 1, context, planning.scheduler)
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
async function fewerLabels(breach: Breach, call: WeighedCall): Promise<string> {
  for (let count = 1; count <= call.heaviest.length; count++) {
    if ((await without(count, call)) <= breach.limit)
      return said('labels', { labels: call.heaviest.slice(0, count).map(nameOf).join(', ') })
  }
  return severalCalls(breach)
}

/** What a caller can do about too many labels, whatever they are. */
export function severalCalls({ actual, limit }: Breach): string {
  return said('calls', { calls: Math.max(2, Math.ceil(actual / limit)) })
}

function nameOf({ parsed }: PlannedLabel): string {
  return showInput(JSON.stringify(parsed.label))
}

function said(remedy: keyof typeof REMEDIES, values: ErrorValues): string {
  return `; ${fillIn(REMEDIES[remedy], values)}`
}
