import type { TidemarkError } from '../errors/tidemark-error.ts'
import type { TagTree } from '../grammar/tree.ts'
import { tagsOf } from '../grammar/visit.ts'
import type { MaybePromise } from '../historian/maybe-promise.ts'
import { isAliases, type VisibleAliases } from '../historian/visible-aliases.ts'
import type { ParsedCall, ParsedLabel, UnderstoodLabel } from './call.ts'

/** A call in which aliases were replaced by what they lead to. */
export interface ExpandedCall {
  readonly parsed: ParsedCall
  /** Aliases that lead nowhere and still stand in the trees, by address, with the reason. */
  readonly unresolved: ReadonlyMap<string, TidemarkError>
}

/** Replaces the aliases in all labels, in one look at the store for each reference time and zone among them. */
export function expandAliases(
  parsed: ParsedCall,
  aliases: VisibleAliases | null,
): MaybePromise<ExpandedCall> {
  if (aliases === null || !parsed.labels.some(namesAlias)) return { parsed, unresolved: NONE_UNRESOLVED }
  return expandLabels(parsed, aliases)
}

async function expandLabels(parsed: ParsedCall, aliases: VisibleAliases): Promise<ExpandedCall> {
  const understood = parsed.labels.filter((label) => label.kind === 'understood')
  const trees = new Map<ParsedLabel, TagTree>()
  const unresolved = new Map<string, TidemarkError>()
  // Labels that go on from a cursor have the time and zone of their first page.
  for (const group of Map.groupBy(understood, timeOf).values()) {
    const { now, zone } = group[0]!
    const expansion = await aliases.expand(
      group.map((label) => label.tree),
      { now, zone },
    )
    group.forEach((label, i) => {
      trees.set(label, expansion.trees[i]!)
    })
    for (const [address, reason] of expansion.unresolved) unresolved.set(address, reason)
  }
  const labels = parsed.labels.map((label) => {
    const tree = trees.get(label)
    return label.kind === 'wrong' || tree === undefined || tree === label.tree ? label : { ...label, tree }
  })
  return { parsed: { ...parsed, labels }, unresolved }
}

const NONE_UNRESOLVED: ReadonlyMap<string, TidemarkError> = new Map()

function namesAlias(label: ParsedLabel): boolean {
  if (label.kind === 'wrong') return false
  const { tree } = label
  if (tree.kind === 'tag') return isAliases(tree.historian)
  return tagsOf(tree).some(({ historian }) => isAliases(historian))
}

function timeOf({ now, zone }: UnderstoodLabel): string {
  return `${now} ${zone.id}`
}
