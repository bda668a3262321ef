import type { TidemarkError } from '../errors/tidemark-error.ts'
import type { TagTree } from '../grammar/tree.ts'
import type { CallContext } from '../historian/contract.ts'
import type { VisibleAliases } from '../historian/visible-aliases.ts'
import type { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import { forEach, mapEach } from '../scheduling/each.ts'
import type { Clock } from '../time/clock.ts'
import { type CallLabel, treesOf } from './call.ts'

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
  scheduler: CooperativeScheduler,
): Promise<ExpandedLabels> {
  if (aliases === null) return { labels, unresolved: new Map() }
  // Labels that go on from a cursor have the time and zone of their first page.
  const groups = new Map<string, Clock & { readonly trees: TagTree[] }>()
  await forEach(labels, scheduler, (label) => {
    if (label.kind === 'invalid') return
    const { now, zone } = label
    groups
      .getOrInsertComputed(`${now} ${zone.id}`, () => ({ now, zone, trees: [] }))
      .trees.push(...treesOf(label))
  })
  const expanded = new Map<TagTree, TagTree>()
  const unresolved = new Map<string, TidemarkError>()
  for (const { now, zone, trees } of groups.values()) {
    const expansion = await aliases.expand(trees, { now, zone }, context)
    await forEach(trees, scheduler, (tree, i) => {
      expanded.set(tree, expansion.trees[i]!)
    })
    for (const [address, reason] of expansion.unresolved) unresolved.set(address, reason)
  }
  const expandedLabels = await mapEach(labels, scheduler, (label) => {
    if (label.kind === 'invalid') return label
    const tree = expanded.get(label.tree) ?? label.tree
    const otherTree = label.otherTree === null ? null : (expanded.get(label.otherTree) ?? label.otherTree)
    return tree === label.tree && otherTree === label.otherTree ? label : { ...label, tree, otherTree }
  })
  return { labels: expandedLabels, unresolved }
}
