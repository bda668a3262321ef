import type { TagNode, TagTree } from './tree.ts'

/**
 * All tags of a tree from left to right, virtual ones too, each as often as it occurs; none of an argument that does
 * not parse.
 */
export function tagsOf(tree: TagTree): TagNode[] {
  const tags: TagNode[] = []
  collect(tree, tags)
  return tags
}

/**
 * A tree in which tags are others, or carry something more; the same object where nothing changes.
 * @param change what is different of a tag; undefined leaves it as it is
 */
export function withTags(
  tree: TagTree,
  change: (tag: TagNode) => Partial<Omit<TagNode, 'kind'>> | undefined,
): TagTree {
  if (tree.kind === 'tag') {
    const changed = change(tree)
    return changed === undefined ? tree : { ...tree, ...changed }
  }
  let isSame = true
  const args = tree.args.map((argument) => {
    if (argument.kind !== 'series') return argument
    const inner = withTags(argument.tree, change)
    if (inner === argument.tree) return argument
    isSame = false
    return { ...argument, tree: inner }
  })
  return isSame ? tree : { ...tree, args }
}

function collect(tree: TagTree, tags: TagNode[]): void {
  if (tree.kind === 'tag') {
    tags.push(tree)
    return
  }
  for (const argument of tree.args) {
    if (argument.kind === 'series') collect(argument.tree, tags)
  }
}
