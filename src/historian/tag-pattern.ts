import { foldCase } from '../series/tag-names.ts'
import type { TagPattern } from './contract.ts'

/**
 * A search pattern: `*` stands for any text and `?` for one character, over the whole text; a pattern without them
 * matches anywhere in it. Upper and lower case are the same, in every script. There is no escape.
 *
 * Matching a text of n units against a pattern of m takes at most n times m steps, whatever the pattern: between two
 * stars the leftmost place is always as good as any later one, so nothing is ever tried twice.
 */
export function parseTagPattern(text: string): TagPattern {
  const test = matcher(foldCase(text))
  return {
    text,
    matches: (name, description) =>
      test(foldCase(name)) || (description !== null && test(foldCase(description))),
  }
}

/**
 * The text that a name or a description must begin with to match, case-folded; empty where any beginning can match:
 * for patterns that begin with a wildcard, and for those without any, which match in the middle too.
 */
export function literalPrefix(text: string): string {
  const wildcard = text.search(/[*?]/)
  return wildcard <= 0 ? '' : foldCase(text.slice(0, wildcard))
}

type Test = (folded: string) => boolean

function matcher(pattern: string): Test {
  if (!/[*?]/.test(pattern)) return (text) => text.includes(pattern)
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
