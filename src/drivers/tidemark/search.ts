import { isObject } from '../../errors/fields.ts'
import type { CallContext, TagEntry, TagMetadata, TagPage, TagQuery } from '../../historian/contract.ts'
import { formatSearchCursor } from '../../historian/search-cursor.ts'
import { tagMetadata } from '../../historian/tag-metadata.ts'
import { parseStates } from '../../series/optional-metadata.ts'
import { compareNames } from '../../series/tag-names.ts'
import { errorOfIssue, notUnderstood } from './errors.ts'
import type { Instance } from './instance.ts'

/** Most tags that the interface gives at a time, and the longest pattern that it takes. */
const MOST_TAGS = 10_000
const LONGEST_PATTERN = 1_000

/**
 * A page of the tags of a historian there. A page here goes on after a name, there by a cursor: it is made from the
 * name, and where the other instance does not take it, the pages before are passed by.
 * @param upstream the historian's name there
 */
export async function searchTags(
  instance: Instance,
  upstream: string,
  { pattern, after, limit }: TagQuery,
  context: CallContext,
): Promise<TagPage> {
  // A pattern that the interface does not take is matched here.
  const text = pattern !== null && pattern.text.length <= LONGEST_PATTERN ? pattern.text || null : null
  const isSameThere = text === (pattern?.text || null)
  const tags: TagEntry[] = []
  let place: Place = after === null ? START : { cursor: cursorAfter(upstream, after, text), isMade: true }
  while (true) {
    const isExact = isSameThere && (after === null || place.cursor !== null)
    const wanted = isExact ? Math.min(MOST_TAGS, limit - tags.length) : MOST_TAGS
    const page = await readPage(instance, upstream, text, place.cursor, wanted, context)
    if (page === null) {
      if (!place.isMade) throw notUnderstood(instance.historian, 'it does not take its own cursor')
      place = START
      continue
    }
    const { found, next } = page
    for (const entry of found) {
      if (after !== null && compareNames(entry.name, after) <= 0) continue
      if (pattern !== null && !pattern.matches(entry.name, entry.metadata.description)) continue
      if (tags.length === limit) return { tags, more: true }
      tags.push(entry)
    }
    if (next === null) return { tags, more: false }
    // Where all that is found there counts here too, there is more here when there is more there.
    if (tags.length === limit && isSameThere) return { tags, more: true }
    place = { cursor: next, isMade: false }
  }
}

interface Place {
  readonly cursor: string | null
  /** Made here, and not given by the other instance. */
  readonly isMade: boolean
}

const START: Place = { cursor: null, isMade: false }

function cursorAfter(historian: string, tag: string, pattern: string | null): string {
  return formatSearchCursor({ historian, tag }, { historian, pattern })
}

/** Null: the cursor is not taken. */
async function readPage(
  instance: Instance,
  upstream: string,
  pattern: string | null,
  cursor: string | null,
  wanted: number,
  context: CallContext,
): Promise<{ readonly found: readonly TagEntry[]; readonly next: string | null } | null> {
  const { historian } = instance
  const query = new URLSearchParams({
    historian: upstream,
    limit: String(wanted),
    ...(pattern !== null && { search: pattern }),
    ...(cursor !== null && { cursor }),
  })
  const { status, body, issues } = await instance.read('search', `/historian/search?${query}`, null, context)
  if (status !== 200) {
    const [issue] = issues
    if (issue === undefined) throw notUnderstood(historian, `HTTP status ${status} without a reason`)
    if (issue.code === 'INVALID_CURSOR' && cursor !== null) return null
    throw errorOfIssue(historian, issue)
  }
  const { tags, next } = body
  if (!Array.isArray(tags)) throw notUnderstood(historian, 'its tags are no array')
  const found = tags.map((tag: unknown): TagEntry => {
    const name = isObject(tag) ? tag.tagName : null
    const metadata = readMetadata(tag)
    if (typeof name !== 'string' || metadata === null) throw notUnderstood(historian, 'a tag of it is none')
    return { name, metadata }
  })
  return { found, next: typeof next === 'string' ? next : null }
}

/** Metadata as the interface gives it; null for anything else. */
export function readMetadata(input: unknown): TagMetadata | null {
  if (!isObject(input)) return null
  const { description, units, stepped, maxGap, states } = input
  if (description !== null && typeof description !== 'string') return null
  if (units !== null && typeof units !== 'string') return null
  if (typeof stepped !== 'boolean') return null
  const parsed = states == null ? null : parseStates(states)
  return tagMetadata(
    { description, units, stepped },
    { ...(typeof maxGap === 'string' && { maxGap }), ...(parsed !== null && { states: parsed }) },
  )
}
