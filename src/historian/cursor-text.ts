import { createHash } from 'node:crypto'
import { TidemarkError } from '../errors/tidemark-error.ts'

const CHECK_BYTES = 9

/**
 * The opaque text of a cursor. It begins with a digest over its content and what it belongs to, so that one made up,
 * mistyped or of another request is noticed. It carries no right: what the key may see is checked for every page, and a
 * client that computes the digest itself gets nothing that the same request without a cursor would not give.
 * @param scope what it belongs to; readCursorText takes it with the same alone
 */
export function formatCursorText(text: string, scope: string): string {
  const content = Buffer.from(text)
  return Buffer.concat([digest(content, scope), content]).toString('base64url')
}

/** What formatCursorText made a cursor of. Throws INVALID_CURSOR. @param longest characters of any that it makes */
export function readCursorText(cursor: string, scope: string, longest: number): string {
  const bytes = cursor.length <= longest ? Buffer.from(cursor, 'base64url') : Buffer.alloc(0)
  const content = bytes.subarray(CHECK_BYTES)
  // Written again it must be the same text: Node's base64 decoder passes over what it does not know.
  const isOurs =
    bytes.toString('base64url') === cursor && digest(content, scope).equals(bytes.subarray(0, CHECK_BYTES))
  if (!isOurs) throw invalidCursor(cursor)
  return content.toString()
}

export function invalidCursor(cursor: string): TidemarkError {
  return new TidemarkError('INVALID_CURSOR', {}, { place: { input: cursor.slice(0, 100) } })
}

function digest(content: Buffer, scope: string): Buffer {
  return createHash('sha256').update(`${scope}\0`).update(content).digest().subarray(0, CHECK_BYTES)
}
