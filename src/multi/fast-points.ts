import { isVirtual } from '../calc/virtual/historians.ts'
import type { CallContext, Historian, TagMetadata } from '../historian/contract.ts'
import type { MaybePromise } from '../historian/maybe-promise.ts'
import type { HistorianView } from '../historian/registry.ts'
import { isAliases } from '../historian/visible-aliases.ts'
import type { PointColumns } from '../series/columns.ts'
import type { CallLabel, ParsedLabel } from './call.ts'
import type { ExecutedLabel } from './execute.ts'
import type { CallLimits } from './limit.ts'
import { noPoint } from './requests/request.ts'
import { pointAt, type ReadStatistics } from './source.ts'

/**
 * Fast path of calls for single raw points of tags alone, each tag once, as dashboards of current values make them:
 * without operators, plans and promises, most of which cost more than such a point. Any other
 * call (with a calculation, an alias, a label that fails, a limit near) takes the slow path, whose answer is the same;
 * the tests compare both.
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
  readonly labels: readonly ExecutedLabel[]
  readonly statistics: ReadStatistics
}

/** `null`, or a promise of `null`, when the call must take the slow path. */
export function answerPoints(call: FastCall): MaybePromise<FastAnswer | null> {
  const groups = groupsOf(call)
  if (groups === null) return null
  const answers = new Array<ExecutedLabel>(call.labels.length)
  const done: FastAnswer = {
    labels: answers,
    statistics: { points: call.labels.length, historianCalls: groups.length },
  }
  const waiting: Promise<boolean>[] = []
  for (const group of groups) {
    const read = answerGroup(group, answers, call.context)
    if (read === false) return null
    if (read instanceof Promise) waiting.push(read)
  }
  if (waiting.length === 0) return done
  return Promise.all(waiting).then((all) => (all.every((is) => is) ? done : null))
}

function groupsOf({ labels, historians, limits }: FastCall): readonly Group[] | null {
  const { requestedPoints, historianLoad, effectiveTags, tagNames } = limits
  if (
    labels.length === 0 ||
    labels.length > Math.min(requestedPoints, historianLoad, effectiveTags, tagNames)
  )
    return null
  const groups = new Map<string, Group>()
  let last: Group | undefined
  let lastName = ''
  const tags = new Set<string>()
  for (let i = 0; i < labels.length; i++) {
    const label = labels[i]!
    if (label.kind === 'invalid' || label.tree.kind !== 'tag' || label.request.plainPoint === undefined)
      return null
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
    if (tags.size === tags.add(tag).size) return null
    last.labels.push(label)
    last.places.push(i)
  }
  return [...groups.values()]
}

/** False when the slow path must find the error. */
function answerGroup(group: Group, answers: ExecutedLabel[], context: CallContext): MaybePromise<boolean> {
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
  { historian, labels, places }: Group,
  names: readonly string[],
  tags: readonly (TagMetadata | null)[],
  answers: ExecutedLabel[],
  context: CallContext,
): MaybePromise<boolean> {
  if (tags.includes(null)) return false
  const take = (points: PointColumns): true => {
    for (let i = 0; i < labels.length; i++) {
      const parsed = labels[i]!
      const point = pointAt(points, i) ?? noPoint(parsed.request.plainPoint!.at)
      const result = { kind: 'point', point } as const
      const states = tags[i]!.states
      answers[places[i]!] = states === undefined ? { parsed, result } : { parsed, states, result }
    }
    return true
  }
  const queries = labels.map(({ request }, i) => {
    const { find, at } = request.plainPoint!
    return { tag: names[i]!, find, at }
  })
  let found: ReturnType<Historian['readPoints']>
  try {
    found = historian.readPoints(queries, context)
  } catch {
    return false
  }
  return found instanceof Promise ? found.then(take, () => false) : take(found)
}
