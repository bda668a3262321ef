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
  const historian = historianOf(text)
  if (historian === null) return null
  const tag = text.slice(historian.length + 1)
  return isTagName(tag) ? { historian, tag } : null
}

function historianOf(text: string): string | null {
  // Addresses that are read one after the other mostly name the same historian, which then is looked at once.
  if (lastStart !== '' && text.startsWith(lastStart)) return lastHistorian
  const slash = text.indexOf('/')
  const historian = text.slice(0, Math.max(slash, 0))
  if (!isHistorianName(historian)) return null
  if (historian.length <= LONGEST_KEPT) {
    lastHistorian = historian
    lastStart = `${historian}/`
  }
  return historian
}

/** No client's text of any length is to stay in memory. */
const LONGEST_KEPT = 64
let lastHistorian = ''
let lastStart = ''

/** The address of a tag; the inverse of parseAddress. */
export function formatAddress(historian: string, tag: string): string {
  return `${historian}/${tag}`
}
