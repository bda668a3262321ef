import { showInput, TidemarkError } from '../errors/tidemark-error.ts'
import type { Warnings } from '../errors/warnings.ts'
import { type Duration, fixedDurationUs, parseDuration } from '../time/duration.ts'
import type { Instant } from '../time/instant.ts'
import { invalidTime, type TimeErrorContext } from '../time/invalid-time.ts'
import { parseEndTime, parseTime } from '../time/parse.ts'
import type { TimeZone } from '../time/zone.ts'

/**
 * Reads the `details` of one request. Types are never coerced; an optional detail that is null counts as left out.
 * Every method throws TidemarkError with the sentence for the label.
 */
export class Details {
  readonly #fields: Readonly<Record<string, unknown>>
  readonly #type: string
  readonly #context: TimeErrorContext

  readonly #warnings: Warnings

  constructor(
    fields: Readonly<Record<string, unknown>>,
    type: string,
    context: TimeErrorContext & { readonly warnings: Warnings },
  ) {
    this.#fields = fields
    this.#warnings = context.warnings
    this.#type = type
    this.#context = context
  }

  has(field: string): boolean {
    return this.#value(field) !== undefined
  }

  time(field: string): Instant {
    return this.optionalTime(field) ?? this.missing(field)
  }

  optionalTime(field: string): Instant | null {
    const value = this.#value(field)
    if (value === undefined) return null
    const at = parseTime(value, this.#context)
    if (at !== null) return at
    throw invalidTime(value, `${field} in the details of ${this.#type}`, this.#context)
  }

  /** The end of a range, up to the year 9999; `now` when it is left out. */
  endTime(field: string): Instant {
    const value = this.#value(field)
    if (value === undefined) return this.#context.now
    return parseEndTime(value, this.#context) ?? this.time(field)
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

  /** An object, of whose unknown fields is warned; `null` when it is left out. */
  object(field: string, known: readonly string[]): Readonly<Record<string, unknown>> | null {
    const value = this.#value(field)
    if (value === undefined) return null
    if (typeof value !== 'object' || Array.isArray(value)) throw this.invalid(field, 'an object')
    const fields = value as Readonly<Record<string, unknown>>
    this.#warnings.checkFields(fields, known, `${field} in the details of ${this.#type}`)
    return fields
  }

  /** False when left out. */
  flag(field: string): boolean {
    const value = this.#value(field)
    if (value === undefined) return false
    if (typeof value === 'boolean') return value
    throw this.invalid(field, 'true or false')
  }

  /** Zone of times that name none, and of calendar steps. */
  get zone(): TimeZone {
    return this.#context.zone
  }

  text(field: string): string | null {
    const value = this.#value(field)
    if (value === undefined) return null
    if (typeof value === 'string') return value
    throw this.invalid(field, 'a text')
  }

  /** @param expected what the error says of a value that is none, or not above zero */
  duration(
    field: string,
    expected = 'a duration above zero such as 10s, 1h, 1d or 1mo',
  ): { readonly duration: Duration; readonly text: string } {
    const value = this.#value(field)
    if (value === undefined) return this.missing(field)
    const text = typeof value === 'number' ? String(value) : value
    const duration = typeof text === 'string' ? parseDuration(text) : null
    if (duration === null || !isPositive(duration)) {
      throw this.invalid(field, expected)
    }
    return { duration, text: text as string }
  }

  /** A duration of a fixed length, in microseconds; `null` when it is left out. */
  fixedDuration(field: string): number | null {
    const value = this.#value(field)
    if (value === undefined) return null
    const us = readFixedDuration(value)
    if (us !== null) return us
    throw this.invalid(field, FIXED_DURATION)
  }

  texts(field: string): readonly string[] | null {
    const value = this.#value(field)
    if (value === undefined) return null
    if (Array.isArray(value) && value.every((entry) => typeof entry === 'string')) return value
    throw this.invalid(field, 'an array of texts')
  }

  /** Warns that a detail means nothing in this request. */
  warnUseless(field: string, reason: string): void {
    this.#warnings.addUseless(field, `the details of ${this.#type}`, reason)
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

  /** Throws MISSING_DETAIL. */
  missing(field: string): never {
    throw new TidemarkError('MISSING_DETAIL', { type: this.#type, field })
  }
}

/** What is expected of a duration of a fixed length. */
export const FIXED_DURATION = 'a duration above zero of a fixed length such as 90s, 5min or 1d'

/** A duration of a fixed length above zero, in microseconds; `null` for anything else. */
export function readFixedDuration(value: unknown): number | null {
  const text = typeof value === 'number' ? String(value) : value
  const us = typeof text === 'string' ? fixedDurationUs(text) : null
  return us !== null && us >= 1 ? us : null
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
