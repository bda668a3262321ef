/*
 * The one place where text from outside becomes part of InfluxQL. Identifiers cannot be bound as parameters, and
 * InfluxDB 2 binds none at all, so everything is quoted; what a quoted text cannot hold is refused before it gets here.
 */

/** A measurement, tag key or field as InfluxQL's quoted identifier. */
export function quoteIdentifier(name: string): string {
  return `"${escaped(name, '"')}"`
}

/** A text as InfluxQL's string literal. */
export function quoteString(text: string): string {
  return `'${escaped(text, "'")}'`
}

/**
 * Whether InfluxQL can hold a text between quotes: its scanner takes NUL for the end of the query, and CR for a line
 * break, which must stand escaped.
 */
export function isQuotable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0') && !text.includes('\r')
}

/** Backslash, the quote and line feed are all that has an escape; any other backslash would be a syntax error. */
function escaped(text: string, quote: string): string {
  if (!isQuotable(text)) throw new RangeError('a text with NUL, CR or a lone surrogate cannot be quoted')
  return text.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`).replaceAll('\n', '\\n')
}
