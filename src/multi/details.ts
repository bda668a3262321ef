import { showInput, TidemarkError } from '../errors/tidemark-error.ts'
import { type Duration, parseDuration } from '../time/duration.ts'
import type { Instant } from '../time/instant.ts'
import { parseTime } from '../time/parse.ts'
import type { TimeZone } from '../time/zone.ts'

/**
 * Reads the `details` of one request. Types are never coerced; an optional detail that is null counts as left out.
 * Every method throws TidemarkError with the sentence for the label.
 */
export class Details {
  readonly #fields: Readonly<Record<string, unknown>>
  readonly #type: string
  readonly #now: Instant
  readonly #zone: TimeZone

  constructor(fields: Readonly<Record<string, unknown>>, type: string, now: Instant, zone: TimeZone) {
    this.#fields = fields
    this.#type = type
    this.#now = now
    this.#zone = zone
  }

  has(field: string): boolean {
    return this.#value(field) !== undefined
  }

  time(field: string): Instant {
    return this.optionalTime(field) ?? this.#missing(field)
  }

  optionalTime(field: string): Instant | null {
    const value = this.#value(field)
    if (value === undefined) return null
    const at = parseTime(value, { now: this.#now, zone: this.#zone })
    if (at !== null) return at
    throw new TidemarkError(
      'INVALID_TIME',
      { input: showInput(value), field: `${field} in the details of ${this.#type}` },
      { place: { input: showInput(value) } },
    )
  }

  /** A whole number of at least 1. */
  count(field: string, fallback: number): number {
    const value = this.#value(field)
    if (value === undefined) return fallback
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value
    throw this.invalid(field, 'a whole number of at least 1')
  }

  word<Word extends string>(field: string, words: readonly Word[], fallback: Word): Word {
    const value = this.#value(field)
    if (value === undefined) return fallback
    const word = words.find((candidate) => candidate === value)
    if (word !== undefined) return word
    throw this.invalid(field, listWords(words))
  }

  text(field: string): string | null {
    const value = this.#value(field)
    if (value === undefined) return null
    if (typeof value === 'string') return value
    throw this.invalid(field, 'a text')
  }

  duration(field: string): { readonly duration: Duration; readonly text: string } {
    const value = this.#value(field)
    if (value === undefined) return this.#missing(field)
    const text = typeof value === 'number' ? String(value) : value
    const duration = typeof text === 'string' ? parseDuration(text) : null
    if (duration === null || !isPositive(duration)) {
      throw this.invalid(field, 'a duration above zero such as 10s, 1h, 1d or 1mo')
    }
    return { duration, text: text as string }
  }

  texts(field: string): readonly string[] | null {
    const value = this.#value(field)
    if (value === undefined) return null
    if (Array.isArray(value) && value.every((entry) => typeof entry === 'string')) return value
    throw this.invalid(field, 'an array of texts')
  }

  invalid(field: string, expected: string): TidemarkError {
    const input = showInput(this.#value(field))
    return new TidemarkError(
      'INVALID_DETAIL',
      { field, input, type: this.#type, expected },
      { place: { input } },
    )
  }

  #value(field: string): unknown {
    return Object.hasOwn(this.#fields, field) ? (this.#fields[field] ?? undefined) : undefined
  }

  #missing(field: string): never {
    throw new TidemarkError('MISSING_DETAIL', { type: this.#type, field })
  }
}

function isPositive(duration: Duration): boolean {
  if (duration.kind === 'exact') return duration.us >= 1
  const { years, months, weeks, days, us } = duration
  return years + months + weeks + days + us > 0
}

/** `A, B or C`. */
export function listWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
