import { foldCase } from '../series/tag-names.ts'
import type { TagPattern } from './contract.ts'

/**
 * The text of a search, the same for every historian. With `*` (any text) or `?` (one character) it is one pattern over
 * the whole name or description, spaces included. Without them it is words, each of which must stand somewhere in the
 * name or the description; a text in double quotes is one word as it stands, with its spaces, `*` and `?`. A quote that
 * does not open or close a word is a character like others. Upper and lower case are the same, in every script.
 *
 * Matching a text of n units against a pattern of m takes at most n times m steps, whatever the pattern: between two
 * stars the leftmost place is always as good as any later one, so nothing is ever tried twice.
 */
export function parseTagPattern(text: string): TagPattern {
  const words = wordsOf(text)
  return words === null ? globPattern(text) : wordsPattern(text, words)
}

/**
 * Whether a whole name, case-folded, matches a text with `*` and `?`, whose case does not count; one without either is
 * the name itself.
 */
export function foldedNameMatcher(glob: string): (folded: string) => boolean {
  return matcher(foldCase(glob))
}

function globPattern(text: string): TagPattern {
  const test = matcher(foldCase(text))
  return {
    text,
    narrow: [text],
    matches: (name, description) =>
      test(foldCase(name)) || (description !== null && test(foldCase(description))),
  }
}

function wordsPattern(text: string, words: readonly string[]): TagPattern {
  const folded = [...new Set(words.map(foldCase))]
  return {
    text,
    // What stands in quotes may hold wildcards, which are characters there.
    narrow: words.map((word) => `*${word.replaceAll('*', '?')}*`),
    matches: (name, description) => {
      const inName = foldCase(name)
      const inDescription = description === null ? '' : foldCase(description)
      return folded.every((word) => inName.includes(word) || inDescription.includes(word))
    },
  }
}

/** A text in quotes, from blank to blank, or a word. */
const WORD = /"([^"]*)"(?=\s|$)|(\S+)/g

/** The words of a search text, null when it has wildcards outside of quotes. */
function wordsOf(text: string): readonly string[] | null {
  const words: string[] = []
  for (const [, quoted, word] of text.matchAll(WORD)) {
    if (word !== undefined && WILDCARD.test(word)) return null
    words.push(quoted ?? word!)
  }
  return words.filter((word) => word !== '')
}

/** What a pattern has beside its text. */
export const WILDCARD = /[*?]/

/**
 * The text that a name or a description must begin with to match a text with wildcards, case-folded; '' where any can.
 */
export function literalPrefix(glob: string): string {
  const wildcard = glob.search(WILDCARD)
  return wildcard <= 0 ? '' : foldCase(glob.slice(0, wildcard))
}

/** The one of `narrow` with the most characters, which are the fewest matches; `*` when there is none. */
export function narrowest({ narrow }: TagPattern): string {
  return narrow.reduce((longest, glob) => (glob.length > longest.length ? glob : longest), '*')
}

type Test = (folded: string) => boolean

function matcher(pattern: string): Test {
  const parts = pattern.split('*')
  if (parts.length === 1) return (text) => matchAt(text, 0, pattern) === text.length

  const first = parts[0]!
  const last = parts.at(-1)!
  const middle = parts.slice(1, -1).filter((part) => part !== '')
  const lastLength = lengthInCharacters(last)
  return (text) => {
    let at = matchAt(text, 0, first)
    if (at < 0) return false
    for (const part of middle) {
      at = findPart(text, at, part)
      if (at < 0) return false
    }
    const end = stepBack(text, lastLength)
    return end >= at && matchAt(text, end, last) === text.length
  }
}

/** Place after `part` when the text has it exactly at `at`, `?` being any character; else -1. */
function matchAt(text: string, at: number, part: string): number {
  let place = at
  for (let index = 0; index < part.length; index++) {
    if (place >= text.length) return -1
    if (part[index] === '?') place += isPair(text, place) ? 2 : 1
    else if (text.charCodeAt(place) !== part.charCodeAt(index)) return -1
    else place++
  }
  return place
}

/** Place after the leftmost occurrence of `part` from `from` on; -1 without one. */
function findPart(text: string, from: number, part: string): number {
  if (!part.includes('?')) {
    const found = text.indexOf(part, from)
    return found < 0 ? -1 : found + part.length
  }
  for (let at = from; at < text.length; at += isPair(text, at) ? 2 : 1) {
    const after = matchAt(text, at, part)
    if (after >= 0) return after
  }
  return -1
}

/** Place that many characters before the end; -1 when the text is shorter. */
function stepBack(text: string, characters: number): number {
  let at = text.length
  for (let left = characters; left > 0; left--) {
    if (at <= 0) return -1
    at -= at >= 2 && isPair(text, at - 2) ? 2 : 1
  }
  return at
}

function lengthInCharacters(text: string): number {
  let characters = 0
  for (let at = 0; at < text.length; at += isPair(text, at) ? 2 : 1) characters++
  return characters
}

function isPair(text: string, at: number): boolean {
  const high = text.charCodeAt(at)
  if (high < 0xd800 || high > 0xdbff) return false
  const low = text.charCodeAt(at + 1)
  return low >= 0xdc00 && low <= 0xdfff
}
