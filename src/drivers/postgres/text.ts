import { TidemarkError } from '../../errors/tidemark-error.ts'

/**
 * Longest name of a table or column that PostgreSQL keeps; it cuts longer ones, which would then mean something else.
 */
export const MAX_IDENTIFIER_BYTES = 63

/** A name as an SQL identifier: taken as it is, whatever it holds. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** A text as an SQL literal, for the few places that take no parameter. Backslashes are themselves in it. */
export function literal(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`
  // E'' means the same whatever standard_conforming_strings is.
  return text.includes('\\') ? ` E${quoted.replaceAll('\\', '\\\\')}` : quoted
}

/**
 * Whether PostgreSQL's text can hold it: no NUL characters and no halves of surrogate pairs, which UTF-8 has no bytes
 * for.
 */
export function canHold(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Refuses a text that cannot be stored; see {@link storableError}. */
export function checkStorable(historian: string, tag: string, field: string, text: string): void {
  const error = storableError(historian, tag, field, text)
  if (error !== null) throw error
}

/**
 * The error of a text that cannot be stored, NOT_SUPPORTED with a sentence that names the field and the tag; `null` for
 * all others.
 */
export function storableError(
  historian: string,
  tag: string,
  field: string,
  text: string | null,
): TidemarkError | null {
  if (text === null || canHold(text)) return null
  const shown = tag.toWellFormed().replaceAll('\0', '\ufffd').slice(0, 100)
  return new TidemarkError(
    'NOT_SUPPORTED',
    {
      historian,
      operation: `store the ${field} of tag ${shown}: it holds a NUL character or half a surrogate pair, which PostgreSQL has no place for`,
    },
    { place: { tag: `${historian}/${shown}` } },
  )
}
