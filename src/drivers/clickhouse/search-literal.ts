import type { TagPattern } from '../../historian/contract.ts'

/**
 * A part of a text with wildcards that stands literally, but for the case of ASCII letters, in every name or
 * description that matches: for the server to narrow by, before the pattern itself decides. `null` where the pattern
 * has none.
 *
 * Only ASCII counts, without s, k and i: other scripts have characters that fold to these (the long s, the sign of the
 * kelvin, the dotless i), and the server's idea of upper and lower case ends with ASCII.
 */
export function literalPart(glob: string): string | null {
  const parts = glob.match(/[\x20-\x7e]+/g)?.flatMap((part) => part.split(/[*?sSkKiI]/)) ?? []
  const longest = parts.reduce((best, part) => (part.length > best.length ? part : best), '')
  return longest === '' ? null : longest
}

/** More words narrow no better. */
const MAX_WORDS = 4

/** Such parts of a search, each of which stands in the name or the description of every tag that matches; at most 4. */
export function literalParts({ narrow }: TagPattern): readonly string[] {
  return narrow.slice(0, MAX_WORDS).flatMap((glob) => literalPart(glob) ?? [])
}
