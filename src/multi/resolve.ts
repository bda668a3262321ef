import type { StoredTag } from '../calc/graph/point-source.ts'
import { isVirtual } from '../calc/virtual/historians.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { formatAddress } from '../grammar/address.ts'
import type { TagNode, TagTree } from '../grammar/tree.ts'
import { tagsOf } from '../grammar/visit.ts'
import type { CallContext, Historian, TagMetadata } from '../historian/contract.ts'
import type { MaybePromise } from '../historian/maybe-promise.ts'
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
  /** `null` until it is looked up. */
  found: StoredTag | Failure | null
}

/** Why a tag cannot be had: an error of the caller, of its historian or, in a driver with a bug, of any kind. */
interface Failure {
  readonly error: unknown
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
    const address = `${historian}/${name}`
    const unresolved = this.#unresolved.get(address)
    if (unresolved !== undefined) throw unresolved
    const found = this.#wanted.get(historian)?.byName.get(name)?.found ?? null
    if (found === null) throw new TidemarkError('BUG', { what: `tag ${address} was resolved` })
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
      tags = { byName: new WideMap(), all: [] }
      wanted.set(historian, tags)
    }
    if (tags.byName.get(name) !== undefined) return
    const tag = { name, found: null }
    tags.byName.set(name, tag)
    tags.all.push(tag)
  }
  const wantAll = (tree: TagTree) => {
    if (tree.kind === 'tag') want(tree)
    else tagsOf(tree).forEach(want)
  }
  const lookUpAll = (): MaybePromise<ResolvedTags> => {
    const lookUps: Promise<void>[] = []
    for (const [name, tags] of wanted) {
      // What throws at once must not leave the rejections of others to nobody.
      const waiting = attempt(() => lookUp(name, historians.find(name), tags.all, context))
      if (waiting !== null) lookUps.push(waiting)
    }
    const resolved = (): ResolvedTags => {
      // A call that is over as a whole ends here: no label has failed by itself.
      context.signal.throwIfAborted()
      return new ResolvedTags(wanted, unresolved)
    }
    return lookUps.length === 0 ? resolved() : Promise.all(lookUps).then(resolved)
  }
  if (trees.length > AT_ONCE || trees.filter(isCall).length > CALLS_AT_ONCE)
    return forEach(trees, new CooperativeScheduler(context.signal), wantAll, isCall).then(lookUpAll)
  trees.forEach(wantAll)
  return lookUpAll()
}

function attempt(work: () => Promise<void> | null): Promise<void> | null {
  try {
    return work()
  } catch (error) {
    return Promise.reject(error)
  }
}

function isCall({ kind }: TagTree): boolean {
  return kind === 'call'
}

/** So many trees, or tags of a historian, are gone through without a yield to the event loop. */
const AT_ONCE = 1_024
/** A calculation may name a thousand tags. */
const CALLS_AT_ONCE = 8

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
    for (const tag of tags) tag.found = { error: missingError(missing, name, tag.name) }
    return null
  }
  // A historian that fails, in whatever way, fails its own tags only.
  const fail = (error: unknown): void => {
    for (const tag of tags) tag.found = { error }
  }
  const names = tags.map((tag) => tag.name)
  let found: ReturnType<Historian['findTags']>
  try {
    found = historian.findTags(names, context)
  } catch (error) {
    fail(error)
    return null
  }
  const take = (metadata: readonly (TagMetadata | null)[]) => takeFound(historian, tags, metadata, context)
  if (!(found instanceof Promise)) return take(found)
  return found.then(async (metadata) => {
    await take(metadata)
  }, fail)
}

/** With the address as the issue's `input`: the label may be a calculation over many tags. */
export function missingError(
  code: 'TAG_NOT_FOUND' | 'HISTORIAN_NOT_FOUND',
  historian: string,
  tag: string,
): TidemarkError {
  return new TidemarkError(code, { historian, tag }, { place: { input: formatAddress(historian, tag) } })
}

/** Gives `null` when all is done. */
function takeFound(
  { name, capabilities }: Historian,
  tags: readonly WantedTag[],
  metadata: readonly (TagMetadata | null)[],
  context: CallContext,
): Promise<void> | null {
  const { aggregates, interpolation, integrals, plots, gaps, signalGaps, comparisons } = capabilities
  const pushDowns = { aggregates, interpolation, integrals, plots, gaps, signalGaps, comparisons }
  const take = (tag: WantedTag, i: number): void => {
    const found = metadata[i] ?? null
    if (found === null) {
      tag.found = { error: missingError('TAG_NOT_FOUND', name, tag.name) }
      return
    }
    const { stepped, maxGap, states } = found
    const maxGapUs = maxGap === undefined ? null : fixedDurationUs(maxGap)
    tag.found = {
      ...{ historian: name, tag: tag.name, stepped, pushDowns },
      ...(maxGapUs !== null && { maxGapUs }),
      ...(states !== undefined && { states }),
    }
  }
  if (tags.length > AT_ONCE) return forEach(tags, new CooperativeScheduler(context.signal), take)
  tags.forEach(take)
  return null
}
