import type { TagPattern } from '../../historian/contract.ts'

/*
 * Narrowing a search on the server. What matches is decided here, by the pattern itself (src/historian/tag-pattern.ts);
 * the server only has to leave out nothing. Its own ideas of upper and lower case differ with version and locale, so
 * that it is asked for the letters of ASCII alone, in the collation "C", and takes any character for all others.
 */

/** With more parts a pattern narrows no better, and the server takes long over it. */
const MAX_PARTS = 8
const MAX_CHARACTERS = 200

/** More words narrow no better. */
const MAX_WORDS = 4

/**
 * Patterns for LIKE over `upper(text COLLATE "C")`, each of which matches the name or the description of every tag that
 * the search pattern matches, and perhaps more; at most 4, none when they would match everything.
 */
export function likePatterns({ narrow }: TagPattern): readonly string[] {
  return narrow.slice(0, MAX_WORDS).flatMap((glob) => likePattern(glob) ?? [])
}

/** The same of a text with wildcards over the whole. */
export function likePattern(glob: string): string | null {
  const parts = glob.split('*')
  const like = parts.slice(0, MAX_PARTS).map(likePart)
  if (parts.length > MAX_PARTS) like.push('')
  const pattern = Array.from(like.join('%'))
  const cut =
    pattern.length > MAX_CHARACTERS ? beforeEscape(pattern.slice(0, MAX_CHARACTERS)).concat('%') : pattern
  const whole = cut.join('')
  return /[^%_]/.test(whole) ? whole : null
}

function likePart(part: string): string {
  return Array.from(part, likeCharacter).join('')
}

function likeCharacter(character: string): string {
  if (character === '?') return '_'
  // These three are also the other case of letters outside of ASCII: dotless i, the Kelvin sign and the long s.
  if (/[iks]/i.test(character)) return '_'
  if (!/^[\x20-\x7e]$/.test(character)) return '_'
  return /[%_\\]/.test(character) ? `\\${character}` : character.toUpperCase()
}

/** Without a backslash at the end whose character was cut off. */
function beforeEscape(characters: readonly string[]): string[] {
  let backslashes = 0
  while (characters[characters.length - 1 - backslashes] === '\\') backslashes++
  return characters.slice(0, characters.length - (backslashes % 2))
}
