import { TidemarkError } from '../errors/tidemark-error.ts'
import { invalidJson } from './invalid.ts'
import { type JsonRules, MOST_FIELDS, MOST_LEVELS, MOST_TEXT_BYTES } from './rules.ts'

/**
 * A step of reading a long JSON text in cuts, in the order of the text. `open` begins an object or array that is
 * longer than a cut, under the name in `[from, to)` (with its colon) where it stands in an object; `members` are
 * whole members of the innermost open one, without a comma before or after them; `close` ends it.
 */
export type Cut =
  | {
      readonly kind: 'open'
      readonly isArray: boolean
      readonly from: number
      readonly to: number
      readonly before: Counts
    }
  | { readonly kind: 'members'; readonly from: number; readonly to: number }
  | { readonly kind: 'close'; readonly until: Counts }

/** Objects, arrays and members of a JSON text up to a place. */
export interface Counts {
  readonly values: number
  /** Those that are members of arrays which have ended, whatever they are; an object or array there counts besides. */
  readonly arrayMembers: number
}

/** Bytes that are parsed at once: some 3 ms of JSON.parse at worst. */
const CUT_BYTES = 65_536

const QUOTE = 34
const COMMA = 44
const BACKSLASH = 92
const OPEN_ARRAY = 91
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/** Of the members of an array. */
const UNBOUNDED = Number.POSITIVE_INFINITY

/** What ends a run of bytes of no interest, outside of a text. */
const IS_STRUCTURAL = tableOf([QUOTE, COMMA, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT])

/** Whether JSON passes over a byte between its parts. */
export function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/**
 * Finds where a long JSON text can be cut, in one pass over its bytes that can stop anywhere, and checks what it may
 * hold. It looks at texts, brackets and commas; everything between is left for JSON.parse, which sees every byte of the
 * cuts.
 *
 * The open objects and arrays are a stack. Whenever a cut is full all of them are cut open, so those that are cut
 * open are the lower part of the stack.
 */
export class JsonScanner {
  readonly cuts: Cut[] = []
  /** Objects, arrays and members so far: what JSON.parse would make is in proportion to it. */
  values = 0
  #arrayMembers = 0
  readonly #bytes: Uint8Array
  readonly #rules: JsonRules
  readonly #cutBytes: number
  #at: number
  #depth = 0
  #isInText = false
  /** Where the text began, or what stands between two structural bytes. */
  #runFrom = 0
  /** Where the last cut was made. */
  #cutAt: number
  /** How many of the stack are cut open. */
  #cutDepth = 0
  // Of each of the stack: its bracket, its last member, commas and how many there may be, the counts before it, ...
  readonly #opened: number[] = []
  readonly #member: number[] = []
  readonly #commas: number[] = []
  readonly #most: number[] = []
  readonly #valuesBefore: number[] = []
  readonly #arrayMembersBefore: number[] = []
  /** Whether its last member has an object or array already. */
  readonly #holds: boolean[] = []
  // ... and where it is cut open: what is not in a cut yet, and what that must begin with.
  readonly #rest: number[] = []
  readonly #expects: Expects[] = []

  /**
   * @param bytes      valid UTF-8 whose first byte that is not blank, at `start` or behind it, opens an object or array
   * @param cutBytes least length of a cut, but of the last one of an object or array
   */
  constructor(bytes: Uint8Array, start: number, rules: JsonRules, cutBytes = CUT_BYTES) {
    this.#bytes = bytes
    this.#cutBytes = cutBytes
    this.#rules = rules
    this.#at = start
    this.#cutAt = start
  }

