import { type Fields, invalidField } from '../errors/fields.ts'

/** Parameters of a URL by name: texts, or arrays of texts where one is repeated. */
export type QueryParameters = Fields

/** A parameter that may be left out, but not repeated. */
export function readText(query: QueryParameters, name: string): string | null {
  const value = Object.hasOwn(query, name) ? (query[name] ?? null) : null
  if (value === null || typeof value === 'string') return value
  throw invalidField(name, value, 'one value')
}

/** `limit`: a whole number from 1 to `most`. */
export function readLimit(query: QueryParameters, preset: number, most: number): number {
  const text = readText(query, 'limit')
  if (text === null) return preset
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= most) return limit
  throw invalidField('limit', text, `a whole number from 1 to ${most}`)
}
