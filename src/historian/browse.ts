import type { ErrorBody } from '../errors/error-body.ts'
import { invalidField } from '../errors/fields.ts'
import { FIXED_LIMITS } from '../errors/limits.ts'
import type { Result } from '../errors/outcome.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { compareNames } from '../series/tag-names.ts'
import type { CallContext, TagEntry } from './contract.ts'
import { answerQuery, type QueryCall } from './query-call.ts'
import { type QueryParameters, readLimit, readText } from './query-parameters.ts'
import { type FoundTag, foundTag, type Searched, searchedByName } from './search.ts'
import { formatSearchCursor, parseSearchCursor, type SearchScope } from './search-cursor.ts'

/** The answer to GET /historian/browse: one level of the tree that the names of a historian's tags make. */
export interface BrowseBody {
  /** Beginnings of names up to and with their next separator, by code point; each has at least one tag below it. */
  readonly branches: readonly string[]
  /** Tags without a separator after the prefix, or that end with one, by code point. */
  readonly tags: readonly FoundTag[]
  /** Cursor of the next page; left out when there is none. */
  readonly next?: string
  readonly warnings?: readonly string[]
}

const FIELDS = ['historian', 'prefix', 'separators', 'limit', 'cursor'] as const
const DEFAULT_LIMIT = 100
const MAX_LIMIT = FIXED_LIMITS.browseResults.limit
const DEFAULT_SEPARATORS = './_'
const MAX_SEPARATORS = 16
const MAX_PREFIX = 1_000
/** The last code point: what comes after a branch comes after this below it. */
const LAST = '\u{10ffff}'
/** Tags are read so many at a time, because the next one is often in a branch that is skipped. */
const PAGE = 32

/**
 * GET /historian/browse: the branches and tags directly below a beginning of names. Where a branch is found, the tags
 * in it are skipped, so that the cost is one look-up for each branch, whatever the number of tags.
 * @param query the query parameters by name; `apikey` is passed over
 * @returns `done`; `refused` for an invalid parameter; `not-found` for an unknown historian; `unavailable` and the like
 */
export async function browseTags(
  query: QueryParameters,
  call: QueryCall,
): Promise<Result<BrowseBody | ErrorBody>> {
  return answerQuery(query, FIELDS, call, (context) => {
    const wish = readWish(query)
    return readLevel(searchedByName(wish.historian, call.historians), wish, context)
  })
}

interface Wish {
  readonly historian: string
  readonly prefix: string
  readonly separators: ReadonlySet<string>
  readonly limit: number
  /** Where the page before ended: everything up to this text is passed over. */
  readonly after: string
  readonly scope: SearchScope
}

function readWish(query: QueryParameters): Wish {
  const historian = readText(query, 'historian')?.replace(/\/$/, '') || null
  if (historian === null) {
    const message = 'historian is missing: tags are browsed in one historian, which GET /historian/list names'
    throw new TidemarkError('INVALID_REQUEST', { message })
  }
  const prefix = readText(query, 'prefix') ?? ''
  if (prefix.length > MAX_PREFIX) {
    throw invalidField('prefix', prefix, `a text of at most ${MAX_PREFIX} characters`)
  }
  const separators = readText(query, 'separators') || DEFAULT_SEPARATORS
  if (separators.length > MAX_SEPARATORS) {
    throw invalidField('separators', separators, `at most ${MAX_SEPARATORS} characters`)
  }
  const scope = { historian, pattern: JSON.stringify({ prefix, separators }) }
  const cursor = readText(query, 'cursor')
  const after = cursor === null ? prefix : parseSearchCursor(cursor, scope).tag
  const limit = readLimit(query, DEFAULT_LIMIT, MAX_LIMIT)
  return { historian, prefix, separators: new Set(separators), limit, after, scope }
}

async function readLevel(searched: Searched | null, wish: Wish, context: CallContext): Promise<BrowseBody> {
  const branches: string[] = []
  const tags: FoundTag[] = []
  if (searched === null) return { branches, tags }
  const { historian, prefix, separators, limit, after, scope } = wish
  let last = after
  for await (const { name, metadata } of tagsBelow(searched, wish, () => last, context)) {
    if (branches.length + tags.length === limit) {
      return { branches, tags, next: formatSearchCursor({ historian, tag: last }, scope) }
    }
    const branch = branchOf(name, prefix, separators)
    if (branch === null) tags.push(foundTag(searched.name, { name, metadata }))
    else branches.push(branch)
    last = branch === null ? name : branch + LAST
  }
  return { branches, tags }
}

/**
 * The tags that begin so, without those up to a text that may move on meanwhile, and those in the branch that it is in.
 */
async function* tagsBelow(
  searched: Searched,
  { prefix, separators }: Wish,
  last: () => string,
  context: CallContext,
): AsyncGenerator<TagEntry> {
  let after = last()
  for (let more = true; more; ) {
    context.signal.throwIfAborted()
    const page = await searched.searchTags({ pattern: null, after: after || null, limit: PAGE }, context)
    for (const tag of page.tags) {
      if (!tag.name.startsWith(prefix)) return
      // Names may go on with the last code point, too.
      const given = branchOf(last(), prefix, separators)
      if (given === null || !tag.name.startsWith(given)) yield tag
    }
    const read = page.tags.at(-1)?.name
    more = page.more && read !== undefined
    after = read !== undefined && compareNames(read, last()) > 0 ? read : last()
  }
}

/** The name up to and with its next separator; null where none comes, or nothing after it. */
function branchOf(name: string, prefix: string, separators: ReadonlySet<string>): string | null {
  let end = prefix.length
  for (const character of name.slice(prefix.length)) {
    end += character.length
    if (separators.has(character)) return end < name.length ? name.slice(0, end) : null
  }
  return null
}
