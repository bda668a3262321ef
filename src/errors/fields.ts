import { showInput, TidemarkError } from './tidemark-error.ts'
import type { Warnings } from './warnings.ts'

/** A JSON object as it was parsed, or the parameters of a URL. */
export type Fields = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** INVALID_REQUEST for a field whose value is not what is expected. */
export function invalidField(field: string, input: unknown, expected: string): TidemarkError {
  const shown = showInput(input)
  return invalidInput(shown, `Invalid ${field} ${shown}: ${expected} is expected`)
}

/** INVALID_REQUEST with its whole sentence. @param input as the sentence shows it */
export function invalidInput(input: string, message: string): TidemarkError {
  return new TidemarkError('INVALID_REQUEST', { message }, { place: { input } })
}

/**
 * The body as an object whose unknown fields are warned about.
 * @param known its fields, the one that is needed first
 * @param place what it is, for warnings
 * @param silent further fields, of which is not warned
 */
export function readBody(
  body: unknown,
  known: readonly string[],
  warnings: Warnings,
  { place = 'the call', silent = [] }: { readonly place?: string; readonly silent?: readonly string[] } = {},
): Fields {
  if (!isObject(body)) {
    const shown = showInput(body)
    throw invalidInput(shown, `The body is ${shown}: an object with ${known[0]} is expected`)
  }
  warnings.checkFields(body, known, place, silent)
  return body
}

/** A field that is true or false; left out it is false. */
export function readFlag(fields: Fields, name: string): boolean {
  const value = fields[name] === undefined ? false : fields[name]
  if (typeof value === 'boolean') return value
  throw invalidField(name, value, 'true or false')
}

/** As `readFlag`, and null is false too. */
export function readOptionalFlag(fields: Fields, name: string): boolean {
  return fields[name] === null ? false : readFlag(fields, name)
}

/** A field that must be an object, such as the one of points by tag. */
export function readObject(fields: Fields, name: string, expected: string): Fields {
  const value = fields[name]
  if (isObject(value)) return value
  throw invalidField(name, value, expected)
}
