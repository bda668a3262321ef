/**
 * A part of a search pattern that stands literally, but for the case of ASCII letters, in every name or description that
 * matches: for the server to narrow by, before the pattern itself decides. `null` where the pattern has none.
 *
 * Only ASCII counts, without s, k and i: other scripts have characters that fold to these (the long s, the sign of the
 * kelvin, the dotless i), and the server's idea of upper and lower case ends with ASCII.
 */
export function literalPart(pattern: string): string | null {
  const parts = pattern.match(/[\x20-\x7e]+/g)?.flatMap((part) => part.split(/[*?sSkKiI]/)) ?? []
  const longest = parts.reduce((best, part) => (part.length > best.length ? part : best), '')
  return longest === '' ? null : longest
}
