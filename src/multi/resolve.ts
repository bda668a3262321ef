import type { StoredTag } from '../calc/series.ts'
import { isVirtual } from '../calc/virtual.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { TagNode, TagTree } from '../grammar/tree.ts'
import { tagsOf } from '../grammar/visit.ts'
import type { CallContext, Historian } from '../historian/contract.ts'
import type { HistorianView } from '../historian/registry.ts'
import { isAliases } from '../historian/visible-aliases.ts'

/** By historian and name: names are joined to addresses nowhere, since a call may have thousands. */
type FoundTags = ReadonlyMap<string, ReadonlyMap<string, StoredTag | TidemarkError>>

/** The stored tags that the labels of a call name, each looked up once; one that cannot be had keeps its error. */
export class ResolvedTags {
  readonly #found: FoundTags
  readonly #unresolved: ReadonlyMap<string, TidemarkError>

  /** @param unresolved tags that are known to lead nowhere, by address */
  constructor(found: FoundTags, unresolved: ReadonlyMap<string, TidemarkError>) {
    this.#found = found
    this.#unresolved = unresolved
  }

  /** Throws HISTORIAN_NOT_FOUND, TAG_NOT_FOUND, or what kept the historian from answering. */
  stored(tag: TagNode): StoredTag {
    const { historian, name } = tag
    const found = this.#found.get(historian)?.get(name) ?? this.#unresolved.get(`${historian}/${name}`)
    if (found === undefined)
      throw new TidemarkError('BUG', { what: `tag ${tag.historian}/${tag.name} was resolved` })
    if (found instanceof TidemarkError) throw found
    return found
  }
}

/**
 * Looks up every stored tag of the trees, in one round trip per historian.
 * @param unresolved tags that are known to lead nowhere, by address
 */
export async function resolveTags(
  trees: readonly TagTree[],
  historians: HistorianView,
  context: CallContext,
  unresolved: ReadonlyMap<string, TidemarkError> = new Map(),
): Promise<ResolvedTags> {
  const wanted = new Map<string, Set<string>>()
  const want = ({ historian, name }: TagNode) => {
    if (unresolved.size > 0 && unresolved.has(`${historian}/${name}`)) return
    const names = wanted.get(historian)
    if (names !== undefined) names.add(name)
    else if (!isVirtual(historian)) wanted.set(historian, new Set([name]))
  }
  for (const tree of trees) {
    if (tree.kind === 'tag') want(tree)
    else tagsOf(tree).forEach(want)
  }
  const found = new Map<string, Map<string, StoredTag | TidemarkError>>()
  const lookUps: Promise<void>[] = []
  for (const [name, tags] of wanted) {
    const foundHere = new Map<string, StoredTag | TidemarkError>()
    found.set(name, foundHere)
    lookUps.push(lookUp(name, historians.find(name), [...tags], foundHere, context))
  }
  await (lookUps.length === 1 ? lookUps[0] : Promise.all(lookUps))
  return new ResolvedTags(found, unresolved)
}

/** Looks up tags of one historian and puts what it found, or why it did not, into `found`. */
async function lookUp(
  name: string,
  historian: Historian | null,
  tags: readonly string[],
  found: Map<string, StoredTag | TidemarkError>,
  context: CallContext,
): Promise<void> {
  const missing = historian === null && !isAliases(name) ? 'HISTORIAN_NOT_FOUND' : 'TAG_NOT_FOUND'
  const isMissing = (tag: string) => found.set(tag, new TidemarkError(missing, { historian: name, tag }))
  if (historian === null) {
    tags.forEach(isMissing)
    return
  }
  try {
    const metadata = await historian.findTags(tags, context)
    const { aggregates, interpolation, integrals } = historian.capabilities
    const pushDowns = { aggregates, interpolation, integrals }
    tags.forEach((tag, index) => {
      const { stepped } = metadata[index] ?? {}
      if (stepped === undefined) isMissing(tag)
      else found.set(tag, { historian: name, tag, stepped, pushDowns })
    })
  } catch (error) {
    // A call that is over as a whole ends here; a historian that is out of reach fails its own tags only.
    if (context.signal.aborted || !(error instanceof TidemarkError)) throw error
    for (const tag of tags) found.set(tag, error)
  }
}
