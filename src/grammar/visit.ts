import type { TagNode, TagTree } from './tree.ts'

/** All tags of a tree from left to right, virtual ones too, each as often as it occurs; none of an argument that does not parse. */
export function tagsOf(tree: TagTree): TagNode[] {
  const tags: TagNode[] = []
  collect(tree, tags)
  return tags
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
