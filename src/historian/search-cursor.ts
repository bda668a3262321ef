import { createHash } from 'node:crypto'
import { TidemarkError } from '../errors/tidemark-error.ts'

/** The last tag of a page of search results: the next page begins after its address. */
export interface SearchPosition {
  readonly historian: string
  readonly tag: string
}

/** What a cursor belongs to; one of another search is refused. */
export interface SearchScope {
  /** `null` for all historians. */
  readonly historian: string | null
  /** `null` for all tags. */
  readonly pattern: string | null
}

const CHECK_BYTES = 9
/**
 * A tag name of 512 UTF-16 units takes at most 1,536 bytes, of which base64 makes 2,048 characters; the other fields
 * are small.
 */
const LONGEST = 3_000

/**
 * The opaque text of a position. It begins with a digest over position and search, so that one made up, mistyped or of
 * another search is noticed. It carries no right: what a key may see is looked up for every page.
 */
export function formatSearchCursor({ historian, tag }: SearchPosition, scope: SearchScope): string {
  const content = Buffer.from(`${historian}/${tag}`)
  return Buffer.concat([digest(content, scope), content]).toString('base64url')
}

/** The position of a cursor of the same search. Throws INVALID_CURSOR for anything else. */
export function parseSearchCursor(text: string, scope: SearchScope): SearchPosition {
  const bytes = text.length <= LONGEST ? Buffer.from(text, 'base64url') : Buffer.alloc(0)
  const content = bytes.subarray(CHECK_BYTES)
  const address = content.toString()
  const slash = address.indexOf('/')
  // Written again it must be the same text: Node's base64 decoder passes over what it does not know.
  const isOurs =
    bytes.toString('base64url') === text && digest(content, scope).equals(bytes.subarray(0, CHECK_BYTES))
  if (!isOurs || slash < 0)
    throw new TidemarkError('INVALID_CURSOR', {}, { place: { input: text.slice(0, 100) } })
  return { historian: address.slice(0, slash), tag: address.slice(slash + 1) }
}

function digest(content: Buffer, { historian, pattern }: SearchScope): Buffer {
  const scope = JSON.stringify([historian, pattern])
  return createHash('sha256').update(scope).update('\0').update(content).digest().subarray(0, CHECK_BYTES)
}
