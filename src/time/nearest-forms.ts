import { editDistance } from '../errors/edit-distance.ts'
import { MONTHS } from './calendar-dates.ts'
import { daysInMonth } from './civil.ts'
import { parseTime, type TimeContext } from './parse.ts'
import { UNIT_NAMES } from './units.ts'

/** Longer inputs are cut before they are compared: nobody wrote such a time by hand, and the work stays bounded. */
const LONGEST_COMPARED = 48
/** Words beyond are left as they are. */
const MOST_WORDS = 8
/** The beginning decides which example is near. */
const LONGEST_SHAPE = 20

/**
 * Two accepted ways to write a time that could not be read, the nearest to what was written first. What can be put
 * right is (`22/4/2026 5 pm`, `2 hours bevor`); otherwise the nearest of some examples stand. Never throws; takes some
 * tens of microseconds.
 */
export function nearestForms(input: unknown, context: TimeContext): readonly [string, string] {
  const given = typeof input === 'string' || typeof input === 'number' ? String(input) : ''
  const text = given.slice(0, LONGEST_COMPARED).trim()
  const found: string[] = []
  const take = (form: string): void => {
    if (found.length < 2 && !found.includes(form) && parseTime(form, context) !== null) found.push(form)
  }
  for (const form of corrections(text)) {
    take(form)
    if (found.length === 2) break
  }
  if (found.length < 2) for (const form of nearestExamples(text, found[0] ?? null)) take(form)
  return found as unknown as readonly [string, string]
}

function* corrections(text: string): Generator<string> {
  yield* correctedDates(text)
  yield* correctedWords(text)
}

/** The examples: first the ones that go on where a correction ends, then by the letters in which they differ. */
function nearestExamples(text: string, correction: string | null): readonly string[] {
  const shape = shapeOf(text)
  const distances = EXAMPLES.map((example) => {
    if (correction !== null && example.startsWith(correction)) return 0
    const distance = editDistance(shape, shapeOf(example))
    // Farther than half of its letters, nothing is near.
    return 1 + (distance * 2 > shape.length ? LONGEST_SHAPE : distance)
  })
  const order = [...EXAMPLES.keys()].sort((a, b) => distances[a]! - distances[b]!)
  return order.map((index) => EXAMPLES[index]!)
}

/** Digits do not tell forms apart. */
function shapeOf(text: string): string {
  return text.slice(0, LONGEST_SHAPE).replace(/\d/g, '0').toLowerCase()
}

/** Forms that are shown where nothing is near. */
export const FAR_FORMS = ['2026-04-22T10:00:00Z', '2 hours ago'] as const

/** Shown where nothing can be put right. */
const EXAMPLES: readonly string[] = [
  ...FAR_FORMS,
  '2026-04-22 10:00',
  '22.04.2026 10:00',
  '2026-04-22',
  '22.04.2026',
  '1-Jan-2026 05:00:00',
  'yesterday at 06:00',
  'last monday at 06:00',
  'begin of month',
  'now-6h',
  '1768478400000',
]

const NUMERIC_DATE = /^(\d{1,4})([-/. ])(\d{1,2})\2(\d{1,4})(?!\d)/
const CLOCK = /^(?:[T,:\s-]|at)*(\d{1,2})(?:[:.h](\d{1,2}))?(?:[:.](\d{1,2})([.,]\d+)?)? *(?:([ap])\.?m\.?)?/i

/** A date in numbers in an order or with separators that are not taken, with what is behind it. */
function* correctedDates(text: string): Generator<string> {
  const month = /^(\d{4})[-/.](\d{1,2})$/.exec(text)
  if (month !== null) {
    yield `${month[1]}-${padded(month[2]!)}-01`
    yield `01.${padded(month[2]!)}.${month[1]}`
  }
  const date = NUMERIC_DATE.exec(text)
  const named = date === null ? namedDate(text) : null
  const end = date?.[0].length ?? named?.end
  if (end === undefined) return
  const rest = correctedClock(text.slice(end))
  for (const [year, months, day] of named === null ? readings(date!) : [named.date]) {
    const last = months >= 1 && months <= 12 ? daysInMonth(year, months) : 31
    if (months > 12 || months < 1 || day < 1 || day > 31) continue
    const [yyyy, mm, dd] = [String(year).padStart(4, '0'), padded(months), padded(Math.min(day, last))]
    for (const behind of rest) {
      yield `${yyyy}-${mm}-${dd}${behind}`
      // Where day and month could be either, both readings are shown, each once.
      if (named !== null || readings(date!).length === 1) yield `${dd}.${mm}.${yyyy}${behind}`
    }
  }
}

type Numbers = readonly [year: number, month: number, day: number]

/** What three numbers can mean. */
function readings([, first = '', , second = '', third = '']: RegExpExecArray): readonly Numbers[] {
  const [a, b, c] = [Number(first), Number(second), Number(third)]
  if (first.length > 2) return first.length === 4 ? [[a, b, c]] : []
  const year = third.length === 2 ? 2000 + c : c
  if (a > 12 || a === b) return [[year, b, a]]
  return b > 12
    ? [[year, a, b]]
    : [
        [year, b, a],
        [year, a, b],
      ]
}

