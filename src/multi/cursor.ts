import { createHash } from 'node:crypto'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { END_INSTANT, type Instant, isAccepted } from '../time/instant.ts'
import { parseTimeZone, type TimeZone } from '../time/zone.ts'

/**
 * Where a request goes on: everything that its first page resolved, and the time of what was given last. Going on by
 * time and not by offset is what joins pages without gap or repeat while others write.
 */
export interface Cursor {
  /** As the request type writes them; anything when they come from a client. */
  readonly fields: readonly unknown[]
  readonly now: Instant
  readonly zone: TimeZone
}

/** What a page leaves for the next one. */
export interface Rest {
  /** The request type that alone goes on from it. */
  readonly type: string
  readonly fields: readonly (string | number | null)[]
}

const CHECK_BYTES = 9

/**
 * The opaque text of a cursor. It ends in a digest over its content, the request type and the tag, so that a made-up
 * one, or one of another tag, is noticed. It carries no right: what the key may see is checked on every call, and a
 * client that computes the digest itself gets nothing that the same details without a cursor would not give.
 */
export function formatCursor(
  { type, fields }: Rest,
  { now, zone }: Omit<Cursor, 'fields'>,
  address: string,
): string {
  const content = Buffer.from(JSON.stringify([now, zone.id, ...fields]))
  return Buffer.concat([digest(content, type, address), content]).toString('base64url')
}

/** The cursor of a request of this type; its own fields are not checked. Throws INVALID_CURSOR. */
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
  const [now, zoneId, ...fields] = parsed
  const zone = typeof zoneId === 'string' ? parseTimeZone(zoneId) : null
  if (!isAccepted(now) || zone === null) throw invalidCursor(text)
  return { fields, now, zone }
}

export function invalidCursor(text: string): TidemarkError {
  return new TidemarkError('INVALID_CURSOR', {}, { place: { input: text.slice(0, 100) } })
}

/** Whether fields of a cursor are a range; it may end where all time does. */
export function isRange(from: unknown, to: unknown): boolean {
  if (typeof from !== 'number' || typeof to !== 'number') return false
  return isAccepted(from) && (to === END_INSTANT || isAccepted(to)) && from < to
}

/** Whether a field of a cursor is a length of time, in microseconds. */
export function isLength(us: unknown): us is number {
  return typeof us === 'number' && Number.isSafeInteger(us) && us >= 0
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
