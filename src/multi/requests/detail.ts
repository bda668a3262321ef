import { showInput, TidemarkError } from '../../errors/tidemark-error.ts'
import type { Warnings } from '../../errors/warnings.ts'
import { type Duration, fixedDurationUs, parseDuration } from '../../time/duration.ts'
import type { Instant } from '../../time/instant.ts'
import { invalidTime, type TimeErrorContext } from '../../time/invalid-time.ts'
import { parseEndTime, parseTime } from '../../time/parse.ts'

/**
 * One detail of a request, declared once: reading, warnings, the OpenAPI document and docs/multi.md take it from here.
 */
export interface Detail<Value = unknown> {
  readonly name: string
  readonly type: DetailType<unknown>
  /** What it means, in sentences for the reference. */
  readonly meaning: string
  /** Whether it is an error to leave it out, but where one of the details `unless` is there. */
  readonly isNeeded: boolean
  readonly unless: readonly string[]
  /** Its value when it is left out; `null` for none. */
  readonly otherwise: Value | null
}

/** What a detail takes, and how it is read. */
export interface DetailType<Value> {
  readonly takes: Takes
  /** Throws the sentence for the label. */
  read(input: unknown, details: Details, name: string): Value
}

/** What the OpenAPI document and the reference say of a type. */
export type Takes =
  | { readonly kind: 'time' }
  | { readonly kind: 'flag' }
  | { readonly kind: 'text' }
  | { readonly kind: 'count'; readonly most?: number }
  | { readonly kind: 'word'; readonly words: readonly string[] }
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'numbers'; readonly most: number }
  | { readonly kind: 'duration'; readonly format: string; readonly example?: string }
  | { readonly kind: 'object'; readonly details: readonly Detail[] }

/** A detail that must be there, or one of those `unless`. */
export function needed<Value>(
  name: string,
  type: DetailType<Value>,
  meaning: string,
  unless: readonly string[] = [],
): Detail<Value> {
  return { name, type, meaning, isNeeded: true, unless, otherwise: null }
}

/** A detail that may be left out. @param otherwise its value then */
export function optional<Value, Otherwise extends Value | null = null>(
  name: string,
  type: DetailType<Value>,
  meaning: string,
  otherwise?: Otherwise,
): Detail<Value | Otherwise> {
  return { name, type, meaning, isNeeded: false, unless: [], otherwise: otherwise ?? null }
}

export const TIME: DetailType<Instant> = {
  takes: { kind: 'time' },
  read: (input, details, name) => {
    const at = parseTime(input, details.context)
    if (at === null) throw invalidTime(input, details.placeOf(name), details.context)
    return at
  },
}

/** The end of a range, up to the year 9999. */
export const END_TIME: DetailType<Instant> = {
  ...TIME,
  read: (input, details, name) => parseEndTime(input, details.context) ?? TIME.read(input, details, name),
}

/** A type whose values are found without knowing where they stand. @param parse `undefined` for anything else */
export function detailType<Value>(
  takes: Takes,
  expected: string,
  parse: (input: unknown) => Value | undefined,
): DetailType<Value> {
  return {
    takes,
    read: (input, details, name) => {
      const value = parse(input)
      if (value === undefined) throw details.invalid(name, expected)
      return value
    },
  }
}

export const FLAG = detailType({ kind: 'flag' }, 'true or false', (input) =>
  typeof input === 'boolean' ? input : undefined,
)

export const TEXT = detailType({ kind: 'text' }, 'a text', (input) =>
  typeof input === 'string' ? input : undefined,
)

export const COUNT = detailType({ kind: 'count' }, 'a whole number of at least 1', (input) =>
  typeof input === 'number' && Number.isSafeInteger(input) && input >= 1 ? input : undefined,
)

export function countUpTo(most: number): DetailType<number> {
  return {
    takes: { kind: 'count', most },
    read: (input, details, name) => {
      const count = COUNT.read(input, details, name)
      if (count > most) throw details.invalid(name, `a whole number from 1 to ${most}`)
      return count
    },
  }
}

export function oneOf<const Word extends string>(words: readonly Word[]): DetailType<Word> {
  return detailType({ kind: 'word', words }, listWords(words), (input) =>
    words.find((word) => word === input),
  )
}

