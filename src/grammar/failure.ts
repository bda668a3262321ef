import { TidemarkError } from '../errors/tidemark-error.ts'

/** An expression is shown up to this length in a sentence; a client that sent a longer one has it anyway. */
const LONGEST_SHOWN = 1_000

/** Found texts are cut after this many characters, so that the sentence stays one that can be read. */
const LONGEST_FOUND = 60

/** What stops the parser, before it is turned into the client's error at its edge. */
export class Failure extends Error {
  /** Place in the text, from 0; the length of the text for its end. */
  readonly at: number
  /** A limit was exceeded: no IFTAGEXISTS may take that for a tag that does not exist. */
  readonly limit: boolean

  constructor(at: number, reason: string, options: { readonly limit?: true } = {}) {
    super(reason)
    this.name = 'Failure'
    this.at = at
    this.limit = options.limit ?? false
  }
}

/**
 * The error of a calculation that cannot be used as it is written.
 * @param input   the whole address as sent
 * @param column  from 1, in UTF-16 units of the input
 * @param reason  what was expected, as in `expected , or )`
 */
export function syntaxError(input: string, column: number, reason: string): TidemarkError {
  const shown = cut(input, LONGEST_SHOWN)
  return new TidemarkError(
    'CALCULATION_SYNTAX',
    { reason, column, input: shown },
    { place: { column, input: shown } },
  )
}

/** A text of the client within a reason, cut when it is long. */
export function excerpt(text: string): string {
  return cut(text, LONGEST_FOUND)
}

function cut(text: string, longest: number): string {
  // The cut may go through a pair of surrogates.
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}...` : text
}
