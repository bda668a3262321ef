/** A tag address in its two parts. */
export interface Address {
  readonly historian: string
  readonly tag: string
}

/** Names of the built-in historians; no configured historian may have one. */
export const RESERVED_HISTORIANS: ReadonlySet<string> = new Set([
  'calc',
  'constants',
  'value',
  'siggen',
  'dates',
  'date',
  'aliases',
])

/** Longest tag name, in UTF-16 units. */
export const MAX_TAG_NAME = 512

const HISTORIAN_NAME = /^[A-Za-z0-9_.-]+$/

/** Whether a text can be the name of a historian: ASCII letters, digits, `_`, `-` and `.`, at least one. */
export function isHistorianName(text: string): boolean {
  return HISTORIAN_NAME.test(text)
}

/** Whether a name belongs to a built-in historian, in any case: `Calc` would be as good as unreachable. */
export function isReservedHistorian(name: string): boolean {
  return RESERVED_HISTORIANS.has(name.toLowerCase())
}

/** Whether a text can be the name of a tag: 1 to 512 UTF-16 units without control characters or lone surrogates. */
export function isTagName(text: string): boolean {
  // \p{Cc} is C0, DEL and C1.
  return text.length >= 1 && text.length <= MAX_TAG_NAME && text.isWellFormed() && !/\p{Cc}/u.test(text)
}

/**
 * Splits an address at its first `/`. Names are case-sensitive, taken as they are, and need not exist.
 * @returns `null` when it is no `<historian_name>/<tag_name>`
 */
export function parseAddress(text: string): Address | null {
  const slash = text.indexOf('/')
  if (slash < 0) return null
  const historian = text.slice(0, slash)
  const tag = text.slice(slash + 1)
  return isHistorianName(historian) && isTagName(tag) ? { historian, tag } : null
}

/** The address of a tag; the inverse of parseAddress. */
export function formatAddress(historian: string, tag: string): string {
  return `${historian}/${tag}`
}
