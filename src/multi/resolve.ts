import type { StoredTag } from '../calc/series.ts'
import { isVirtual } from '../calc/virtual.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { TagNode, TagTree } from '../grammar/tree.ts'
import { tagsOf } from '../grammar/visit.ts'
import type { CallContext, Historian, TagMetadata } from '../historian/contract.ts'
import type { HistorianView } from '../historian/registry.ts'
import { isAliases } from '../historian/visible-aliases.ts'

/** The stored tags that the labels of a call name, each looked up once; one that cannot be had keeps its error. */
export class ResolvedTags {
  readonly #found: ReadonlyMap<string, StoredTag | TidemarkError>

  constructor(found: ReadonlyMap<string, StoredTag | TidemarkError>) {
    this.#found = found
  }

  /** Throws HISTORIAN_NOT_FOUND, TAG_NOT_FOUND, or what kept the historian from answering. */
  stored(tag: TagNode): StoredTag {
    const found = this.#found.get(`${tag.historian}/${tag.name}`)
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
  for (const tree of trees) {
    for (const { historian, name } of tagsOf(tree)) {
      if (isVirtual(historian) || unresolved.has(`${historian}/${name}`)) continue
      const names = wanted.get(historian)
      if (names === undefined) wanted.set(historian, new Set([name]))
      else names.add(name)
    }
  }
  const found = new Map<string, StoredTag | TidemarkError>(unresolved)
  await Promise.all(
    Array.from(wanted, async ([name, tags]) => {
      const historian = historians.find(name)
      const lookUps = await lookUp(historian, [...tags], context)
      for (const [tag, lookUp] of lookUps) {
        const missing = historian === null && !isAliases(name) ? 'HISTORIAN_NOT_FOUND' : 'TAG_NOT_FOUND'
        found.set(`${name}/${tag}`, lookUp ?? new TidemarkError(missing, { historian: name, tag }))
      }
    }),
  )
  return new ResolvedTags(found)
}

async function lookUp(
  historian: Historian | null,
  tags: readonly string[],
  context: CallContext,
): Promise<readonly (readonly [tag: string, found: StoredTag | TidemarkError | null])[]> {
  if (historian === null) return tags.map((tag) => [tag, null])
  try {
    const metadata = await historian.findTags(tags, context)
    return tags.map((tag, index) => [tag, storedTag(historian, tag, metadata[index] ?? null)])
  } catch (error) {
    // A call that is over as a whole ends here; a historian that is out of reach fails its own tags only.
    if (context.signal.aborted || !(error instanceof TidemarkError)) throw error
    return tags.map((tag) => [tag, error])
  }
}

function storedTag(historian: Historian, tag: string, metadata: TagMetadata | null): StoredTag | null {
  if (metadata === null) return null
  const { aggregates, interpolation, integrals } = historian.capabilities
  return {
    historian: historian.name,
    tag,
    stepped: metadata.stepped,
    pushDowns: { aggregates, interpolation, integrals },
  }
}
