import { showInput, TidemarkError } from '../errors/tidemark-error.ts'

/** Parameters of a URL by name: texts, or arrays of texts where one is repeated. */
export type QueryParameters = Readonly<Record<string, unknown>>

/** A parameter that may be left out, but not repeated. */
export function readText(query: QueryParameters, name: string): string | null {
  const value = Object.hasOwn(query, name) ? (query[name] ?? null) : null
  if (value === null || typeof value === 'string') return value
  throw invalidParameter(name, value, 'one value')
}

/** `limit`: a whole number from 1 to `most`. */
export function readLimit(query: QueryParameters, preset: number, most: number): number {
  const text = readText(query, 'limit')
  if (text === null) return preset
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= most) return limit
  throw invalidParameter('limit', text, `a whole number from 1 to ${most}`)
}

export function invalidParameter(field: string, input: unknown, expected: string): TidemarkError {
  const shown = showInput(input)
  const message = `Invalid ${field} ${shown}: ${expected} is expected`
  return new TidemarkError('INVALID_REQUEST', { message }, { place: { input: shown } })
}
