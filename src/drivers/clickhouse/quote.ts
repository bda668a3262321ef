/**
 * Values as literals of ClickHouse SQL: the one place where a text gets into a query. Version 18.16 has no bound
 * parameters, and it and today's versions read the escapes used here alike.
 */

/** A text between single quotes, whatever it holds; a lone surrogate becomes U+FFFD, as in every UTF-8 encoder. */
export function quoteText(text: string): string {
  return `'${text.replace(SPECIAL, escapeOf)}'`
}

/** Backslash and quote end or change a literal; control characters would be safe, but a log shows them as they are. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is escaped
const SPECIAL = /[\\'`\u0000-\u001f\u007f]/g

function escapeOf(character: string): string {
  if (character === '\\' || character === "'" || character === '`') return `\\${character}`
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`
}

/** A name of a database, table or cluster between backquotes. */
export function quoteName(name: string): string {
  return `\`${name.replace(SPECIAL, escapeOf)}\``
}

/** An Int64; a number beyond its range becomes its nearest end. @param value a whole number */
export function quoteInt(value: number): string {
  // Near the ends of Int64 doubles are far apart; the ends themselves need not be exact, no time is near them.
  if (value >= LARGEST) return '9223372036854775807'
  // -2^63 cannot be written as a literal: it is read as minus 2^63.
  if (value <= -LARGEST) return '-9223372036854775807'
  return BigInt(Math.trunc(value)).toString()
}

/** A Float64 to the last bit: servers read some decimals as the double beside the nearest one. @param value finite */
export function quoteDouble(value: number): string {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return `reinterpretAsFloat64(unhex('${bytes.toString('hex')}'))`
}

const LARGEST = 2 ** 63
