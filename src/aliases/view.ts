import { TidemarkError } from '../errors/tidemark-error.ts'
import { formatAddress, isReservedHistorian } from '../grammar/address.ts'
import { parseTag } from '../grammar/parser.ts'
import { replaceTags } from '../grammar/replace-tags.ts'
import type { FunctionSignature, TagNode, TagTree } from '../grammar/tree.ts'
import { tagsOf } from '../grammar/visit.ts'
import type { CallContext, TagEntry, TagMetadata, TagPage, TagQuery } from '../historian/contract.ts'
import type { HistorianView } from '../historian/registry.ts'
import { tagMetadata } from '../historian/tag-metadata.ts'
import {
  ALIASES,
  type AliasUse,
  type Expansion,
  type Followed,
  isAliases,
  type VisibleAliases,
} from '../historian/visible-aliases.ts'
import { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import type { Instant } from '../time/instant.ts'
import type { TimeContext } from '../time/parse.ts'
import type { TimeZone } from '../time/zone.ts'
import { AliasExpander } from './expander.ts'
import { SeenAliases } from './seen-aliases.ts'
import type { Alias, AliasReader, AliasStore } from './store.ts'
import { type AliasWalk, walkAliases } from './walk.ts'

/** What aliases are read with. */
export interface AliasLanguage {
  readonly signatures: ReadonlyMap<string, FunctionSignature>
  /** Historian of a bare name inside a calculation. */
  readonly defaultHistorian: string | null
  /** Reference time and zone where an alias is looked at outside of a multi call, which has its own. */
  readonly clock: () => Instant
  readonly zone: TimeZone
}

const ALL = { prefix: '', after: null }

/** How often an alias that others change meanwhile is read and put anew. */
const FOLLOW_TRIES = 5

/** Makes the view of each caller. */
export function aliasViews(
  store: AliasStore,
  language: AliasLanguage,
): (historians: HistorianView) => AliasView {
  return (historians) => new AliasView(store, historians, language)
}

/** The aliases that one caller sees, and what the caller may do with them. */
export class AliasView implements VisibleAliases {
  readonly #store: AliasStore
  readonly #historians: HistorianView
  readonly #language: AliasLanguage

  /** @param historians that the caller sees */
  constructor(store: AliasStore, historians: HistorianView, language: AliasLanguage) {
    this.#store = store
    this.#historians = historians
    this.#language = language
  }

  async exist(context: CallContext): Promise<boolean> {
    const { aliases } = await this.list({ prefix: '', after: null, limit: 1 }, context)
    return aliases.length > 0
  }

  /** `null` for an alias that does not exist. */
  async get(name: string): Promise<Alias | null> {
    return this.#store.read((aliases) => this.#visible(aliases, name)?.alias ?? null)
  }

  /** A page by name. */
  async list(
    query: { readonly prefix: string; readonly after: string | null; readonly limit: number },
    context: CallContext,
  ): Promise<{ readonly aliases: readonly Alias[]; readonly more: boolean }> {
    const { found, more } = await this.#collect(query.prefix, () => true, query, context)
    return { aliases: found.map(({ alias }) => alias), more }
  }

  async findTags(names: readonly string[], context: CallContext): Promise<readonly (TagMetadata | null)[]> {
    const found: (Visible | null)[] = []
    const seen = new SeenAliases()
    const expander = this.#expander(seen)
    const scheduler = new CooperativeScheduler(context.signal)
    while (found.length < names.length) {
      await this.#store.read((aliases) => {
        seen.readFrom(aliases)
        do found.push(this.#visible(seen, names[found.length]!, expander))
        while (found.length < names.length && !scheduler.isDue)
      })
      if (found.length < names.length) await scheduler.yieldIfDue()
    }
    const stored = await this.#storedOf(
      found.map((visible) => visible?.tree ?? null),
      context,
    )
    return found.map((visible, i) => visible && metadataOf(visible.alias, stored[i]!))
  }

  async searchTags({ pattern, after, limit }: TagQuery, context: CallContext): Promise<TagPage> {
    const matches = ({ name, description }: Alias) => pattern === null || pattern.matches(name, description)
    const { found, more } = await this.#collect('', matches, { after, limit }, context)
    const stored = await this.#storedOf(
      found.map(({ tree }) => tree),
      context,
    )
    const tags = found.map(({ alias }, i): TagEntry => {
      return { name: alias.name, metadata: metadataOf(alias, stored[i]!) }
    })
    return { tags, more }
  }

  async expand(trees: readonly TagTree[], time: TimeContext, { signal }: CallContext): Promise<Expansion> {
    const expanded: TagTree[] = []
    let reader: AliasReader | null = null
    // One for all of them: what an alias refers to stays the same, whatever changes in between.
    const expander = this.#expander({ get: (name) => reader!.get(name) }, time)
    const scheduler = new CooperativeScheduler(signal)
    while (expanded.length < trees.length) {
      await this.#store.read((aliases) => {
        reader = aliases
        do expanded.push(expander.expand(trees[expanded.length]!))
        while (expanded.length < trees.length && !scheduler.isDue)
      })
      await scheduler.yieldIfDue()
    }
    return { trees: expanded, unresolved: expander.unresolved }
  }

  async findUses(
    tags: { has(address: string): boolean },
    most: number,
    context: CallContext,
  ): Promise<readonly AliasUse[]> {
    const uses: AliasUse[] = []
    const counts = new Map<string, number>()
    await this.#each(ALL, context, (alias, visible) => {
      for (const tag of this.#tagsNamedBy(alias)) {
        const count = tags.has(tag) ? (counts.get(tag) ?? 0) : most
        if (count >= most) continue
        counts.set(tag, count + 1)
        uses.push({ alias: visible() === null ? null : alias.name, tag })
      }
      return 'go on'
    })
    return uses
  }

  async follow(
    renames: ReadonlyMap<string, string>,
    dryRun: boolean,
    context: CallContext,
  ): Promise<readonly Followed[]> {
    const users: { readonly name: string; readonly shown: string | null }[] = []
    await this.#each(ALL, context, (alias, visible) => {
      if ([...this.#tagsNamedBy(alias)].some((tag) => renames.has(tag))) {
        users.push({ name: alias.name, shown: visible() === null ? null : alias.name })
      }
      return 'go on'
    })
    const followed: Followed[] = []
    const scheduler = new CooperativeScheduler(context.signal)
    for (const { name, shown } of users) {
      await scheduler.yieldIfDue()
      const outcome = await this.#followOne(name, renames, dryRun)
      if (outcome !== null) followed.push({ alias: shown, outcome })
    }
    return followed
  }

  /** `null` when the alias does not name such a tag any more. */
  async #followOne(
    name: string,
    renames: ReadonlyMap<string, string>,
    dryRun: boolean,
  ): Promise<Followed['outcome'] | null> {
    for (let tries = 1; ; tries++) {
      try {
        const alias = await this.#store.read((aliases) => aliases.get(name))
        const tree = alias === null ? null : this.#tryParse(alias.tag)
        if (alias === null || tree === null) return null
        const tag = replaceTags(alias.tag, tree, ({ historian, name }) =>
          renames.get(formatAddress(historian, name)),
        )
        if (tag === alias.tag) return null
        this.#parse(tag)
        if (dryRun) return tag
        await this.#store.put({ ...alias, tag }, (aliases) => {
          if (!isSame(aliases.get(name), alias)) throw new TidemarkError('ALIAS_CHANGED', { name })
        })
        return tag
      } catch (error) {
        if (!(error instanceof TidemarkError)) throw error
        if (error.code !== 'ALIAS_CHANGED' || tries === FOLLOW_TRIES) return error
      }
    }
  }

  /** As `walkAliases`; `visible` gives the alias as the caller sees it, for which it is expanded. */
  async #each(
    query: AliasWalk,
    context: CallContext,
    look: (alias: Alias, visible: () => Visible | null) => 'go on' | 'enough',
  ): Promise<void> {
    let last: { readonly seen: SeenAliases; readonly expander: AliasExpander } | null = null
    await walkAliases(this.#store, query, context.signal, (alias, seen) => {
      if (last?.seen !== seen) last = { seen, expander: this.#expander(seen) }
      const { expander } = last
      return look(alias, () => this.#visible(seen, alias.name, expander))
    })
  }

  /** Addresses of the tags that an alias names itself, each once; none when it no longer parses. */
  #tagsNamedBy({ tag }: Alias): ReadonlySet<string> {
    const tree = this.#tryParse(tag)
    return new Set(
      tree === null ? [] : tagsOf(tree).map(({ historian, name }) => formatAddress(historian, name)),
    )
  }

  #tryParse(address: string): TagTree | null {
    try {
      return this.#parse(address)
    } catch (error) {
      if (error instanceof TidemarkError) return null
      throw error
    }
  }

  /**
   * Stores an alias, durably.
   * @throws INVALID_TAG_ADDRESS, CALCULATION_SYNTAX; ALIAS_CYCLE and ALIAS_LIMIT; ALIAS_TARGET when the caller would
   *         not see the alias; ALIAS_NOT_CHANGEABLE when the name is that of an alias which the caller does not see
   */
  async put(alias: Alias): Promise<'created' | 'replaced'> {
    const tree = this.#parse(alias.tag)
    return this.#store.put(alias, (aliases) => {
      const { name } = alias
      if (aliases.get(name) !== null && this.#visible(aliases, name) === null) {
        throw new TidemarkError('ALIAS_NOT_CHANGEABLE', { name })
      }
      if (!this.#historians.seesAll) this.#checkVisible(name, tree, aliases)
      // As it will be: with this alias in place.
      const after = { get: (other: string) => (other === name ? alias : aliases.get(other)) }
      const found = this.#expander(after).lookUp(name)
      if (found instanceof TidemarkError) throw found
    })
  }

  /** Removes an alias, durably. @throws TAG_NOT_FOUND */
  async delete(name: string): Promise<void> {
    await this.#store.delete(name, (aliases) => {
      if (this.#visible(aliases, name) === null) throw aliasNotFound(name)
    })
  }

  /**
   * Dangling references of an address, as sentences. It may come into being later, so that is no error; but
   * most often it is a slip of the pen.
   */
  async findMissing(address: string, context: CallContext): Promise<readonly string[]> {
    const tags = tagsOf(this.#parse(address)).filter(
      ({ historian }) => isAliases(historian) || !isReservedHistorian(historian),
    )
    const sentences = new Set<string>()
    for (const [historian, group] of Map.groupBy(tags, (tag) => tag.historian)) {
      const source = isAliases(historian) ? this : this.#historians.find(historian)
      const names = [...new Set(group.map(({ name }) => name))]
      const found = await source?.findTags(names, context)
      names.forEach((tag, i) => {
        if (found?.[i]) return
        const code = source === null ? 'HISTORIAN_NOT_FOUND' : 'TAG_NOT_FOUND'
        sentences.add(new TidemarkError(code, { historian, tag }).message)
      })
    }
    return [...sentences]
  }

  /** A caller who does not see all historians only makes aliases that are then visible to that caller. */
  #checkVisible(name: string, tree: TagTree, aliases: AliasReader): void {
    const expander = this.#expander(aliases)
    expander.expand(tree)
    for (const { historian, name: tag } of tagsOf(tree)) {
      const refuse = (code: 'HISTORIAN_NOT_FOUND' | 'TAG_NOT_FOUND') => {
        const reason = new TidemarkError(code, { historian, tag }).message
        return new TidemarkError('ALIAS_TARGET', { name, reason })
      }
      // An alias of its own name is a cycle, which has a sentence of its own.
      if (isAliases(historian)) {
        const error = tag === name ? undefined : expander.unresolved.get(formatAddress(historian, tag))
        if (error !== undefined) throw error.code === 'ALIAS_LIMIT' ? error : refuse('TAG_NOT_FOUND')
      } else if (!isReservedHistorian(historian) && this.#historians.find(historian) === null) {
        throw refuse('HISTORIAN_NOT_FOUND')
      }
    }
  }

  /**
   * An alias with what it refers to, `null` when it does not exist for the caller. A dangling one is there only
   * for a caller who sees everything.
   */
  #visible(
    aliases: Pick<AliasReader, 'get'>,
    name: string,
    expander = this.#expander(aliases),
  ): Visible | null {
    const alias = aliases.get(name)
    if (alias === null) return null
    const tree = expander.lookUp(name)
    if (!(tree instanceof TidemarkError)) return { alias, tree }
    return this.#historians.seesAll ? { alias, tree: null } : null
  }

  /** The first aliases in the order of their names that the caller sees. */
  async #collect(
    prefix: string,
    matches: (alias: Alias) => boolean,
    { after, limit }: { readonly after: string | null; readonly limit: number },
    context: CallContext,
  ): Promise<{ readonly found: readonly Visible[]; readonly more: boolean }> {
    const found: Visible[] = []
    await this.#each({ prefix, after }, context, (alias, visible) => {
      const one = matches(alias) ? visible() : null
      if (one !== null) found.push(one)
      return found.length > limit ? 'enough' : 'go on'
    })
    return { found: found.slice(0, limit), more: found.length > limit }
  }

  /** Metadata of each tree that is a stored tag; `null` for everything else. */
  async #storedOf(
    trees: readonly (TagTree | null)[],
    context: CallContext,
  ): Promise<readonly (TagMetadata | null)[]> {
    const stored: (TagMetadata | null)[] = trees.map(() => null)
    const tags: { readonly tag: TagNode; readonly index: number }[] = []
    trees.forEach((tree, index) => {
      if (tree?.kind === 'tag') tags.push({ tag: tree, index })
    })
    await Promise.all(
      Array.from(
        Map.groupBy(tags, ({ tag }) => tag.historian),
        async ([name, group]) => {
          const found = await this.#historians.find(name)?.findTags(
            group.map(({ tag }) => tag.name),
            context,
          )
          group.forEach(({ index }, i) => {
            stored[index] = found?.[i] ?? null
          })
        },
      ),
    )
    return stored
  }

  #expander(aliases: Pick<AliasReader, 'get'>, time?: TimeContext): AliasExpander {
    const historians = this.#historians
    return new AliasExpander({
      aliases,
      parse: (address) => this.#parse(address, time),
      sees: historians.seesAll ? null : (historian) => historians.find(historian) !== null,
    })
  }

  #parse(address: string, time?: TimeContext): TagTree {
    const { signatures, defaultHistorian, clock, zone } = this.#language
    return parseTag(address, { signatures, defaultHistorian, ...(time ?? { now: clock(), zone }) })
  }
}

/** An alias that the caller sees, and what it refers to: `null` when it is dangling. */
interface Visible {
  readonly alias: Alias
  readonly tree: TagTree | null
}

function isSame(one: Alias | null, other: Alias): boolean {
  return one?.tag === other.tag && one.description === other.description && one.units === other.units
}

/** The error of an alias that does not exist. */
export function aliasNotFound(name: string): TidemarkError {
  const place = { tag: formatAddress(ALIASES, name) }
  return new TidemarkError('TAG_NOT_FOUND', { historian: ALIASES, tag: name }, { place })
}

function metadataOf({ description, units }: Alias, stored: TagMetadata | null): TagMetadata {
  return tagMetadata({ description, units, stepped: stored?.stepped ?? false }, stored ?? {})
}
