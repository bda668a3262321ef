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
 * The aliases that one caller sees, as tags and inside calculations; src/aliases implements it. One that leads to a
 * historian which the caller may not see, by whatever way, does not exist here.
 */
export interface VisibleAliases {
  /** Whether there is any. */
  exist(context: CallContext): Promise<boolean>
  /** As Historian.findTags: `null` for an alias that does not exist. */
  findTags(names: readonly string[], context: CallContext): Promise<readonly (TagMetadata | null)[]>
  /** As Historian.searchTags. */
  searchTags(query: TagQuery, context: CallContext): Promise<TagPage>
  /** Puts what they lead to in the place of aliases. Never throws for what a tree or an alias says. */
  expand(trees: readonly TagTree[], time: TimeContext): Promise<Expansion>
}

export interface Expansion {
  /** In the order given; a tree without aliases is the same object. */
  readonly trees: readonly TagTree[]
  /** Aliases that still stand in the trees because they lead nowhere, by address as it stands there, with the reason. */
  readonly unresolved: ReadonlyMap<string, TidemarkError>
}
