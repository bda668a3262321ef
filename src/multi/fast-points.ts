import { TidemarkError } from '../errors/tidemark-error.ts'
import type { TagNode } from '../grammar/tree.ts'
import type { CallContext, PointQuery, TagMetadata } from '../historian/contract.ts'
import type { MaybePromise } from '../historian/maybe-promise.ts'
import type { PointColumns } from '../series/columns.ts'
import { type CallLabel, failedLabel, type InvalidLabel, type MultiCall, type ParsedLabel } from './call.ts'
import type { ExecutedLabel } from './execute.ts'
import { noPoint } from './requests/request.ts'
import { pointAt, type ReadStatistics } from './source.ts'

/**
 * Fast path of calls for single raw points of tags alone, each tag once and all of one historian, as dashboards of
 * current values make them: without operators, plans and promises, most of which cost more than such a point. Any other
 * call (with a calculation, an alias, a tag that does not exist, a historian that fails, a limit near) takes the slow
 * path, whose answer is the same; the tests compare both.
 */

export interface FastAnswer {
  readonly labels: readonly ExecutedLabel[]
  /** All labels, where the historian could not be reached; none otherwise. */
  readonly failed: readonly InvalidLabel[]
  readonly statistics: ReadStatistics
}

type SinglePointLabel = ParsedLabel & { readonly tree: TagNode }

/** `null`, or a promise of `null`, when the call must take the slow path. */
export function answerPoints(
  labels: readonly CallLabel[],
  { historians, limits }: Pick<MultiCall, 'historians' | 'limits'>,
  context: CallContext,
): MaybePromise<FastAnswer | null> {
  const { requestedPoints, historianLoad, effectiveTags, tagNames } = limits
  const most = Math.min(requestedPoints, historianLoad, effectiveTags, tagNames)
  const [first] = labels
  if (labels.length > most || first === undefined || !isSinglePoint(first)) return null
  const name = first.tree.historian
  const names = new Set<string>()
  const singles: SinglePointLabel[] = []
  const queries: PointQuery[] = []
  for (const label of labels) {
    if (!isSinglePoint(label) || label.tree.historian !== name) return null
    const { find, at } = label.request.plainPoint!
    names.add(label.tree.name)
    singles.push(label)
    queries.push({ tag: label.tree.name, find, at })
  }
  // A tag that is requested twice may be one read.
  if (names.size < labels.length) return null
  // No virtual historian, and not that of aliases.
  const historian = historians.find(name)
  if (historian === null) return null
  const failed = (error: unknown) => failureOf(singles, error)
  return attempt(
    () => historian.findTags([...names], context),
    (tags) =>
      tags.includes(null)
        ? null
        : attempt(
            () => historian.readPoints(queries, context),
            (points) => answerOf(singles, tags as readonly TagMetadata[], points),
            failed,
          ),
    failed,
  )
}

function isSinglePoint(label: CallLabel): label is SinglePointLabel {
  return label.kind === 'parsed' && label.tree.kind === 'tag' && label.request.plainPoint !== undefined
}

function answerOf(
  labels: readonly SinglePointLabel[],
  tags: readonly TagMetadata[],
  points: PointColumns,
): FastAnswer {
  const executed: ExecutedLabel[] = []
  for (let i = 0; i < labels.length; i++) {
    const parsed = labels[i]!
    const point = pointAt(points, i) ?? noPoint(parsed.request.plainPoint!.at)
    const result = { kind: 'point', point } as const
    const { states } = tags[i]!
    executed.push(states === undefined ? { parsed, result } : { parsed, states, result })
  }
  return { labels: executed, failed: [], statistics: { points: labels.length, historianCalls: 1 } }
}

/**
 * The answer of a historian that could not be reached: asked again, one that hangs would do so beyond the deadline.
 * `null` for all other errors, of which the slow path finds the labels that they belong to.
 */
function failureOf(labels: readonly SinglePointLabel[], error: unknown): FastAnswer | null {
  if (!(error instanceof TidemarkError) || error.kind !== 'unavailable') return null
  const failed = labels.map((label) => failedLabel(label, error))
  return { labels: [], failed, statistics: { points: 0, historianCalls: 1 } }
}

/** What follows from a call of a historian, or from its error. */
function attempt<Found>(
  call: () => MaybePromise<Found>,
  then: (found: Found) => MaybePromise<FastAnswer | null>,
  failed: (error: unknown) => FastAnswer | null,
): MaybePromise<FastAnswer | null> {
  let found: MaybePromise<Found>
  try {
    found = call()
  } catch (error) {
    return failed(error)
  }
  return found instanceof Promise ? found.then(then, failed) : then(found)
}
