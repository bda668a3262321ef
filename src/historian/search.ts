import type { ErrorBody } from '../errors/error-body.ts'
import { invalidField } from '../errors/fields.ts'
import { FIXED_LIMITS } from '../errors/limits.ts'
import type { Result } from '../errors/outcome.ts'
import { showInput, TidemarkError } from '../errors/tidemark-error.ts'
import { isReservedHistorian } from '../grammar/address.ts'
import { optionalMetadata, type TagStates } from '../series/optional-metadata.ts'
import { compareNames } from '../series/tag-names.ts'
import type { CallContext, Historian, TagEntry, TagPattern } from './contract.ts'
import { answerQuery, type QueryCall } from './query-call.ts'
import { type QueryParameters, readLimit, readText } from './query-parameters.ts'
import type { HistorianView } from './registry.ts'
import {
  formatSearchCursor,
  parseSearchCursor,
  type SearchPosition,
  type SearchScope,
} from './search-cursor.ts'
import { parseTagPattern } from './tag-pattern.ts'
import { ALIASES, isAliases } from './visible-aliases.ts'

/** The answer to GET /historian/search. */
export interface SearchBody {
  /** In the order of their addresses, by code point. */
  readonly tags: readonly FoundTag[]
  /** Cursor of the next page; left out when there is none. */
  readonly next?: string
  readonly warnings?: readonly string[]
}

export interface FoundTag {
  readonly tagName: string
  /** The address. */
  readonly qualifiedTagName: string
  readonly historianName: string
  readonly description: string | null
  readonly units: string | null
  readonly stepped: boolean
  readonly maxGap?: string
  readonly states?: TagStates
  /** Always empty: clients of the interface look for it. */
  readonly metadata: Readonly<Record<string, never>>
}

const FIELDS = ['historian', 'search', 'limit', 'cursor'] as const
const DEFAULT_LIMIT = 100
const MAX_LIMIT = FIXED_LIMITS.searchResults.limit
/** Longer than any tag name; each tag is matched against the whole pattern. */
const MAX_PATTERN = 1_000

/**
 * GET /historian/search: the tags that match, of one historian or of all that the caller may see.
 * @param query the query parameters by name, texts or (of repeated ones) arrays of texts; `apikey` is passed over
 * @returns `done`; `refused` for an invalid parameter; `not-found` for an unknown historian; `unavailable` and the like
 *          when one of the historians cannot be queried, since a list with a hole would pass for the whole
 */
export async function searchTags(
  query: QueryParameters,
  call: QueryCall,
): Promise<Result<SearchBody | ErrorBody>> {
  return answerQuery(query, FIELDS, call, (context) => readPage(readSearch(query), call.historians, context))
}

interface Search extends SearchScope {
  readonly limit: number
  /** Where the page before ended. */
  readonly after: SearchPosition | null
}

function readSearch(query: QueryParameters): Search {
  const scope = {
    historian: readText(query, 'historian')?.replace(/\/$/, '') || null,
    pattern: readText(query, 'search') || null,
  }
  if (scope.pattern !== null && scope.pattern.length > MAX_PATTERN) {
    throw invalidField('search', scope.pattern, `a text of at most ${MAX_PATTERN} characters`)
  }
  const cursor = readText(query, 'cursor')
  return {
    ...scope,
    limit: readLimit(query, DEFAULT_LIMIT, MAX_LIMIT),
    after: cursor === null ? null : parseSearchCursor(cursor, scope),
  }
}

async function readPage(
  search: Search,
  historians: HistorianView,
  context: CallContext,
): Promise<SearchBody> {
  const { limit, after } = search
  const pattern = search.pattern === null ? null : parseTagPattern(search.pattern)
  const found: FoundTag[] = []
  for (const historian of historiansOf(search, historians)) {
    const order = after === null ? 1 : compareHistorians(historian.name, after.historian)
    if (order < 0) continue
    // One more than requested shows whether there is a next page, in this historian or a later one.
    const wanted = limit + 1 - found.length
    const entries = await searchHistorian(
      historian,
      pattern,
      order === 0 ? after!.tag : null,
      wanted,
      context,
    )
    for (const entry of entries) found.push(foundTag(historian.name, entry))
    if (found.length > limit) break
  }
  if (found.length <= limit) return { tags: found }
  const tags = found.slice(0, limit)
  const last = tags.at(-1)!
  return { tags, next: formatSearchCursor({ historian: last.historianName, tag: last.tagName }, search) }
}

/** What is searched, and under which name: a historian or the aliases. */
export type Searched = Pick<Historian, 'name' | 'searchTags'>

/** In the order of their tags' addresses. Other virtual historians exist and list nothing. */
function historiansOf({ historian: name }: Search, historians: HistorianView): readonly Searched[] {
  if (name === null) {
    return [...historians.list(), ...searchedAliases(historians)].sort((a, b) =>
      compareHistorians(a.name, b.name),
    )
  }
  const searched = searchedByName(name, historians)
  return searched === null ? [] : [searched]
}

/**
 * @returns null for a virtual historian, which lists nothing
 * @throws  TidemarkError for a name that no historian has which the caller may see
 */
export function searchedByName(name: string, historians: HistorianView): Searched | null {
  if (isAliases(name)) return searchedAliases(historians)[0] ?? null
  const historian = historians.find(name)
  if (historian !== null) return historian
  if (isReservedHistorian(name)) return null
  throw new TidemarkError(
    'HISTORIAN_UNKNOWN',
    { historian: showInput(name) },
    { place: { input: showInput(name) } },
  )
}

function searchedAliases({ aliases }: HistorianView): readonly Searched[] {
  if (aliases === null) return []
  return [{ name: ALIASES, searchTags: (query, context) => aliases.searchTags(query, context) }]
}

/** Order of the addresses in two historians: `-` and `.` come before the slash, so `a-b/x` stands before `a/x`. */
function compareHistorians(a: string, b: string): number {
  return compareNames(`${a}/`, `${b}/`)
}

/** The first `wanted` tags after a name; a driver may give fewer at a time than requested. */
async function searchHistorian(
  historian: Searched,
  pattern: TagPattern | null,
  after: string | null,
  wanted: number,
  context: CallContext,
): Promise<readonly TagEntry[]> {
  const found: TagEntry[] = []
  let last = after
  while (found.length < wanted) {
    context.signal.throwIfAborted()
    const page = await historian.searchTags({ pattern, after: last, limit: wanted - found.length }, context)
    found.push(...page.tags)
    if (!page.more || page.tags.length === 0) break
    last = page.tags.at(-1)!.name
  }
  return found
}

export function foundTag(historian: string, { name, metadata: fields }: TagEntry): FoundTag {
  const { description, units, stepped } = fields
  const qualifiedTagName = `${historian}/${name}`
  return {
    tagName: name,
    qualifiedTagName,
    historianName: historian,
    description,
    units,
    stepped,
    ...optionalMetadata(fields),
    metadata: {},
  }
}
