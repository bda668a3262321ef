import type { StoredTag } from '../calc/graph/point-source.ts'
import { isVirtual } from '../calc/virtual/historians.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { formatAddress } from '../grammar/address.ts'
import type { TagNode, TagTree } from '../grammar/tree.ts'
import { tagsOf } from '../grammar/visit.ts'
import type { CallContext, Historian, TagMetadata } from '../historian/contract.ts'
import type { HistorianView } from '../historian/registry.ts'
import { isAliases } from '../historian/visible-aliases.ts'
import { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import { forEach } from '../scheduling/each.ts'
import { WideMap } from '../scheduling/wide-map.ts'
import { fixedDurationUs } from '../time/duration.ts'

/** By historian: names are joined to addresses nowhere, since a call may have thousands. */
type WantedTags = Map<string, TagsOfHistorian>

interface TagsOfHistorian {
  readonly byName: WideMap<WantedTag>
  /** The same, in the order in which labels name them. */
  readonly all: WantedTag[]
}

/** A tag that a label names, and what came of looking it up. */
interface WantedTag {
  readonly name: string
  readonly number: number
  /** `null` until it is looked up. */
  found: StoredTag | Failure | null
}

/** Why a tag cannot be had: an error of the caller, of its historian or, in a driver with a bug, of any kind. */
interface Failure {
  readonly error: unknown
}

/** The stored tag of a node. Throws HISTORIAN_NOT_FOUND, TAG_NOT_FOUND, or what kept the historian from answering. */
export type FindStoredTag = (tag: TagNode) => StoredTag

function findIn(wanted: WantedTags, unresolved: ReadonlyMap<string, TidemarkError>): FindStoredTag {
  return (tag) => {
    const { historian, name } = tag
    const found = wanted.get(historian)?.byName.get(name)?.found ?? null
    if (found === null) {
      const address = `${historian}/${name}`
      throw unresolved.get(address) ?? new TidemarkError('BUG', { what: `tag ${address} was resolved` })
    }
    if ('error' in found) throw throughAlias(found.error, tag)
    return found
  }
}

/** An error of a tag with the alias that refers to it: a client that reads an alias does not know the tag's name. */
function throughAlias(error: unknown, { alias }: TagNode): unknown {
  const isOfTag = error instanceof TidemarkError && error.kind === 'not-found'
  if (alias === undefined || !isOfTag) return error
  const { code, message, place } = error
  return TidemarkError.restore({ code, message: `${message}: alias ${alias} refers to it`, place })
}

/**
 * Looks up every stored tag of the trees once, in one round trip per historian; one that cannot be had keeps its error.
 * @param unresolved tags that are known to lead nowhere, by address
 */
export async function resolveTags(
  trees: readonly TagTree[],
  historians: HistorianView,
  context: CallContext,
  unresolved: ReadonlyMap<string, TidemarkError>,
): Promise<FindStoredTag> {
  const wanted: WantedTags = new Map()
  let count = 0
  const want = ({ historian, name }: TagNode) => {
    if (unresolved.size > 0 && unresolved.has(`${historian}/${name}`)) return
    let tags = wanted.get(historian)
    if (tags === undefined) {
      if (isVirtual(historian)) return
      tags = { byName: new WideMap(), all: [] }
      wanted.set(historian, tags)
    }
    if (tags.byName.get(name) !== undefined) return
    const tag = { name, number: count++, found: null }
    tags.byName.set(name, tag)
    tags.all.push(tag)
  }
  const wantAll = (tree: TagTree) => {
    if (tree.kind === 'tag') want(tree)
    else tagsOf(tree).forEach(want)
  }
  // A calculation may name a thousand tags.
  const isCall = ({ kind }: TagTree) => kind === 'call'
  await forEach(trees, new CooperativeScheduler(context.signal), wantAll, isCall)
  await Promise.all(
    Array.from(wanted, ([name, { all }]) => lookUp(name, historians.find(name), all, context)),
  )
  // A call that is over as a whole ends here: no label has failed by itself.
  context.signal.throwIfAborted()
  return findIn(wanted, unresolved)
}

/** Looks up tags of one historian and gives each what was found, or why it was not. */
async function lookUp(
  name: string,
  historian: Historian | null,
  tags: readonly WantedTag[],
  context: CallContext,
): Promise<void> {
  if (historian === null) {
    const missing = isAliases(name) ? 'TAG_NOT_FOUND' : 'HISTORIAN_NOT_FOUND'
    for (const tag of tags) tag.found = { error: missingError(missing, name, tag.name) }
    return
  }
  let metadata: readonly (TagMetadata | null)[]
  try {
    metadata = await historian.findTags(
      tags.map((tag) => tag.name),
      context,
    )
  } catch (error) {
    // A historian that fails, in whatever way, fails its own tags only.
    for (const tag of tags) tag.found = { error }
    return
  }
  const { aggregates, interpolation, integrals, plots, gaps, signalGaps, comparisons } =
    historian.capabilities
  const pushDowns = { aggregates, interpolation, integrals, plots, gaps, signalGaps, comparisons }
  await forEach(tags, new CooperativeScheduler(context.signal), (tag, i) => {
    const found = metadata[i] ?? null
    if (found === null) {
      tag.found = { error: missingError('TAG_NOT_FOUND', name, tag.name) }
      return
    }
    const { stepped, maxGap, states } = found
    const maxGapUs = maxGap === undefined ? null : fixedDurationUs(maxGap)
    tag.found = {
      ...{ historian: name, tag: tag.name, number: tag.number, stepped, pushDowns },
      ...(maxGapUs !== null && { maxGapUs }),
      ...(states !== undefined && { states }),
    }
  })
}

/** With the address as the issue's `input`: the label may be a calculation over many tags. */
function missingError(
  code: 'TAG_NOT_FOUND' | 'HISTORIAN_NOT_FOUND',
  historian: string,
  tag: string,
): TidemarkError {
  return new TidemarkError(code, { historian, tag }, { place: { input: formatAddress(historian, tag) } })
}
