import { TidemarkError } from '../errors/tidemark-error.ts'
import { printTag } from '../grammar/print.ts'
import type { CallNode, TagNode, TagTree } from '../grammar/tree.ts'
import { BoundArguments } from './bound-arguments.ts'
import { findFunction } from './functions/index.ts'
import type { Series, SeriesContext, StoredTag } from './series.ts'
import { StoredSeries } from './stored-series.ts'
import { isVirtual, virtualSeries } from './virtual.ts'

/**
 * Makes the series of a tag tree, for one request. Equal subtrees in equal contexts become one series, so that what
 * occurs twice is read and evaluated once. Fetches nothing.
 * @param resolve  looks up a stored tag; throws TAG_NOT_FOUND or HISTORIAN_NOT_FOUND
 */
export function compileSeries(
  tree: TagTree,
  context: SeriesContext,
  resolve: (tag: TagNode) => StoredTag,
): Series {
  // A tag alone has nothing to share: naming it would be most of the work of a call of current values.
  return tree.kind === 'tag'
    ? tagSeries(tree, context, resolve)
    : new Compiler(resolve).compile(tree, context)
}

function tagSeries(tag: TagNode, context: SeriesContext, resolve: (tag: TagNode) => StoredTag): Series {
  return isVirtual(tag.historian)
    ? virtualSeries(tag.historian, tag.name, context)
    : new StoredSeries(resolve(tag), context)
}

class Compiler {
  readonly #resolve: (tag: TagNode) => StoredTag
  readonly #made = new Map<string, Series>()

  constructor(resolve: (tag: TagNode) => StoredTag) {
    this.#resolve = resolve
  }

  compile(tree: TagTree, context: SeriesContext): Series {
    const name = `${printTag(tree)} in ${contextName(context)}`
    let series = this.#made.get(name)
    if (series === undefined) {
      series =
        tree.kind === 'call' ? this.#call(tree, context, name) : tagSeries(tree, context, this.#resolve)
      this.#made.set(name, series)
    }
    return series
  }

  #call(call: CallNode, context: SeriesContext, name: string): Series {
    const definition = findFunction(call.name)
    if (definition === null) throw new TidemarkError('BUG', { what: `${call.name} is a function` })
    const compile = (tree: TagTree, inner = context): Series => this.compile(tree, inner)
    return definition.build(new BoundArguments(call, definition, compile), context, name)
  }
}

/** What the values of equal trees can differ by within a call. */
function contextName({ now, zone, range, spacingUs }: SeriesContext): string {
  return `${now} ${zone.id} ${range.from} ${range.to} ${spacingUs ?? ''}`.trimEnd()
}
