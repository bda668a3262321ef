import { isObject } from '../errors/fields.ts'
import { formatCursorText, invalidCursor, readCursorText } from '../historian/cursor-text.ts'
import { formatInstant } from '../time/format.ts'
import { type Instant, isAccepted, US_PER_MS } from '../time/instant.ts'
import { parseTimeZone, type TimeZone, UTC } from '../time/zone.ts'

/**
 * Where a request goes on: everything that its first page resolved, and the time of what was given last. Going on by
 * time and not by offset is what joins pages without gap or repeat while others write.
 */
export interface Cursor {
  /** They take the place of those of the request; anything when they come from a client. */
  readonly details: Readonly<Record<string, unknown>>
  /** The next page begins after it, or is before it where the newest come first. */
  readonly resumeAt: Instant
  readonly now: Instant
  readonly zone: TimeZone
}

/** What a page leaves for the next one. */
export interface Rest {
  /** The request type that alone goes on from it. */
  readonly type: string
  /** What its first page resolved, as details that say the same at any time. */
  readonly details: Readonly<Record<string, string | null>>
  readonly resumeAt: number
}

const LONGEST = 1_000

/** The opaque text of a cursor, which goes on with the same request type and tag alone. */
export function formatCursor(
  { type, details, resumeAt }: Rest,
  { now, zone }: Pick<Cursor, 'now' | 'zone'>,
  address: string,
): string {
  return formatCursorText(JSON.stringify([now, zone.id, resumeAt, details]), `${type}\0${address}`)
}

/** The cursor of a request of this type; its details are not checked. Throws INVALID_CURSOR. */
export function parseCursor(text: string, type: string, address: string): Cursor {
  const content = readCursorText(text, `${type}\0${address}`, LONGEST)
  let parsed: unknown
  try {
    parsed = JSON.parse(content)
  } catch {
    throw invalidCursor(text)
  }
  if (!Array.isArray(parsed)) throw invalidCursor(text)
  const [now, zoneId, resumeAt, details] = parsed
  const zone = typeof zoneId === 'string' ? parseTimeZone(zoneId) : null
  if (!isAccepted(now) || zone === null || !isAccepted(resumeAt) || !isObject(details))
    throw invalidCursor(text)
  return { details, resumeAt, now, zone }
}

/** A range as details of a cursor. */
export function rangeDetails({ from, to }: { readonly from: Instant; readonly to: Instant }): {
  readonly from: string
  readonly to: string
} {
  return { from: formatInstant(from, UTC), to: formatInstant(to, UTC) }
}

/** A length of time as a detail of a cursor; `null`, as if left out, for none. */
export function lengthDetail(us: number): string | null {
  return us === 0 ? null : `${us / US_PER_MS}`
}