/** A duration above zero, with the text that it was written as. */
export const DURATION = detailType(
  {
    kind: 'duration',
    format: 'A duration such as `10s`, `1h`, `1d` or `1mo`; a number is milliseconds.',
  },
  'a duration above zero such as 10s, 1h, 1d or 1mo',
  readDuration,
)

/** What is expected of a duration of a fixed length. */
export const FIXED_DURATION = 'a duration above zero of a fixed length such as 90s, 5min or 1d'

/** A length of time in microseconds: a day has 24 hours, and months have none. */
export const LENGTH = lengthType(
  FIXED_DURATION,
  'A duration of a fixed length such as `10s`, `1h` or `1d`, which is 24 hours; a number is milliseconds.',
)

/** How long a point is good for, in microseconds. */
export const GOOD_FOR = lengthType(
  FIXED_DURATION,
  'A duration of a fixed length above 0, or milliseconds.',
  '5min',
)

export function lengthType(expected: string, format: string, example?: string): DetailType<number> {
  const takes = { kind: 'duration', format, ...(example !== undefined && { example }) } as const
  return detailType(takes, expected, (input) => readFixedDuration(input) ?? undefined)
}

/** A duration of a fixed length above zero, in microseconds; `null` for anything else. */
export function readFixedDuration(input: unknown): number | null {
  const text = durationText(input)
  return text === null ? null : fixedDurationUs(text)
}

function readDuration(input: unknown): { readonly duration: Duration; readonly text: string } | undefined {
  const text = durationText(input)
  const duration = text === null ? null : parseDuration(text)
  return duration === null ? undefined : { duration, text: text! }
}

/** A number is milliseconds. */
function durationText(input: unknown): string | null {
  if (typeof input === 'number') return String(input)
  return typeof input === 'string' ? input : null
}

/**
 * The `details` of one request. Types are never coerced; an optional detail that is null counts as left out. Every
 * method throws TidemarkError with the sentence for the label.
 */
export class Details {
  readonly context: TimeErrorContext & { readonly warnings: Warnings }
  readonly #fields: Readonly<Record<string, unknown>>
  readonly #type: { readonly name: string; readonly place: string }

  /** @param type whose details they are; `place` is how sentences name them */
  constructor(
    fields: Readonly<Record<string, unknown>>,
    type: { readonly name: string; readonly place: string },
    context: TimeErrorContext & { readonly warnings: Warnings },
  ) {
    this.#fields = fields
    this.#type = type
    this.context = context
  }

  has({ name }: Pick<Detail, 'name'>): boolean {
    return this.#input(name) !== undefined
  }

  /** The value of a detail, or what it is when left out. Throws MISSING_DETAIL, INVALID_DETAIL or INVALID_TIME. */
  get<Value>({ name, type, isNeeded, otherwise }: Detail<Value>): Value {
    const input = this.#input(name)
    if (input !== undefined) return type.read(input, this, name) as Value
    return isNeeded ? this.missing(name) : (otherwise as Value)
  }

  /** Warns that a detail means nothing in this request. */
  warnUseless({ name }: Detail, reason: string): void {
    this.context.warnings.addUseless(name, this.#type.place, reason)
  }

  /** A detail as sentences name it: `at in the details of HISTORICAL_POINT`. */
  placeOf(name: string): string {
    return `${name} in ${this.#type.place}`
  }

  invalid(field: string, expected: string): TidemarkError {
    const input = showInput(this.#input(field))
    const values = { field, input, type: this.#type.name, expected }
    return new TidemarkError('INVALID_DETAIL', values, { place: { input } })
  }

  /** Throws MISSING_DETAIL. @param field what the caller should give, in words */
  missing(field: string): never {
    throw new TidemarkError('MISSING_DETAIL', { type: this.#type.name, field })
  }

  #input(field: string): unknown {
    return Object.hasOwn(this.#fields, field) ? (this.#fields[field] ?? undefined) : undefined
  }
}

/** What a detail means, when it is needed, and its value when left out, in sentences. */
export function descriptionOf({ meaning, type: { takes }, unless, otherwise }: Detail): string {
  const format = takes.kind === 'duration' ? ` ${takes.format}` : ''
  const need = unless.length > 0 ? ` Needed without ${listWords(unless.map((name) => `\`${name}\``))}.` : ''
  const isShown = typeof otherwise === 'string' || typeof otherwise === 'number'
  return `${meaning}${format}${need}${isShown ? ` \`${otherwise}\` when left out.` : ''}`
}

/** `A, B or C`. */
export function listWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
