import { compileSeries } from '../calc/compile.ts'
import type { Series, SeriesSource, StoredTag } from '../calc/series.ts'
import { pointRead } from '../calc/stored-series.ts'
import { isVirtual } from '../calc/virtual.ts'
import { issueOf } from '../errors/tidemark-error.ts'
import type { Breather } from '../historian/breather.ts'
import type { MaybePromise } from '../historian/maybe-promise.ts'
import { countSteps, countWindows, stepGrid, windowEdges } from '../time/grid.ts'
import { asksOf, type RequestSize } from './ask.ts'
import type { ParsedLabel, UnderstoodLabel, WrongLabel } from './call.ts'
import { CallLedger, type LabelLedger } from './ledger.ts'
import type { CallLimits, CallTotals } from './limit.ts'
import { PLAIN_TAGS_IN_A_ROW } from './parse.ts'
import { contextOf, isPoint, type PointRequest } from './requests.ts'
import type { ResolvedTags } from './resolve.ts'

/**
 * What a call will do, before it does any of it: for each label the series that answers it, its size in the words of
 * the limits, and the reads it will make.
 */
export interface Plan {
  readonly labels: readonly (PlannedLabel | WrongLabel)[]
  readonly ledger: CallLedger
}

export type PlannedLabel = SeriesLabel | PointLabel

/** Answered by a series, whatever it is asked. */
export interface SeriesLabel extends Planned {
  readonly kind: 'series'
  readonly series: Series
}

/**
 * Answered by one raw point of a stored tag, as most labels of large calls are: no series is made for it. The series of the tag
 * would read the same and answer the same.
 */
export interface PointLabel extends Planned {
  readonly kind: 'point'
  readonly request: PointRequest
  readonly tag: StoredTag
}

interface Planned {
  readonly understood: UnderstoodLabel
  readonly size: RequestSize
  readonly ledger: LabelLedger
}

/** What planning a call works with. */
export interface Planning {
  readonly tags: ResolvedTags
  readonly source: SeriesSource
  readonly limits: CallLimits
  readonly breather: Breather
  /** Passed on to the series, which end with it. */
  readonly signal: AbortSignal
  /** Whether points of stored tags are answered by series as everything else: for tests that compare both. */
  readonly seriesOnly: boolean
}

/**
 * Plans every label; a label that names what does not exist becomes wrong, the others stand. A promise where it takes so long that it
 * rests.
 */
export function planCall(labels: readonly ParsedLabel[], planning: Planning): MaybePromise<Plan> {
  const planner = new Planner(labels, planning)
  planner.planSome()
  return planner.isDone ? planner.plan : planner.planRest()
}

class Planner {
  readonly #asked: readonly ParsedLabel[]
  readonly #planning: Planning
  readonly #left: Allowance
  readonly #ledger = new CallLedger()
  readonly #planned: (PlannedLabel | WrongLabel)[] = []

  constructor(asked: readonly ParsedLabel[], planning: Planning) {
    const { requestedPoints, aggregateWindows } = planning.limits
    this.#asked = asked
    this.#planning = planning
    this.#left = { points: requestedPoints, windows: aggregateWindows }
  }

  get isDone(): boolean {
    return this.#planned.length === this.#asked.length
  }

  get plan(): Plan {
    return { labels: this.#planned, ledger: this.#ledger }
  }

  /** Plans labels until all are planned, or a rest is due. */
  planSome(): void {
    const asked = this.#asked
    const planned = this.#planned
    let inARow = 0
    while (planned.length < asked.length) {
      const label = asked[planned.length]!
      planned.push(
        label.kind === 'wrong'
          ? label
          : planLabel(label, this.#planning, this.#left, this.#ledger.forLabel()),
      )
      if (isPlain(label) && ++inARow < PLAIN_TAGS_IN_A_ROW) continue
      inARow = 0
      if (this.#planning.breather.isDue) return
    }
  }

  async planRest(): Promise<Plan> {
    while (!this.isDone) {
      await this.#planning.breather.rest()
      this.planSome()
    }
    return this.plan
  }
}

/** Whether a label asks a tag alone for points at an instant, which is planned in no time. */
function isPlain(label: ParsedLabel): boolean {
  return label.kind === 'understood' && label.tree.kind === 'tag' && 'at' in label.request
}

function planLabel(
  understood: UnderstoodLabel,
  { tags, source, signal, seriesOnly }: Planning,
  left: Allowance,
  ledger: LabelLedger,
): PlannedLabel | WrongLabel {
  const { label, address, request, tree, now, zone } = understood
  try {
    const size = sizeOf(understood, left)
    left.points -= size.points
    left.windows -= size.windows
    if (isPoint(request) && tree.kind === 'tag' && !isVirtual(tree.historian) && !seriesOnly) {
      const tag = tags.stored(tree)
      ledger.add(pointRead(tag, request.find, request.at))
      return { kind: 'point', understood, size, ledger, request, tag }
    }
    const { range, spacingUs } = contextOf(request)
    const own = { source, now, zone, range, signal }
    const context = spacingUs === undefined ? own : { ...own, spacingUs }
    const series = compileSeries(tree, context, (tag) => tags.stored(tag))
    for (const ask of asksOf(request, size, zone)) series.plan(ask, ledger)
    return { kind: 'series', understood, size, series, ledger }
  } catch (error) {
    return { kind: 'wrong', label, issue: issueOf(error, { label, tag: address }), cause: error }
  }
}

/**
 * What the limits leave for the labels to come. Steps of a calendar are counted one by one only as far as they could
 * still be allowed, so that planning a call that asks for too much costs no more than one that does not.
 */
interface Allowance {
  points: number
  windows: number
}

function sizeOf({ request, zone }: UnderstoodLabel, left: Allowance): RequestSize {
  switch (request.kind) {
    case 'raw':
      return { points: request.maxPoints, windows: 0 }
    case 'interpolated': {
      const { from, to, grid } = request
      if (grid.kind === 'even') return { points: grid.count, windows: 0 }
      const times = left.points < 1 ? null : stepGrid(from, to, grid.interval, zone, left.points)
      return { points: times?.length ?? countSteps(from, to, grid.interval), windows: 0 }
    }
    case 'aggregates': {
      const { from, to, windows } = request
      if (windows.kind === 'even') return { points: 1, windows: windows.count }
      const edges = left.windows < 1 ? null : windowEdges(from, to, windows.interval, zone, left.windows)
      return {
        points: 1,
        windows: edges === null ? countWindows(from, to, windows.interval) : edges.length - 1,
      }
    }
    default:
      return ONE_POINT
  }
}

const ONE_POINT: RequestSize = { points: 1, windows: 0 }

/** The labels that go on to be executed. */
export function plannedLabels(plan: Plan): readonly PlannedLabel[] {
  return plan.labels.filter((label) => label.kind !== 'wrong')
}

/** What the call needs in the words of the limits; the load only once it is worked out. */
export function totalsOf(plan: Plan, options: { readonly withLoad: boolean }): CallTotals {
  let requestedPoints = 0
  let aggregateWindows = 0
  for (const label of plan.labels) {
    if (label.kind === 'wrong') continue
    requestedPoints += label.size.points
    aggregateWindows += label.size.windows
  }
  return {
    requestedPoints,
    aggregateWindows,
    effectiveTags: plan.ledger.countTags(),
    load: options.withLoad ? plan.ledger.load() : null,
  }
}
