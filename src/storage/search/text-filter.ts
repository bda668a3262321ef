import { WILDCARD } from '../../historian/tag-pattern.ts'
import type { EntryView } from '../catalog/tag-entry.ts'

/** Bytes with A to Z as a to z. */
export const FOLD = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 65 && byte <= 90 ? byte + 32 : byte,
)

/**
 * Tells of a text's bytes in UTF-8 whether a pattern can match it: false is certain, true is not. It looks at the ASCII
 * of the pattern alone, which stands in a text as it is or as the other case, but for entries that say so
 * (EntryView.isOpaque).
 */
export class TextFilter {
  /** In ASCII, folded: at the beginning, at the end, and between them in this order. */
  readonly #first: Uint8Array
  readonly #last: Uint8Array
  readonly #middle: readonly Uint8Array[]
  readonly #length: number
  /** The longest run of ASCII that stands in every match; '' without one. */
  readonly longest: string

  /** @param pattern  case-folded, with `*` and `?`; one without them is looked for anywhere */
  constructor(pattern: string) {
    const parts = WILDCARD.test(pattern) ? pattern.split(WILDCARD) : ['', pattern, '']
    const middle: string[] = []
    const runs = parts.map(asciiRuns)
    this.#first = bytesOf(runs[0]!.atStart)
    this.#last = bytesOf(runs.at(-1)!.atEnd)
    runs.forEach(({ atStart, atEnd, between, isWhole }, index) => {
      if (isWhole && (index === 0 || index === runs.length - 1)) return
      if (index > 0) middle.push(atStart)
      if (!isWhole) middle.push(...between)
      if (!isWhole && index < runs.length - 1) middle.push(atEnd)
    })
    this.#middle = middle.filter((run) => run !== '').map(bytesOf)
    const all = [this.#first, ...this.#middle, this.#last]
    this.#length = all.reduce((sum, run) => sum + run.length, 0)
    const longest = all.reduce((one, other) => (other.length > one.length ? other : one))
    this.longest = Buffer.from(longest).toString('latin1')
  }

  /** Of a tag's name or description. */
  mayMatch(entry: EntryView): boolean {
    const { bytes, name, description, units } = entry
    return (
      this.#matches(bytes, name, description) ||
      (units > description && this.#matches(bytes, description, units)) ||
      entry.isOpaque
    )
  }

  #matches(bytes: Uint8Array, from: number, to: number): boolean {
    if (to - from < this.#length) return false
    const [first, last] = [this.#first, this.#last]
    if (last.length > 0 && !standsAt(bytes, to - last.length, last)) return false
    if (first.length > 0 && !standsAt(bytes, from, first)) return false
    let at = from + first.length
    const end = to - last.length
    const middle = this.#middle
    for (let i = 0; i < middle.length; i++) {
      at = behind(bytes, at, end, middle[i]!)
      if (at < 0) return false
    }
    return true
  }
}

function standsAt(bytes: Uint8Array, at: number, run: Uint8Array): boolean {
  for (let i = 0; i < run.length; i++) {
    if (FOLD[bytes[at + i]!] !== run[i]) return false
  }
  return true
}

/** Where the first occurrence of a run ends; -1 without one. */
function behind(bytes: Uint8Array, from: number, end: number, run: Uint8Array): number {
  const first = run[0]!
  const length = run.length
  const last = end - length
  search: for (let at = from; at <= last; at++) {
    if (FOLD[bytes[at]!] !== first) continue
    for (let i = 1; i < length; i++) {
      if (FOLD[bytes[at + i]!] !== run[i]) continue search
    }
    return at + length
  }
  return -1
}

/** The ASCII of a part of a pattern. A whole one is in `atStart` and `atEnd` both. */
function asciiRuns(part: string) {
  const runs = part.split(NOT_ASCII)
  return { atStart: runs[0]!, atEnd: runs.at(-1)!, between: runs.slice(1, -1), isWhole: runs.length === 1 }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII
const NOT_ASCII = /[^\x00-\x7f]+/

function bytesOf(ascii: string): Uint8Array {
  return Buffer.from(ascii, 'latin1')
}
