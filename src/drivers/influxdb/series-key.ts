import type { SeriesField } from './layout.ts'

/**
 * Reads a series key as SHOW SERIES gives it, `measurement,key=value,...` with backslashes before commas, blanks and
 * (in tags) equals signs that belong to a name; `null` for what is none. Other backslashes stand for themselves.
 */
export function parseSeriesKey(key: string): Pick<SeriesField, 'measurement' | 'tags'> | null {
  const [measurement = '', ...pairs] = splitAt(key, ',')
  const tags: (readonly [string, string])[] = []
  for (const pair of pairs) {
    const parts = splitAt(pair, '=')
    if (parts.length !== 2) return null
    tags.push([unescaped(parts[0]!), unescaped(parts[1]!)])
  }
  if (measurement === '') return null
  // An equals sign separates nothing before the tags, and is not escaped there.
  return {
    measurement: measurement.replace(/\\([, ])/g, '$1'),
    tags: tags.sort(([a], [b]) => (a < b ? -1 : 1)),
  }
}

/** Cuts at each separator that has no backslash before it. */
function splitAt(text: string, separator: string): string[] {
  const parts: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\' && isEscapable(text[at + 1])) at++
    else if (text[at] === separator) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  parts.push(text.slice(start))
  return parts
}

function unescaped(text: string): string {
  return text.replace(/\\([,= ])/g, '$1')
}

function isEscapable(character: string | undefined): boolean {
  return character === ',' || character === '=' || character === ' '
}
