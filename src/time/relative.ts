import { fractionUs } from './epoch.ts'
import type { TimeExpression, TimeStep } from './expression.ts'
import { US_PER_DAY, US_PER_HOUR, US_PER_MINUTE, US_PER_SECOND } from './instant.ts'
import type { Period } from './periods.ts'
import { type Amount, addAmounts, amountOf, NO_TIME, unitNamed } from './units.ts'

/**
 * The relative times in words: `yesterday at 06:00`, `last monday at 06:00`, `2 days and 3 hours ago`, `end of last
 * month`. Case-insensitive, any blanks between the words. Read word by word from left to right, without going back.
 * @returns null for anything else
 */
export function parseRelative(text: string): TimeExpression | null {
  const words = split(text)
  if (words === null) return null
  const reader = new Reader(words)
  const steps = readExpression(reader)
  return steps !== null && reader.atEnd ? steps : null
}

const WORD = /\s*(\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?|\d{1,15}(?:\.\d{1,15})?|[a-z]+|,)/y
const PERIODS = new Set<string>(['hour', 'day', 'week', 'month', 'quarter', 'year'] satisfies Period[])
const DAYS = new Map([
  ['yesterday', -1],
  ['today', 0],
  ['tomorrow', 1],
])
/** Days after Monday, by name; weekdays may be cut to three letters. */
const WEEKDAYS = new Map(
  ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].flatMap((name, weekday) => [
    [name, weekday] as const,
    [name.slice(0, 3), weekday] as const,
  ]),
)
const WHICH = ['last', 'this', 'next'] as const
const SHIFTS = new Map([
  ['last', -1],
  ['this', 0],
  ['next', 1],
])

/** Times, numbers, words in lower case and commas; null when there is anything else. */
function split(text: string): string[] | null {
  // Only ASCII is put in lower case: some other letters would become one of these words.
  if (!/^[\t -~]*$/.test(text)) return null
  const lower = text.trim().toLowerCase()
  const words: string[] = []
  WORD.lastIndex = 0
  while (WORD.lastIndex < lower.length) {
    const match = WORD.exec(lower)
    if (match === null) return null
    words.push(match[1]!)
  }
  return words
}

class Reader {
  readonly #words: readonly string[]
  #next = 0

  constructor(words: readonly string[]) {
    this.#words = words
  }

  get atEnd(): boolean {
    return this.#next === this.#words.length
  }

  peek(ahead = 0): string | undefined {
    return this.#words[this.#next + ahead]
  }

  next(): string | undefined {
    return this.#words[this.#next++]
  }