/** `01/Jan/2022`, `Thu, 1 Jan 22`: a day, a month's name and a year in any order, with anything between them. */
function namedDate(text: string): { readonly date: Numbers; readonly end: number } | null {
  const words = [...text.matchAll(/\d+|[a-z]+/gi)].slice(0, 5)
  const month = words.findIndex(([word]) => MONTHS.has(word.toLowerCase()))
  if (month < 0) return null
  const number = (at: number): string => (/^\d/.test(words[at]?.[0] ?? '') ? words[at]![0] : '')
  const [before, after, later] = [number(month - 1), number(month + 1), number(month + 2)]
  const [day, year, last] = before === '' ? [after, later, month + 2] : [before, after, month + 1]
  if (day === '' || year === '' || year.length > 4 || day.length > 4) return null
  const name = MONTHS.get(words[month]![0].toLowerCase())!
  const end = words[last]!.index + words[last]![0].length
  if (day.length === 4) return { date: [Number(day), name, Number(year)], end }
  return { date: [year.length === 2 ? 2000 + Number(year) : Number(year), name, Number(day)], end }
}

/** What stands behind a date as it is accepted, and the date alone. */
function correctedClock(text: string): readonly string[] {
  const clock = CLOCK.exec(text)
  if (text.trim() === '' || clock === null) return ['']
  const [whole, hours = '', minutes = '0', seconds, fraction = '', half] = clock
  const add = half?.toLowerCase() === 'p' && Number(hours) < 12 ? 12 : 0
  const hour = half?.toLowerCase() === 'a' && Number(hours) === 12 ? 0 : Number(hours) + add
  const time = ` ${padded(hour)}:${padded(minutes)}${seconds === undefined ? '' : `:${padded(seconds)}`}${fraction}`
  const zone = text.slice(whole.length).trim()
  const inBrackets = /^[A-Z][\w+-]*(?:\/[\w+-]+)*$/i.test(zone) ? [`${time}[${zone}]`] : []
  return [...(zone === '' ? [] : [`${time}${zone}`]), ...inBrackets, time, '']
}

function padded(number: number | string): string {
  return String(number).padStart(2, '0')
}

const WORDS = [
  ...'now today yesterday tomorrow at midnight noon the same time ago in and a an first last next this moment of begin end'.split(
    ' ',
  ),
  ...'monday tuesday wednesday thursday friday saturday sunday'.split(' '),
  ...UNIT_NAMES.filter((name) => name.length > 2),
]

/** A relative time with mistyped words, a missing `ago`, or an amount with a sign. */
function* correctedWords(text: string): Generator<string> {
  const amount = /^(?:now|\*)? *(?:last|past|previous|[-–])? *(\d{1,6}) *([a-z]+)/i.exec(text)
  const unit = amount === null ? undefined : nearestWord(amount[2]!, UNIT_NAMES)
  if (amount !== null && unit !== undefined) {
    yield `${amount[1]} ${unit} ago`
    const letter = unit.startsWith('mo') ? 'M' : unit.charAt(0)
    yield `now-${amount[1]}${letter}`
  }
  const words = text.toLowerCase().match(/\d{1,2}:\d\d(?::\d\d)?|\d+(?:\.\d+)?|[a-z]+|,/g) ?? []
  if (words.length === 0 || words.length > MOST_WORDS) return
  const corrected = words.map((word) =>
    /^[a-z]{2,}$/.test(word) ? (nearestWord(word, WORDS) ?? word) : word,
  )
  const hour = /^\d{1,2}$/.test(corrected.at(-1)!) && corrected.at(-2) === 'at' ? corrected.pop()! : null
  if (hour !== null) yield `${corrected.join(' ')} ${padded(hour)}:00`
  const period = corrected.join(' ').match(/(?:last|this|next) (?:hour|day|week|month|quarter|year)\b/)?.[0]
  if (period !== undefined) yield* [`begin of ${period}`, `end of ${period}`]
  if (corrected.length > 1) yield corrected.join(' ')
  const clock = corrected.find((word) => word.includes(':'))
  if (clock !== undefined) {
    for (const day of ['today', 'yesterday', 'tomorrow', ...corrected]) {
      if (day !== 'at' && day !== clock && (corrected.length === 1 || corrected.includes(day)))
        yield `${day} at ${padded(clock)}`
    }
  }
  // As they are, and without what follows; a number alone would be an epoch.
  for (let length = corrected.length; length > 0; length--) {
    if (length > 1 || !/^\d/.test(corrected[0]!)) yield corrected.slice(0, length).join(' ')
  }
}

/** The word within two letters of one that was mistyped, or the word itself. */
function nearestWord(word: string, words: readonly string[]): string | undefined {
  const lower = word.toLowerCase()
  const most = lower.length < 5 ? 1 : 2
  let [nearest, least]: [string | undefined, number] = [undefined, most + 1]
  for (const candidate of words) {
    // The first letter is hardly ever the mistyped one.
    if (candidate[0] !== lower[0] || Math.abs(candidate.length - lower.length) >= least) continue
    const distance = candidate === lower ? 0 : editDistance(lower, candidate)
    if (distance < least) [nearest, least] = [candidate, distance]
  }
  return nearest
}
