import type { TidemarkError } from '../errors/tidemark-error.ts'
import type { TagTree } from '../grammar/tree.ts'
import type { TimeContext } from '../time/parse.ts'
import type { CallContext, TagMetadata, TagPage, TagQuery } from './contract.ts'

/** Name of the historian whose tags are aliases. */
export const ALIASES = 'aliases'

/** Whether a tag of this historian is an alias; its name is taken in any case, as all built-in ones are. */
export function isAliases(historian: string): boolean {
  return historian.length === ALIASES.length && historian.toLowerCase() === ALIASES
}

/**
 * The aliases that one caller sees, as tags and inside calculations; src/aliases implements it. One that refers to a
 * historian which the caller may not see, by whatever way, does not exist here.
 */
export interface VisibleAliases {
  /** Whether there is any. */
  exist(context: CallContext): Promise<boolean>
  /** As Historian.findTags: `null` for an alias that does not exist. */
  findTags(names: readonly string[], context: CallContext): Promise<readonly (TagMetadata | null)[]>
  /** As Historian.searchTags. */
  searchTags(query: TagQuery, context: CallContext): Promise<TagPage>
  /**
   * Uses of tags in all aliases, also in aliases that the caller does not see; at most so many for a tag.
   * @param tags addresses, as those of a Set or the keys of a Map
   */
  findUses(
    tags: { has(address: string): boolean },
    most: number,
    context: CallContext,
  ): Promise<readonly AliasUse[]>
  /**
   * Lets all aliases that name a tag name it by its new address, durably one by one; the rest of a calculation stays as
   * it was written.
   * @param renames new addresses by old ones, all at once
   * @param dryRun  only says what would be written
   */
  follow(
    renames: ReadonlyMap<string, string>,
    dryRun: boolean,
    context: CallContext,
  ): Promise<readonly Followed[]>
  /** Replaces aliases by what they refer to. Never throws for what a tree or an alias says. */
  expand(trees: readonly TagTree[], time: TimeContext, context: CallContext): Promise<Expansion>
}

/** An alias whose address names a tag. */
export interface AliasUse {
  /** Name of the alias; `null` for one that the caller does not see. */
  readonly alias: string | null
  /** Address of the tag. */
  readonly tag: string
}

/** What became of an alias that was to refer to the new name of a tag. */
export interface Followed {
  /** Name of the alias; `null` for one that the caller does not see. */
  readonly alias: string | null
  /** What it refers to now, or why it could not be changed. */
  readonly outcome: string | TidemarkError
}

export interface Expansion {
  /** In the order given; a tree without aliases is the same object. */
  readonly trees: readonly TagTree[]
  /**
   * Aliases that still stand in the trees because they lead nowhere, by address as it stands there, with the reason.
   */
  readonly unresolved: ReadonlyMap<string, TidemarkError>
}
