import { formatCursorText, invalidCursor, readCursorText } from './cursor-text.ts'

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

/**
 * A tag name of 512 UTF-16 units takes at most 1,536 bytes, of which base64 makes 2,048 characters; the other fields
 * are small.
 */
const LONGEST = 3_000

/** The opaque text of a position. */
export function formatSearchCursor({ historian, tag }: SearchPosition, scope: SearchScope): string {
  return formatCursorText(`${historian}/${tag}`, nameOf(scope))
}

/** The position of a cursor of the same search. Throws INVALID_CURSOR for anything else. */
export function parseSearchCursor(text: string, scope: SearchScope): SearchPosition {
  const address = readCursorText(text, nameOf(scope), LONGEST)
  const slash = address.indexOf('/')
  if (slash < 0) throw invalidCursor(text)
  return { historian: address.slice(0, slash), tag: address.slice(slash + 1) }
}

function nameOf({ historian, pattern }: SearchScope): string {
  return JSON.stringify([historian, pattern])
}
