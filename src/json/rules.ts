import { FIXED_LIMITS } from '../errors/limits.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'

/** What a body may hold, checked while it is scanned and before anything is made of it. */
export interface JsonRules {
  /**
   * A field of the body whose members are named or listed by the caller, such as labels and tag addresses; its array or
   * object has at most `most` of them. Every other object has at most {@link MOST_FIELDS}.
   */
  readonly counted: CountedField | null
}

export interface CountedField {
  readonly field: string
  readonly most: number
  /** What is thrown beyond. */
  refuse(): TidemarkError
}

/** Nothing but what holds for every body. */
export const NO_RULES: JsonRules = { counted: null }

/** Objects and arrays inside of each other, in a body that is read in cuts. */
export const MOST_LEVELS = FIXED_LIMITS.jsonLevels.limit
/**
 * Objects, arrays and members that a body of so many bytes has at most when they are all made at once: a body of
 * nothing but brackets would take fifty times its length. Requests of the usual kinds have one for every ten bytes and
 * more.
 */
export function mostValues(bytes: number): number {
  return Math.max(FIXED_LIMITS.jsonValues.limit, Math.ceil(bytes / 16))
}

/** @throws LIMIT_JSON for more values than that */
export function checkValues(values: number, most: number): void {
  if (values > most) {
    throw new TidemarkError('LIMIT_JSON', { what: `more than ${most} objects, arrays and members` })
  }
}

/** Fields of one object whose names are ours: going through a million unknown ones takes a second. */
export const MOST_FIELDS = FIXED_LIMITS.jsonFields.limit
/** Bytes of one text, name or number, and of blanks in a row, as they stand in a body that is read in cuts. */
export const MOST_TEXT_BYTES = FIXED_LIMITS.jsonTextBytes.limit
