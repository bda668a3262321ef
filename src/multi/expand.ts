import type { TidemarkError } from '../errors/tidemark-error.ts'
import type { TagTree } from '../grammar/tree.ts'
import type { CallContext } from '../historian/contract.ts'
import type { VisibleAliases } from '../historian/visible-aliases.ts'
import { type CallLabel, type ParsedLabel, treesOf } from './call.ts'

/** Labels in which aliases were replaced by what they refer to. */
export interface ExpandedLabels {
  readonly labels: readonly CallLabel[]
  /** Dangling aliases, which refer to nothing and still stand in the trees, by address, with the reason. */
  readonly unresolved: ReadonlyMap<string, TidemarkError>
}

/**
 * Replaces the aliases in all labels, those of each reference time and zone among them together.
 * @param aliases `null` where the labels name none, or there are none
 */
export async function expandAliases(
  labels: readonly CallLabel[],
  aliases: VisibleAliases | null,
  context: CallContext,
): Promise<ExpandedLabels> {
  if (aliases === null) return { labels, unresolved: new Map() }
  const named = labels.filter((label) => label.kind === 'parsed')
  const expanded = new Map<TagTree, TagTree>()
  const unresolved = new Map<string, TidemarkError>()
  // Labels that go on from a cursor have the time and zone of their first page.
  for (const group of Map.groupBy(named, timeOf).values()) {
    const { now, zone } = group[0]!
    const trees = group.flatMap(treesOf)
    const expansion = await aliases.expand(trees, { now, zone }, context)
    trees.forEach((tree, i) => {
      expanded.set(tree, expansion.trees[i]!)
    })
    for (const [address, reason] of expansion.unresolved) unresolved.set(address, reason)
  }
  const expandedLabels = labels.map((label) => {
    if (label.kind === 'invalid') return label
    const tree = expanded.get(label.tree) ?? label.tree
    const otherTree = label.otherTree === null ? null : (expanded.get(label.otherTree) ?? label.otherTree)
    return tree === label.tree && otherTree === label.otherTree ? label : { ...label, tree, otherTree }
  })
  return { labels: expandedLabels, unresolved }
}

function timeOf({ now, zone }: ParsedLabel): string {
  return `${now} ${zone.id}`
}
