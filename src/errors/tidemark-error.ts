import { ERRORS, type ErrorCode, type ErrorKind } from './codes.ts'
import { showInput } from './show-input.ts'

export { showInput } from './show-input.ts'

export type ErrorValues = Readonly<Record<string, string | number>>

/** Where in a request an error stands; every field is left out where it does not apply. */
export interface ErrorPlace {
  readonly label?: string
  readonly tag?: string
  /** Place of the point in its array, from 0. */
  readonly index?: number
  readonly input?: string
  /** Column of a calculation, from 1. */
  readonly column?: number
  /** What was probably meant, the nearest first. */
  readonly suggestions?: readonly string[]
}

/** The machine-readable twin of one sentence in `errors`. */
export interface Issue extends ErrorPlace {
  readonly code: ErrorCode
  readonly message: string
}

/** An error of the table in codes.ts with its values; `message` is the finished sentence. */
export class TidemarkError extends Error {
  readonly code: ErrorCode
  readonly place: ErrorPlace

  constructor(
    code: ErrorCode,
    values: ErrorValues = {},
    options: { readonly place?: ErrorPlace; readonly cause?: unknown } = {},
  ) {
    super(sentence(code, values), options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'TidemarkError'
    this.code = code
    this.place = options.place ?? {}
  }

  /** An error that another process met, with the sentence that it has there. */
  static restore({ code, message, place }: Pick<TidemarkError, 'code' | 'message' | 'place'>): TidemarkError {
    const error = new TidemarkError(code, {}, { place })
    error.message = message
    return error
  }

  get kind(): ErrorKind {
    return ERRORS[this.code].kind
  }
}

/** The sentence of a code with its values filled in; a value that is not given stays visible as `{name}`. */
export function sentence(code: ErrorCode, values: ErrorValues): string {
  return fillIn(ERRORS[code].text, values)
}

/** A text of a table with its values in place of their names in braces. */
export function fillIn(text: string, values: ErrorValues): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : whole,
  )
}

/** An issue for `errors`' machine-readable twin. */
export function issue(code: ErrorCode, values: ErrorValues, place: ErrorPlace = {}): Issue {
  return { code, message: sentence(code, values), ...place }
}

/** The issue of a thrown error; whatever is not ours becomes a BUG without its text, which belongs in the log. */
export function issueOf(error: unknown, place: ErrorPlace = {}): Issue {
  if (error instanceof TidemarkError) {
    return { code: error.code, message: error.message, ...error.place, ...place }
  }
  return issue('BUG', { what: 'a request failed for a reason that only the log knows' }, place)
}

/** Whether an error says that stored data are damaged: what does not need them is answered all the same. */
export function isCorrupt(error: unknown): error is TidemarkError {
  return error instanceof TidemarkError && error.kind === 'corrupt'
}

/** Whether an error says that a historian cannot be reached, or does not answer in time. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof TidemarkError && error.code === 'HISTORIAN_UNAVAILABLE'
}

/** For the default branch of a switch over a union: reaching it is a bug, and the type checker says so first. */
export function never(value: never): never {
  throw new TidemarkError('BUG', { what: `unexpected ${showInput(value)}` })
}
