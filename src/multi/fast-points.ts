import { isVirtual } from '../calc/virtual/historians.ts'
import type { TagNode } from '../grammar/tree.ts'
import type { CallContext, Historian, TagMetadata } from '../historian/contract.ts'
import type { MaybePromise } from '../historian/maybe-promise.ts'
import type { HistorianView } from '../historian/registry.ts'
import { isAliases } from '../historian/visible-aliases.ts'
import type { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import { WideMap } from '../scheduling/wide-map.ts'
import type { PointColumns } from '../series/columns.ts'
import type { CallLabel, InvalidLabel, ParsedLabel } from './call.ts'
import type { ExecutedLabel } from './execute.ts'
import type { CallLimits } from './limit.ts'
import { issueOfLabel } from './plan.ts'
import { noPoint } from './requests/request.ts'
import { missingError } from './resolve.ts'
import { pointAt, type ReadStatistics } from './source.ts'

/**
 * Fast path of calls for single raw points of tags alone, each tag once, as dashboards of current values make them:
 * without operators, plans and promises, most of which cost more than such a point, and keep the garbage collector busy
 * where there are very many. Any other call (with a calculation, an alias, a label that fails, a limit near) takes the
 * slow path, whose answer is the same; the tests compare both. Among very many labels some may be invalid or name a tag
 * that does not exist: they get their errors here.
 */

/** The labels of one historian, with their places in the call. */
interface Group {
  readonly historian: Historian
  readonly labels: ParsedLabel[]
  readonly places: number[]
}

export interface FastCall {
  readonly labels: readonly CallLabel[]
  readonly historians: HistorianView
  readonly limits: CallLimits
  readonly context: CallContext
}

export interface FastAnswer {
  readonly labels: readonly (ExecutedLabel | InvalidLabel)[]
  readonly statistics: ReadStatistics
}

/** What labels are answered with, by their places in the call. */
interface Answers {
  readonly labels: (ExecutedLabel | InvalidLabel)[]
  readonly statistics: ReadStatistics
  /** Whether labels of tags that do not exist are answered, too. */
  readonly takesMissing: boolean
}

/** Labels of a long call that are read at once. */
const STEP_LABELS = 1_024
/** Such reads that are under way at once, where a historian takes its time. */
const MOST_READS = 8

/** `null`, or a promise of `null`, when the call must take the slow path. */
export function answerPoints(call: FastCall): MaybePromise<FastAnswer | null> {
  if (!isWithinLimits(call)) return null
  if (call.labels.some(({ kind }) => kind === 'invalid')) return null
  const tags = new Set<string>()
  const groups = groupsOf(call, 0, call.labels.length, (tag) => tags.size !== tags.add(tag).size)
  if (groups === null) return null
  const done: Answers = {
    labels: new Array(call.labels.length),
    statistics: { points: 0, historianCalls: 0 },
    takesMissing: false,
  }
  const waiting: Promise<boolean>[] = []
  for (const group of groups) {
    const read = answerGroup(group, done, call.context)
    if (read === false) return null
    if (read instanceof Promise) waiting.push(read)
  }
  if (waiting.length === 0) return done
  return Promise.all(waiting).then((all) => (all.every((is) => is) ? done : null))
}

/** The same of very many labels, in slices of the event loop. Rejects when the call has ended. */
export async function answerManyPoints(
  call: FastCall,
  scheduler: CooperativeScheduler,
): Promise<FastAnswer | null> {
  if (!isWithinLimits(call)) return null
  const { labels, context } = call
  // Nothing is read in vain for a calculation at the end.
  for (let i = 0; i < labels.length; i++) {
    const label = labels[i]!
    if (label.kind !== 'invalid' && !isSinglePoint(label)) return null
    if (i % STEP_LABELS === STEP_LABELS - 1) await scheduler.yieldIfDue()
  }
  const tags = new WideMap<number>()
  const isNew = (tag: string) => {
    const isKnown = tags.get(tag) !== undefined
    if (!isKnown) tags.set(tag, 1)
    return !isKnown
  }
  const answers: Answers = {
    labels: new Array(labels.length),
    statistics: { points: 0, historianCalls: 0 },
    takesMissing: true,
  }
  const waiting: Promise<boolean>[] = []
  for (let from = 0; from < labels.length; from += STEP_LABELS) {
    const to = Math.min(from + STEP_LABELS, labels.length)
    for (let i = from; i < to; i++) {
      const label = labels[i]!
      if (label.kind === 'invalid') answers.labels[i] = label
    }
    const groups = groupsOf(call, from, to, isNew)
    if (groups === null) return null
    for (const group of groups) {
      const read = answerGroup(group, answers, context)
      if (read === false) return null
      if (read instanceof Promise) waiting.push(read)
    }
    if (waiting.length >= MOST_READS && !(await Promise.all(waiting.splice(0))).every((is) => is)) return null
    await scheduler.yieldIfDue()
  }
  return (await Promise.all(waiting)).every((is) => is) ? answers : null
}

function isSinglePoint(label: CallLabel): label is ParsedLabel & { readonly tree: TagNode } {
  return label.kind === 'parsed' && label.tree.kind === 'tag' && label.request.plainPoint !== undefined
}

function isWithinLimits({ labels, limits }: FastCall): boolean {
  const { requestedPoints, historianLoad, effectiveTags, tagNames } = limits
  const most = Math.min(requestedPoints, historianLoad, effectiveTags, tagNames)
  return labels.length > 0 && labels.length <= most
}

/**
 * Groups of valid labels; `null` for the slow path.
 * @param isNew  tells of each tag whether it comes for the first time
 */
function groupsOf(
  { labels, historians }: FastCall,
  from: number,
  to: number,
  isNew: (tag: string) => boolean,
): readonly Group[] | null {
  const groups = new Map<string, Group>()
  let last: Group | undefined
  let lastName = ''
  for (let i = from; i < to; i++) {
    const label = labels[i]!
    if (label.kind === 'invalid') continue
    if (!isSinglePoint(label)) return null
    const { historian: name, name: tag } = label.tree
    if (last === undefined || name !== lastName) {
      lastName = name
      last = groups.get(name)
      if (last === undefined) {
        if (isVirtual(name) || isAliases(name)) return null
        const historian = historians.find(name)
        if (historian === null) return null
        last = { historian, labels: [], places: [] }
        groups.set(name, last)
      }
    }
    // A tag that is requested twice may be one read. Equal names of two historians only take the slow path.
    if (!isNew(tag)) return null
    last.labels.push(label)
    last.places.push(i)
  }
  return [...groups.values()]
}

/** False when the slow path must find the error. */
function answerGroup(group: Group, answers: Answers, context: CallContext): MaybePromise<boolean> {
  const { historian, labels } = group
  const names = labels.map(({ tree }) => (tree.kind === 'tag' ? tree.name : ''))
  let found: ReturnType<Historian['findTags']>
  try {
    found = historian.findTags(names, context)
  } catch {
    return false
  }
  if (found instanceof Promise) {
    return found.then(
      (tags) => readGroup(group, names, tags, answers, context),
      () => false,
    )
  }
  return readGroup(group, names, found, answers, context)
}

function readGroup(
  group: Group,
  names: readonly string[],
  tags: readonly (TagMetadata | null)[],
  answers: Answers,
  context: CallContext,
): MaybePromise<boolean> {
  const { historian, labels, places } = group
  if (tags.includes(null)) {
    return answers.takesMissing && readFound(group, names, tags, answers, context)
  }
  const take = (points: PointColumns): true => {
    for (let i = 0; i < labels.length; i++) {
      const parsed = labels[i]!
      const point = pointAt(points, i) ?? noPoint(parsed.request.plainPoint!.at)
      const result = { kind: 'point', point } as const
      const states = tags[i]!.states
      answers.labels[places[i]!] = states === undefined ? { parsed, result } : { parsed, states, result }
    }
    return true
  }
  const queries = labels.map(({ request }, i) => {
    const { find, at } = request.plainPoint!
    return { tag: names[i]!, find, at }
  })
  answers.statistics.points += labels.length
  answers.statistics.historianCalls++
  let found: ReturnType<Historian['readPoints']>
  try {
    found = historian.readPoints(queries, context)
  } catch {
    return false
  }
  return found instanceof Promise ? found.then(take, () => false) : take(found)
}

/** Answers the labels of tags that do not exist with their errors, and the others as ever. */
function readFound(
  { historian, labels, places }: Group,
  names: readonly string[],
  tags: readonly (TagMetadata | null)[],
  answers: Answers,
  context: CallContext,
): MaybePromise<boolean> {
  const rest = { historian, labels: [] as ParsedLabel[], places: [] as number[] }
  const [restNames, restTags] = [[] as string[], [] as TagMetadata[]]
  for (const [i, tag] of tags.entries()) {
    const parsed = labels[i]!
    if (tag === null) {
      const cause = missingError('TAG_NOT_FOUND', historian.name, names[i]!)
      const issue = issueOfLabel(cause, parsed)
      answers.labels[places[i]!] = { kind: 'invalid', label: parsed.label, issue, cause }
      continue
    }
    rest.labels.push(parsed)
    rest.places.push(places[i]!)
    restNames.push(names[i]!)
    restTags.push(tag)
  }
  return rest.labels.length === 0 || readGroup(rest, restNames, restTags, answers, context)
}
