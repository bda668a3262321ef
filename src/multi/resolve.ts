import type { StoredTag } from '../calc/series.ts'
import { isVirtual } from '../calc/virtual.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { TagNode, TagTree } from '../grammar/tree.ts'
import { tagsOf } from '../grammar/visit.ts'
import type { CallContext, Historian, TagMetadata } from '../historian/contract.ts'
import type { MaybePromise } from '../historian/maybe-promise.ts'
import type { HistorianView } from '../historian/registry.ts'
import { isAliases } from '../historian/visible-aliases.ts'

/** By historian and name: names are joined to addresses nowhere, since a call may have thousands. */
type WantedTags = Map<string, Map<string, WantedTag>>

/** A tag that a label names, and what came of looking it up. */
interface WantedTag {
  readonly name: string
  /** `null` until it is looked up. */
  found: StoredTag | TidemarkError | null
}

/** The stored tags that the labels of a call name, each looked up once; one that cannot be had keeps its error. */
export class ResolvedTags {
  readonly #wanted: WantedTags
  readonly #unresolved: ReadonlyMap<string, TidemarkError>

  /** @param unresolved tags that are known to lead nowhere, by address */
  constructor(wanted: WantedTags, unresolved: ReadonlyMap<string, TidemarkError>) {
    this.#wanted = wanted
    this.#unresolved = unresolved
  }

  /** Throws HISTORIAN_NOT_FOUND, TAG_NOT_FOUND, or what kept the historian from answering. */
  stored(tag: TagNode): StoredTag {
    const { historian, name } = tag
    const found =
      this.#wanted.get(historian)?.get(name)?.found ?? this.#unresolved.get(`${historian}/${name}`)
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
export function resolveTags(
  trees: readonly TagTree[],
  historians: HistorianView,
  context: CallContext,
  unresolved: ReadonlyMap<string, TidemarkError>,
): MaybePromise<ResolvedTags> {
  const wanted: WantedTags = new Map()
  const want = ({ historian, name }: TagNode) => {
    if (unresolved.size > 0 && unresolved.has(`${historian}/${name}`)) return
    let tags = wanted.get(historian)
    if (tags === undefined) {
      if (isVirtual(historian)) return
      tags = new Map()
      wanted.set(historian, tags)
    }
    if (!tags.has(name)) tags.set(name, { name, found: null })
  }
  for (const tree of trees) {
    if (tree.kind === 'tag') want(tree)
    else tagsOf(tree).forEach(want)
  }
  const lookUps: Promise<void>[] = []
  for (const [name, tags] of wanted) {
    const waiting = lookUp(name, historians.find(name), [...tags.values()], context)
    if (waiting !== null) lookUps.push(waiting)
  }
  const resolved = new ResolvedTags(wanted, unresolved)
  return lookUps.length === 0 ? resolved : Promise.all(lookUps).then(() => resolved)
}

/**
 * Looks up tags of one historian and gives each what was found, or why it was not.
 * @returns `null` when that was done at once
 */
function lookUp(
  name: string,
  historian: Historian | null,
  tags: readonly WantedTag[],
  context: CallContext,
): Promise<void> | null {
  if (historian === null) {
    const missing = isAliases(name) ? 'TAG_NOT_FOUND' : 'HISTORIAN_NOT_FOUND'
    for (const tag of tags) tag.found = new TidemarkError(missing, { historian: name, tag: tag.name })
    return null
  }
  const found = historian.findTags(
    tags.map((tag) => tag.name),
    context,
  )
  if (!(found instanceof Promise)) {
    takeFound(historian, tags, found)
    return null
  }
  return found.then(
    (metadata) => takeFound(historian, tags, metadata),
    (error: unknown) => {
      // A call that is over as a whole ends here; a historian that is out of reach fails its own tags only.
      if (context.signal.aborted || !(error instanceof TidemarkError)) throw error
      for (const tag of tags) tag.found = error
    },
  )
}

function takeFound(
  { name, capabilities }: Historian,
  tags: readonly WantedTag[],
  metadata: readonly (TagMetadata | null)[],
): void {
  const { aggregates, interpolation, integrals } = capabilities
  const pushDowns = { aggregates, interpolation, integrals }
  for (let i = 0; i < tags.length; i++) {
    const tag = tags[i]!
    const stepped = metadata[i]?.stepped
    tag.found =
      stepped === undefined
        ? new TidemarkError('TAG_NOT_FOUND', { historian: name, tag: tag.name })
        : { historian: name, tag: tag.name, stepped, pushDowns }
  }
}
