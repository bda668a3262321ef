import { Failure } from './failure.ts'

/** Reads an expression from left to right; every character is looked at a bounded number of times. */
export class Lexer {
  readonly text: string
  /** Place of the next character, from 0. */
  at: number

  constructor(text: string, at: number) {
    this.text = text
    this.at = at
  }

  /** The next character, '' at the end. */
  peek(): string {
    return this.text.charAt(this.at)
  }

  atEnd(): boolean {
    return this.at >= this.text.length
  }

  skipSpace(): void {
    while (isSpace(this.peek())) this.at++
  }

  /** Goes past `character` if it is the next one. */
  take(character: string): boolean {
    if (this.peek() !== character) return false
    this.at++
    return true
  }

  /**
   * Where `calc/` at the current place would end, white space behind it included; null when it does not stand there.
   */
  prefixEnd(): number | null {
    const prefix = this.text.slice(this.at, this.at + 5)
    if (prefix.toLowerCase() !== 'calc/') return null
    let end = this.at + 5
    while (isSpace(this.text.charAt(end))) end++
    return end
  }

  /** The identifier that begins at a place, '' when none does. */
  identifierAt(at: number): string {
    IDENTIFIER.lastIndex = at
    return IDENTIFIER.exec(this.text)?.[0] ?? ''
  }

  /** A text in quotes without them; the next character is the quote. */
  quoted(): string {
    const start = this.at
    const end = closingQuote(this.text, start)
    if (end < 0) {
      throw new Failure(this.text.length, `expected ${this.text[start]} at the end of the quoted text`)
    }
    this.at = end + 1
    return withoutEscapes(this.text.slice(start + 1, end))
  }

  /** A text without quotes, up to the next `,` or `)` outside balanced parentheses; trimmed, '' when there is none. */
  unquoted(): string {
    const start = this.at
    let open = 0
    for (; !this.atEnd(); this.at++) {
      const character = this.peek()
      if (character === '(') open++
      else if (character === ')' && open > 0) open--
      else if (open === 0 && (character === ')' || character === ',')) break
      else if (isQuote(character)) {
        throw new Failure(
          this.at,
          `expected quotes around the whole text, and a \\ before a quote inside, found ${character}`,
        )
      }
    }
    if (open > 0) {
      throw new Failure(this.at, 'expected ) for each ( of the text, or quotes around the text')
    }
    return this.text.slice(start, this.at).trim()
  }

  /**
   * Goes to the `,` or `)` that ends an argument, whatever stands in it.
   * @returns false when the text ends before
   */
  skipArgument(): boolean {
    let open = 0
    for (; !this.atEnd(); this.at++) {
      const character = this.peek()
      if (character === '(') open++
      else if (open === 0 && (character === ')' || character === ',')) return true
      else if (character === ')') open--
      else if (isQuote(character)) {
        const end = closingQuote(this.text, this.at)
        if (end < 0) return false
        this.at = end
      }
    }
    return false
  }
}

// Sticky: matches at lastIndex or not at all.
const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y

/** Whether a character is white space, by the rule of String.trim. */
export function isSpace(character: string): boolean {
  return character !== '' && character.trim() === ''
}

export function isQuote(character: string): boolean {
  return character === "'" || character === '"'
}

/** The place of the quote that closes the one at `start`: the next of its kind behind an even number of backslashes. */
function closingQuote(text: string, start: number): number {
  const quote = text[start]
  let backslashes = 0
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at]
    if (character === quote && backslashes % 2 === 0) return at
    backslashes = character === '\\' ? backslashes + 1 : 0
  }
  return -1
}

// A run of backslashes with the quote behind it, if any, or a quote alone. Looks at every character once.
const ESCAPES = /\\+['"]?|['"]/g

/**
 * A backslash stands for itself, except in a run of backslashes before a quote: there two stand for one, and an odd one
 * takes the quote's meaning away. So names with backslashes need no doubling, and every name can be written.
 */
function withoutEscapes(text: string): string {
  return text.replace(ESCAPES, (found: string, at: number) => {
    const backslashes = found.length - (isQuote(found.at(-1)!) ? 1 : 0)
    const beforeQuote = backslashes < found.length || at + found.length === text.length
    if (!beforeQuote) return found
    return '\\'.repeat(Math.floor(backslashes / 2)) + found.slice(backslashes)
  })
}

/** A text in quotes that reads back as that text. */
export function quote(text: string): string {
  const escaped = text.replace(ESCAPES, (found: string, at: number) => {
    const backslashes = found.length - (isQuote(found.at(-1)!) ? 1 : 0)
    const beforeQuote = backslashes < found.length || at + found.length === text.length
    if (!beforeQuote) return found
    return '\\'.repeat(2 * backslashes) + found.slice(backslashes).replace("'", "\\'")
  })
  return `'${escaped}'`
}

/** Whether a text must stand in quotes to be read back as it is. */
export function needsQuotes(text: string): boolean {
  return text === '' || /[,()'"]/.test(text) || text !== text.trim()
}