  /** Takes these words when they stand here, all or none. */
  take(...words: readonly string[]): boolean {
    if (words.some((word, index) => this.#words[this.#next + index] !== word)) return false
    this.#next += words.length
    return true
  }
}

function readExpression(reader: Reader): TimeStep[] | null {
  if (reader.take('now')) return []
  if (reader.take('first', 'moment', 'of')) return readDay(reader, 'start')
  if (reader.take('last', 'moment', 'of')) return readDay(reader, 'end')
  if (reader.take('begin', 'of') || reader.take('start', 'of')) return readPeriod(reader, 'start')
  if (reader.take('end', 'of')) return readPeriod(reader, 'end')
  const shift = DAYS.get(reader.peek() ?? '')
  if (shift !== undefined) {
    reader.next()
    return readNamedDay(reader, shift)
  }
  const weekday = readWeekday(reader)
  if (weekday !== null) {
    const clock = readClock(reader)
    if (clock === null) return null
    return [weekday, ...(clock.length === 0 ? [{ kind: 'start', period: 'day', shift: 0 } as const] : clock)]
  }
  const isLater = reader.take('in')
  const amount = readAmount(reader)
  if (amount === null || (!isLater && !reader.take('ago'))) return null
  const clock = readClock(reader)
  return clock === null ? null : [{ kind: 'add', sign: isLater ? 1 : -1, amount }, ...clock]
}

/** `today`, `yesterday` or `tomorrow`: its beginning, or a time of its clock. */
function readNamedDay(reader: Reader, shift: number): TimeStep[] | null {
  const clock = readClock(reader)
  if (clock === null) return null
  if (clock.length === 0) return [{ kind: 'start', period: 'day', shift }]
  return [{ kind: 'add', sign: shift < 0 ? -1 : 1, amount: { ...NO_TIME, days: Math.abs(shift) } }, ...clock]
}

/** `monday`, `last monday`, `next monday`; null, and nothing is taken, when there is none. */
function readWeekday(reader: Reader): TimeStep | null {
  const which = WHICH.find((word) => word === reader.peek())
  const weekday = WEEKDAYS.get(reader.peek(which === undefined ? 0 : 1) ?? '')
  if (weekday === undefined) return null
  if (which !== undefined) reader.next()
  reader.next()
  return { kind: 'weekday', weekday, which: which ?? 'this' }
}

/** The day of `first moment of` and `last moment of`: a name, a weekday, or `<n> days ago`. */
function readDay(reader: Reader, kind: 'start' | 'end'): TimeStep[] | null {
  const weekday = readWeekday(reader)
  if (weekday !== null) return [weekday, { kind, period: 'day', shift: 0 }]
  const word = reader.next() ?? ''
  const shift = DAYS.get(word)
  if (shift !== undefined) return [{ kind, period: 'day', shift }]
  const count = countOf(word)
  const unit = reader.next()
  if (count === null || (unit !== 'day' && unit !== 'days' && unit !== 'd') || !reader.take('ago'))
    return null
  const amount = amountOf(count, unitNamed('day')!)
  return amount === null || amount.us !== 0 ? null : [{ kind, period: 'day', shift: 0 - amount.days }]
}

function readPeriod(reader: Reader, kind: 'start' | 'end'): TimeStep[] | null {
  const shift = SHIFTS.get(reader.peek() ?? '')
  if (shift !== undefined) reader.next()
  const period = reader.next() ?? ''
  return PERIODS.has(period) ? [{ kind, period: period as Period, shift: shift ?? 0 }] : null
}

/** `2 days, 1 hour and 30 minutes`. */
function readAmount(reader: Reader): Amount | null {
  let sum: Amount | null = NO_TIME
  do {
    const count = countOf(reader.next() ?? '')
    const unit = unitNamed(reader.next() ?? '')
    if (count === null || unit === null) return null
    // Half a day could be 11 or 13 hours; a caller that means 12 can say so.
    if (unit.kind === 'calendar' && /[.]/.test(count)) return null
    const amount = amountOf(count, unit)
    sum = amount === null ? null : addAmounts(sum, amount)
    if (sum === null) return null
  } while (reader.take(',', 'and') || reader.take(',') || reader.take('and'))
  return sum
}

function countOf(word: string): string | null {
  if (word === 'a' || word === 'an') return '1'
  return /^\d+(?:\.\d+)?$/.test(word) ? word : null
}

/** `at 06:00`, `at noon`: one step; none when there is no `at`; null when what follows `at` is no time. */
function readClock(reader: Reader): TimeStep[] | null {
  if (!reader.take('at')) return []
  if (reader.take('midnight')) return [{ kind: 'clock', us: 0 }]
  if (reader.take('noon')) return [{ kind: 'clock', us: US_PER_DAY / 2 }]
  if (reader.take('the', 'same', 'time')) return [{ kind: 'same-time' }]
  const us = clockUsOf(reader.next() ?? '')
  return us === null ? null : [{ kind: 'clock', us }]
}

/** Microseconds since midnight of `HH:MM`, `HH:MM:SS` or `HH:MM:SS.fff`, null for anything else. */
function clockUsOf(text: string): number | null {
  const match = /^(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?$/.exec(text)
  if (match === null) return null
  const [hours, minutes, seconds] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)]
  if (hours > 23 || minutes > 59 || seconds > 59) return null
  return (
    hours * US_PER_HOUR + minutes * US_PER_MINUTE + seconds * US_PER_SECOND + fractionUs(match[4] ?? '', 6)
  )
}
