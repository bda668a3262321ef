import { createHash } from 'node:crypto'
import { isObject } from '../errors/fields.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
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

const CHECK_BYTES = 9

/**
 * The opaque text of a cursor. It ends in a digest over its content, the request type and the tag, so that a made-up
 * one, or one of another tag, is noticed. It carries no right: what the key may see is checked on every call, and a
 * client that computes the digest itself gets nothing that the same details without a cursor would not give.
 */
export function formatCursor(
  { type, details, resumeAt }: Rest,
  { now, zone }: Pick<Cursor, 'now' | 'zone'>,
  address: string,
): string {
  const content = Buffer.from(JSON.stringify([now, zone.id, resumeAt, details]))
  return Buffer.concat([digest(content, type, address), content]).toString('base64url')
}

/** The cursor of a request of this type; its details are not checked. Throws INVALID_CURSOR. */
export function parseCursor(text: string, type: string, address: string): Cursor {
  const bytes = Buffer.from(text, 'base64url')
  const content = bytes.subarray(CHECK_BYTES)
  if (
    text.length > 1000 ||
    bytes.toString('base64url') !== text ||
    !digest(content, type, address).equals(bytes.subarray(0, CHECK_BYTES))
  ) {
    throw invalidCursor(text)
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(content.toString())
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

function invalidCursor(text: string): TidemarkError {
  return new TidemarkError('INVALID_CURSOR', {}, { place: { input: text.slice(0, 100) } })
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

function digest(content: Buffer, type: string, address: string): Buffer {
  return createHash('sha256')
    .update(type)
    .update('\0')
    .update(address)
    .update('\0')
    .update(content)
    .digest()
    .subarray(0, CHECK_BYTES)
}
