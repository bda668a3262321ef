import { createHash } from 'node:crypto'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { type Instant, isAccepted } from '../time/instant.ts'
import { parseTimeZone, type TimeZone } from '../time/zone.ts'
import { BOUNDARIES, type Boundary, type RawPointsRequest } from './requests.ts'

/**
 * Where a RAW_POINTS request goes on: everything that its first page resolved, and the time of the last point given.
 * Going on by time and not by offset is what joins pages without gap or repeat while others write.
 */
export interface Cursor {
  readonly request: RawPointsRequest
  readonly now: Instant
  readonly zone: TimeZone
}

const CHECK_BYTES = 9

/**
 * The opaque text of a cursor. It ends in a digest over its content and the tag, so that a made-up one, or one of
 * another tag, is noticed. It carries no right: what the key may see is checked on every call, and whoever goes to the
 * length of computing the digest gets nothing that the same details without a cursor would not give.
 */
export function formatCursor(cursor: Cursor, address: string): string {
  const { from, to, left, right, order, resumeAfter } = cursor.request
  const fields = [
    from,
    to,
    BOUNDARIES.indexOf(left),
    BOUNDARIES.indexOf(right),
    order,
    resumeAfter,
    cursor.now,
    cursor.zone.id,
  ]
  const content = Buffer.from(JSON.stringify(fields))
  return Buffer.concat([digest(content, address), content]).toString('base64url')
}

/** @param maxPoints of the request that carries the cursor; all else comes from the cursor. Throws INVALID_CURSOR. */
export function parseCursor(text: string, address: string, maxPoints: number): Cursor {
  const bytes = Buffer.from(text, 'base64url')
  const content = bytes.subarray(CHECK_BYTES)
  if (
    text.length > 1000 ||
    bytes.toString('base64url') !== text ||
    !digest(content, address).equals(bytes.subarray(0, CHECK_BYTES))
  ) {
    throw invalid(text)
  }
  let fields: unknown
  try {
    fields = JSON.parse(content.toString())
  } catch {
    throw invalid(text)
  }
  if (!Array.isArray(fields) || fields.length !== 8) throw invalid(text)
  const [from, to, leftIndex, rightIndex, order, resumeAfter, now, zoneId] = fields
  const left: Boundary | undefined = BOUNDARIES[leftIndex]
  const right: Boundary | undefined = BOUNDARIES[rightIndex]
  const zone = typeof zoneId === 'string' ? parseTimeZone(zoneId) : null
  if (![from, to, resumeAfter, now].every(isAccepted) || from >= to || zone === null) throw invalid(text)
  if (left === undefined || right === undefined || (order !== 'asc' && order !== 'desc')) throw invalid(text)
  return { request: { kind: 'raw', from, to, left, right, order, maxPoints, resumeAfter }, now, zone }
}

function digest(content: Buffer, address: string): Buffer {
  return createHash('sha256').update(address).update('\0').update(content).digest().subarray(0, CHECK_BYTES)
}

function invalid(text: string): TidemarkError {
  return new TidemarkError('INVALID_CURSOR', {}, { place: { input: text.slice(0, 100) } })
}
