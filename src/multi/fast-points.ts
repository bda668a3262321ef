import { isVirtual } from '../calc/virtual/historians.ts'
import type { TagNode } from '../grammar/tree.ts'
import type { CallContext, Historian, TagMetadata } from '../historian/contract.ts'
import type { MaybePromise } from '../historian/maybe-promise.ts'
import type { HistorianView } from '../historian/registry.ts'
import { isAliases } from '../historian/visible-aliases.ts'
import type { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import { WideMap } from '../scheduling/wide-map.ts'
import { type CallLabel, failedLabel, type InvalidLabel, type ParsedLabel } from './call.ts'
import type { ExecutedLabel } from './execute.ts'
import type { CallLimits } from './limit.ts'
import { noPoint } from './requests/request.ts'
import { missingError } from './resolve.ts'
import { pointAt, type ReadStatistics } from './source.ts'

/**
 * Fast path of calls for single raw points of tags alone, each tag once, as dashboards of current values make them:
 * without operators, plans and promises, most of which cost more than such a point, and keep the garbage collector busy
 * where there are very many. Labels that are invalid or name a tag that does not exist get their errors here. Any other
 * call (with a calculation, an alias, a historian that fails, a limit near) takes the slow path, whose answer is the
 * same; the tests compare both.
 */

export interface FastCall {
  readonly labels: readonly CallLabel[]
  readonly historians: HistorianView
  readonly limits: CallLimits
  readonly context: CallContext
}

export interface FastAnswer {
  readonly labels: readonly (ExecutedLabel | InvalidLabel)[]
  readonly invalidLabels: number
  readonly statistics: ReadStatistics
}

/** Labels of a long call that are read at once. */
const STEP_LABELS = 1_024
/** Such reads that are under way at once, where a historian takes its time. */
const MOST_READS = 8

/** `null`, or a promise of `null`, when the call must take the slow path. */
export function answerPoints(call: FastCall): MaybePromise<FastAnswer | null> {
  if (!isWithinLimits(call)) return null
  const tags = new Set<string>()
  const reader = new PointReader(call, (tag) => tags.size !== tags.add(tag).size)
  const isRead = reader.read(0, call.labels.length)
  if (isRead instanceof Promise) return isRead.then((is) => (is ? reader : null))
  return isRead ? reader : null
}

/** The same of very many labels, in slices of the event loop. Rejects when the call has ended. */
export async function answerManyPoints(
  call: FastCall,
  scheduler: CooperativeScheduler,
): Promise<FastAnswer | null> {
  if (!isWithinLimits(call)) return null
  const { labels } = call
  // Nothing is read in vain for a calculation at the end.
  for (let i = 0; i < labels.length; i++) {
    const label = labels[i]!
    if (label.kind !== 'invalid' && !isSinglePoint(label)) return null
    if (i % STEP_LABELS === STEP_LABELS - 1) await scheduler.yieldIfDue()
  }
  const tags = new WideMap<number>()
  const reader = new PointReader(call, (tag) => {
    if (tags.get(tag) !== undefined) return false
    tags.set(tag, 1)
    return true
  })
  const waiting: Promise<boolean>[] = []
  for (let from = 0; from < labels.length; from += STEP_LABELS) {
    const isRead = reader.read(from, Math.min(from + STEP_LABELS, labels.length))
    if (isRead === false) return null
    if (isRead instanceof Promise) waiting.push(isRead)
    if (waiting.length >= MOST_READS && !(await areAll(waiting.splice(0)))) return null
    await scheduler.yieldIfDue()
  }
  return (await areAll(waiting)) ? reader : null
}

async function areAll(reads: readonly Promise<boolean>[]): Promise<boolean> {
  return (await Promise.all(reads)).every((isRead) => isRead)
}

function isSinglePoint(label: CallLabel): label is ParsedLabel & { readonly tree: TagNode } {
  return label.kind === 'parsed' && label.tree.kind === 'tag' && label.request.plainPoint !== undefined
}

function isWithinLimits({ labels, limits }: FastCall): boolean {
  const { requestedPoints, historianLoad, effectiveTags, tagNames } = limits
  const most = Math.min(requestedPoints, historianLoad, effectiveTags, tagNames)
  return labels.length > 0 && labels.length <= most
}

/** The labels of one historian, with their places in the call. */
interface Group {
  readonly historian: Historian
  readonly labels: ParsedLabel[]
  readonly names: string[]
  readonly places: number[]
}

/** Reads labels, historian by historian. */
class PointReader implements FastAnswer {
  /** By their places in the call. */
  readonly labels: (ExecutedLabel | InvalidLabel)[]
  invalidLabels = 0
  readonly statistics: ReadStatistics = { points: 0, historianCalls: 0 }
  readonly #call: FastCall
  readonly #isNew: (tag: string) => boolean

  /** @param isNew tells of each tag whether it comes for the first time */
  constructor(call: FastCall, isNew: (tag: string) => boolean) {
    this.labels = new Array(call.labels.length)
    this.#call = call
    this.#isNew = isNew
  }

  /** Answers some labels. False when the slow path must do so, or find the error. */
  read(from: number, to: number): MaybePromise<boolean> {
    const groups = this.#group(from, to)
    if (groups === null) return false
    const waiting: Promise<boolean>[] = []
    for (const group of groups.values()) {
      const isRead = this.#lookUp(group)
      if (isRead === false) return false
      if (isRead instanceof Promise) waiting.push(isRead)
    }
    return waiting.length === 0 || areAll(waiting)
  }

  /** Groups of valid labels; `null` for the slow path. */
  #group(from: number, to: number): ReadonlyMap<string, Group> | null {
    const { labels, historians } = this.#call
    const groups = new Map<string, Group>()
    let last: Group | undefined
    let lastName = ''
    for (let i = from; i < to; i++) {
      const label = labels[i]!
      if (label.kind === 'invalid') {
        this.labels[i] = label
        this.invalidLabels++
        continue
      }
      if (!isSinglePoint(label)) return null
      const { historian: name, name: tag } = label.tree
      if (last === undefined || name !== lastName) {
        lastName = name
        last = groups.get(name)
        if (last === undefined) {
          const historian = isVirtual(name) || isAliases(name) ? null : historians.find(name)
          if (historian === null) return null
          last = { historian, labels: [], names: [], places: [] }
          groups.set(name, last)
        }
      }
      // A tag that is requested twice may be one read. Equal names of two historians only take the slow path.
      if (!this.#isNew(tag)) return null
      last.labels.push(label)
      last.names.push(tag)
      last.places.push(i)
    }
    return groups
  }

  #lookUp(group: Group): MaybePromise<boolean> {
    return attempt(
      () => group.historian.findTags(group.names, this.#call.context),
      (tags) => this.#read(group, tags),
    )
  }

  #read(group: Group, tags: readonly (TagMetadata | null)[]): MaybePromise<boolean> {
    if (tags.includes(null)) return this.#readFound(group, tags)
    const { historian, labels, names, places } = group
    const queries = labels.map(({ request }, i) => {
      const { find, at } = request.plainPoint!
      return { tag: names[i]!, find, at }
    })
    this.statistics.points += labels.length
    this.statistics.historianCalls++
    return attempt(
      () => historian.readPoints(queries, this.#call.context),
      (points) => {
        for (let i = 0; i < labels.length; i++) {
          const parsed = labels[i]!
          const point = pointAt(points, i) ?? noPoint(parsed.request.plainPoint!.at)
          const result = { kind: 'point', point } as const
          const states = tags[i]!.states
          this.labels[places[i]!] = states === undefined ? { parsed, result } : { parsed, states, result }
        }
        return true
      },
    )
  }

  /** Answers the labels of tags that do not exist with their errors, and reads the others. */
  #readFound(
    { historian, labels, names, places }: Group,
    tags: readonly (TagMetadata | null)[],
  ): MaybePromise<boolean> {
    const rest: Group = { historian, labels: [], names: [], places: [] }
    for (const [i, tag] of tags.entries()) {
      const parsed = labels[i]!
      if (tag === null) {
        const cause = missingError('TAG_NOT_FOUND', historian.name, names[i]!)
        this.labels[places[i]!] = failedLabel(parsed, cause)
        this.invalidLabels++
        continue
      }
      rest.labels.push(parsed)
      rest.names.push(names[i]!)
      rest.places.push(places[i]!)
    }
    return (
      rest.labels.length === 0 ||
      this.#read(
        rest,
        tags.filter((tag) => tag !== null),
      )
    )
  }
}

/** What follows from a call of a historian; false when it fails. */
function attempt<Found>(
  call: () => MaybePromise<Found>,
  then: (found: Found) => MaybePromise<boolean>,
): MaybePromise<boolean> {
  let found: MaybePromise<Found>
  try {
    found = call()
  } catch {
    return false
  }
  return found instanceof Promise ? found.then(then, () => false) : then(found)
}