  /**
   * Scans on for about so many bytes. Throws INVALID_JSON, LIMIT_JSON and what the rules say.
   * @returns whether all was scanned
   */
  scan(length: number): boolean {
    const bytes = this.#bytes
    const end = Math.min(bytes.length, this.#at + length)
    while (this.#at < end) {
      if (this.#isInText) this.#scanText(end)
      else this.#scanStructure(end)
    }
    if (this.#at < bytes.length) return false
    if (this.#isInText || this.#depth > 0) throw invalidJson('it ends before its end')
    return true
  }

  #scanText(end: number): void {
    const bytes = this.#bytes
    let at = this.#at
    while (at < end) {
      const byte = bytes[at]!
      if (byte === QUOTE) {
        this.#isInText = false
        at++
        break
      }
      at += byte === BACKSLASH ? 2 : 1
    }
    this.#at = at
    this.#checkRun(at, 'a text')
    if (!this.#isInText) this.#runFrom = at
  }

  #scanStructure(end: number): void {
    const bytes = this.#bytes
    let at = this.#at
    while (at < end && IS_STRUCTURAL[bytes[at]!] === 0) at++
    this.#at = at + 1
    this.#checkRun(at, 'a number or blanks')
    if (at === end) {
      this.#at = end
      return
    }
    this.#runFrom = at
    const byte = bytes[at]
    if (byte === QUOTE) {
      this.#isInText = true
    } else if (byte === COMMA) this.#comma(at)
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#open(at, byte === OPEN_ARRAY)
    else this.#close(at)
  }

  /** JSON.parse takes each of them at once. */
  #checkRun(at: number, what: string): void {
    if (at - this.#runFrom > MOST_TEXT_BYTES) throw beyond(`${what} of more than ${MOST_TEXT_BYTES} bytes`)
  }

  #comma(at: number): void {
    const top = this.#depth - 1
    if (top < 0) throw invalidJson(`something follows its end at byte ${at}`)
    this.values++
    if (++this.#commas[top]! >= this.#most[top]!) this.#refuse(top)
    if (this.#depth === this.#cutDepth && this.#expects[top] === COMMA_EXPECTED) {
      this.#checkBlank(this.#rest[top]!, at)
      this.#rest[top] = at + 1
      this.#expects[top] = MEMBER_EXPECTED
    }
    this.#member[top] = at + 1
    this.#holds[top] = false
    if (at - this.#cutAt >= this.#cutBytes) this.#cut(at)
  }

  #open(at: number, isArray: boolean): void {
    const depth = this.#depth++
    if (depth === 0 && this.#opened.length > 0) throw invalidJson(`something follows its end at byte ${at}`)
    if (depth > 0) {
      // Said here: what stands before it in its member is looked at for the counted field.
      if (this.#holds[depth - 1]!) throw invalidJson(`no comma stands before the bracket at byte ${at}`)
      this.#holds[depth - 1] = true
    }
    if (depth === MOST_LEVELS) throw beyond(`more than ${MOST_LEVELS} levels of objects and arrays`)
    this.#valuesBefore[depth] = this.values++
    this.#arrayMembersBefore[depth] = this.#arrayMembers
    this.#opened[depth] = at
    this.#member[depth] = at + 1
    this.#commas[depth] = 0
    this.#holds[depth] = false
    const most = isArray ? UNBOUNDED : MOST_FIELDS
    this.#most[depth] = depth === 1 && this.#isCounted(at) ? this.#rules.counted!.most : most
  }

  #close(at: number): void {
    const top = --this.#depth
    if (top < 0) throw invalidJson(`a bracket closes nothing at byte ${at}`)
    if (this.#most[top] === UNBOUNDED) this.#arrayMembers += this.#commas[top]!
    if (this.#cutDepth <= top) {
      // Shorter than a cut, unless it is the whole text.
      if (top > 0) return
      this.#cutOpen(0)
      this.#cutDepth = 1
    }
    const isArray = this.#bytes[this.#opened[top]!] === OPEN_ARRAY
    if (isArray !== (this.#bytes[at] === CLOSE_ARRAY))
      throw invalidJson(`the bracket at byte ${at} closes another`)
    const expects = this.#expects[top]
    const from = this.#rest[top]!
    if (expects === COMMA_EXPECTED) this.#checkBlank(from, at)
    else if (!this.#isBlank(from, at)) this.cuts.push({ kind: 'members', from, to: at })
    else if (expects === MEMBER_EXPECTED)
      throw invalidJson(`nothing follows the last comma before byte ${at}`)
    this.cuts.push({ kind: 'close', until: { values: this.values, arrayMembers: this.#arrayMembers } })
    this.#cutDepth = top
    this.#cutAt = at
    if (top === 0) {
      this.#checkBlank(at + 1, this.#bytes.length)
      this.#at = this.#bytes.length
      return
    }
    this.#rest[top - 1] = at + 1
    this.#expects[top - 1] = COMMA_EXPECTED
  }

  /** Cuts open all that is open, and takes the members that are complete. */
  #cut(at: number): void {
    for (let level = 0; level < this.#depth; level++) {
      if (level >= this.#cutDepth) this.#cutOpen(level)
      const from = this.#rest[level]!
      const member = this.#member[level]!
      if (member <= from) continue
      if (this.#isBlank(from, member - 1))
        throw invalidJson(`nothing is before the comma at byte ${member - 1}`)
      this.cuts.push({ kind: 'members', from, to: member - 1 })
      this.#rest[level] = member
      this.#expects[level] = MEMBER_EXPECTED
    }
    this.#cutDepth = this.#depth
    this.#cutAt = at
  }

  #cutOpen(level: number): void {
    const opened = this.#opened[level]!
    const from = level === 0 ? opened : this.#member[level - 1]!
    const isArray = this.#bytes[opened] === OPEN_ARRAY
    if (level > 0 && this.#bytes[this.#opened[level - 1]!] === OPEN_ARRAY) this.#checkBlank(from, opened)
    const before = {
      values: this.#valuesBefore[level]!,
      arrayMembers: this.#arrayMembersBefore[level]!,
    }
    this.cuts.push({ kind: 'open', isArray, from, to: opened, before })
    this.#rest[level] = opened + 1
    this.#expects[level] = ANYTHING
  }

  /** Whether the object or array at the place is that of the counted field. */
  #isCounted(at: number): boolean {
    const { counted } = this.#rules
    if (counted === null || this.#bytes[this.#opened[0]!] !== OPEN_OBJECT) return false
    const name = Buffer.from(this.#bytes.subarray(this.#member[0]!, at)).toString().trim()
    if (name.length < 2) return false
    try {
      return JSON.parse(name.slice(0, -1)) === counted.field
    } catch {
      return false // JSON.parse says it of the cut, too
    }
  }

  #refuse(level: number): never {
    const { counted } = this.#rules
    if (
      level === 1 &&
      counted !== null &&
      this.#most[1] === counted.most &&
      this.#isCounted(this.#opened[1]!)
    ) {
      throw counted.refuse()
    }
    throw beyond(`an object with more than ${MOST_FIELDS} fields`)
  }

  #isBlank(from: number, to: number): boolean {
    for (let at = from; at < to; at++) if (!isBlank(this.#bytes[at])) return false
    return true
  }

  #checkBlank(from: number, to: number): void {
    if (!this.#isBlank(from, to)) throw invalidJson(`something is not valid between byte ${from} and ${to}`)
  }
}

/** Opening text of the remainder of an object or array that is cut open. */
type Expects = typeof ANYTHING | typeof MEMBER_EXPECTED | typeof COMMA_EXPECTED
/** A first member, or nothing at all. */
const ANYTHING = 0
/** Another member: a comma stands before it. */
const MEMBER_EXPECTED = 1
/** A comma or the end: an object or array was closed. */
const COMMA_EXPECTED = 2

function tableOf(bytes: readonly number[]): Uint8Array {
  const table = new Uint8Array(256)
  for (const byte of bytes) table[byte] = 1
  return table
}

function beyond(what: string): TidemarkError {
  return new TidemarkError('LIMIT_JSON', { what })
}
