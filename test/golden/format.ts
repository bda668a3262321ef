import { type Instant, instantFromUs } from '../../src/time/instant.ts'
import { parseTime } from '../../src/time/parse.ts'
import { parseTimeZone, type TimeZone } from '../../src/time/zone.ts'

/**
 * Golden files, test/golden/*.calc: series, requests and the answers that a person worked out, as text that a process
 * engineer can read. The format is described in test/golden/README.md.
 */
export interface GoldenFile {
  /** Who worked out the numbers. */
  readonly source: string
  readonly tags: readonly GoldenTag[]
  readonly cases: readonly GoldenCase[]
}

export interface GoldenTag {
  readonly historian: string
  readonly name: string
  readonly stepped: boolean
  readonly maxGap: string | null
  /** Names of values; `null` for a tag without. */
  readonly states: Readonly<Record<string, string>> | null
  readonly points: readonly GoldenPoint[]
}

export interface GoldenPoint {
  readonly time: Instant
  /** `null` for no value, which only answers have. */
  readonly value: number | null
  readonly bad: boolean
}

export interface GoldenCase {
  readonly title: string
  readonly line: number
  readonly now: Instant
  readonly zone: TimeZone
  readonly reads: readonly GoldenRead[]
}

export interface GoldenRead {
  readonly line: number
  readonly tag: string
  readonly type: string
  readonly details: Readonly<Record<string, string | number | boolean | readonly string[]>>
  readonly expected: Expected
  /** Relative tolerance of values. */
  readonly within: number
  readonly plan: readonly PlanCheck[]
}

export type Expected =
  | { readonly kind: 'points'; readonly points: readonly GoldenPoint[]; readonly truncated: boolean }
  | { readonly kind: 'adjacent'; readonly points: ReadonlyMap<string, GoldenPoint | null> }
  | { readonly kind: 'intervals'; readonly intervals: readonly GoldenInterval[] }
  | { readonly kind: 'aggregates'; readonly windows: readonly GoldenWindow[] }
  | { readonly kind: 'fails'; readonly sentence: string }

export interface GoldenWindow {
  readonly from: Instant
  readonly to: Instant
  /**
   * By the names of the answer; `null` where it cannot be computed. Times and statuses are texts, and so are the times
   * of states (`statesText`).
   */
  readonly values: ReadonlyMap<string, number | string | null>
  /** Whether the answer says that the window is cut. */
  readonly partial: boolean
}

export interface GoldenInterval {
  readonly from: Instant
  readonly to: Instant
  /** `open start`, `open end`, both or nothing of INTERVALS; `bad` or `missing` of GAPS. */
  readonly words: string
}

export interface PlanCheck {
  readonly name: string
  readonly operator: '=' | '<='
  readonly value: number
}

const TYPES =
  /^(.+?) {1,20}((?:CURRENT|HISTORICAL|INTERPOLATED|RAW|ADJACENT|AGGREGATED|MULTIPLE_AGGREGATED)_POINTS?|POINT_(?:BEFORE|AFTER)(?:_OR_AT)?|PLOT|INTERVALS|GAPS)(?: (.*))?$/

interface Scope {
  now: Instant
  zone: TimeZone
}

/** Reads a golden file; throws an error that names the line. */
export function parseGolden(text: string): GoldenFile {
  const reader = new Reader(text)
  const tags: GoldenTag[] = []
  const cases: GoldenCase[] = []
  const scope: Scope = { now: instantFromUs(0), zone: parseTimeZone('UTC')! }
  let source = ''
  for (let line = reader.next(0); line !== null; line = reader.next(0)) {
    const [word, rest] = firstWord(line.text)
    if (word === 'source') source = rest
    else if (word === 'now') readScope(reader, rest, scope)
    else if (word === 'tag') tags.push(readTag(reader, rest, scope))
    else if (word === 'case') cases.push(readCase(reader, rest, line.number, scope))
    else reader.fail(`source, now, tag or case is expected, not ${word}`)
  }
  return { source, tags, cases }
}

function readScope(reader: Reader, rest: string, scope: Scope): void {
  const match = /^(\S+)(?: +zone +(\S+))?$/.exec(rest)
  const zone = match === null ? null : parseTimeZone(match[2] ?? 'UTC')
  if (match === null || zone === null) reader.fail('a time and `zone <id>` are expected')
  scope.zone = zone
  scope.now = readTime(reader, match[1]!, scope)
}

function readTag(reader: Reader, rest: string, scope: Scope): GoldenTag {
  const match = /^([^/]+)\/(.+?) +(linear|stepped)(?: +maxGap +(\S+))?(?: +states +(\S+))?$/.exec(rest)
  if (match === null) return reader.fail('<historian>/<name>, then linear or stepped, is expected')
  const points: GoldenPoint[] = []
  for (let line = reader.next(2); line !== null; line = reader.next(2)) {
    points.push(readPoint(reader, line.text, scope))
  }
  return {
    historian: match[1]!,
    name: match[2]!,
    stepped: match[3] === 'stepped',
    maxGap: match[4] ?? null,
    states: match[5] === undefined ? null : readStates(reader, match[5]),
    points,
  }
}

/** `0=Closed,1=Open`. */
function readStates(reader: Reader, text: string): Readonly<Record<string, string>> {
  const pairs = text
    .split(',')
    .map((pair) => /^(-?[\d.]+)=(\w+)$/.exec(pair) ?? reader.fail(`${pair} is no state`))
  return Object.fromEntries(pairs.map(([, value, name]) => [value!, name!]))
}

/** What STATES answers as a text: `Closed=600x2,Open=0x0`, seconds and visits of each. */
export function statesText(states: Readonly<Record<string, { seconds: number; visits: number }>>): string {
  return Object.entries(states)
    .map(([name, { seconds, visits }]) => `${name}=${seconds}x${visits}`)
    .join(',')
}

function readCase(reader: Reader, title: string, number: number, outer: Scope): GoldenCase {
  const scope = { ...outer }
  const reads: GoldenRead[] = []
  for (let line = reader.next(2); line !== null; line = reader.next(2)) {
    const [word, rest] = firstWord(line.text)
    if (word === 'now' && reads.length === 0) readScope(reader, rest, scope)
    else if (word === 'read') reads.push(readRead(reader, rest, line.number, scope))
    else reader.fail(`read is expected, or now before the first one, not ${word}`)
  }
  return { title, line: number, ...scope, reads }
}

function readRead(reader: Reader, rest: string, number: number, scope: Scope): GoldenRead {
  const match = TYPES.exec(rest)
  if (match === null) return reader.fail('a tag and a request type are expected')
  const [, tag, type, words = ''] = match
  const details = readDetails(reader, words, scope)
  const points: GoldenPoint[] = []
  const adjacent = new Map<string, GoldenPoint | null>()
  const windows: GoldenWindow[] = []
  const intervals: GoldenInterval[] = []
  const plan: PlanCheck[] = []
  let truncated = false
  let sentence: string | null = null
  let within = 1e-9
  for (let line = reader.expectation(); line !== null; line = reader.expectation()) {
    const [word, more] = firstWord(line.text)
    if (word === 'plan') plan.push(readPlan(reader, more))
    else if (word === 'within') within = Number(more)
    else if (word === 'fails') sentence = more
    else if (word === 'truncated') truncated = true
    else if (word === 'none') continue
    else if (type === 'ADJACENT_POINTS') {
      adjacent.set(word, more === 'none' ? null : readPoint(reader, more, scope))
    } else if (isOfIntervals(type!)) intervals.push(readInterval(reader, line.text, scope))
    else if (type!.includes('AGGREGATED')) windows.push(readWindow(reader, line.text, scope))
    else points.push(readPoint(reader, line.text, scope))
  }
  const expected: Expected =
    sentence !== null
      ? { kind: 'fails', sentence }
      : type === 'ADJACENT_POINTS'
        ? { kind: 'adjacent', points: adjacent }
        : isOfIntervals(type!)
          ? { kind: 'intervals', intervals }
          : windows.length > 0
            ? { kind: 'aggregates', windows }
            : { kind: 'points', points, truncated }
  const names =
    windows[0] === undefined ? {} : { aggregates: [...windows[0].values.keys()].map(aggregateWord) }
  return { line: number, tag: tag!, type: type!, details: { ...details, ...names }, expected, within, plan }
}

function aggregateWord(name: string): string {
  return name === 'variance' ? 'VAR' : name.toUpperCase()
}

/** `10:00 .. 10:20 count 5`, `at 10:00`, `now 10:00`. */
function readDetails(
  reader: Reader,
  words: string,
  scope: Scope,
): Record<string, string | number | boolean | readonly string[]> {
  const details: Record<string, string | number | boolean> = {}
  let rest = words.trim()
  const range = /^(\S+) +\.\. +(\S+) */.exec(rest)
  if (range !== null) {
    details.from = timeText(readTime(reader, range[1]!, scope))
    details.to = timeText(readTime(reader, range[2]!, scope))
    rest = rest.slice(range[0].length)
  }
  const parts = rest === '' ? [] : rest.split(/ +/)
  for (let i = 0; i < parts.length; i += 2) {
    const [name, value] = [parts[i]!, parts[i + 1] ?? reader.fail(`${parts[i]} needs a value`)]
    if (name === 'at' || name === 'now') details[name] = timeText(readTime(reader, value, scope))
    else if (['count', 'maxPoints', 'width'].includes(name)) details[name] = Number(value)
    else if (name === 'left' || name === 'right') details[`${name}Boundary`] = value
    else if (
      ['order', 'interval', 'per', 'maxGap', 'mergeWithin', 'minDuration', 'longerThan'].includes(name)
    )
      details[name] = value
    else if (name === 'anchor') details[name] = value.replace('_', ' ')
    else if (name === 'whole') details[name] = value === 'true'
    else reader.fail(`${name} is no detail`)
  }
  return details
}

/** `10:00  10`, `10:00  10 BAD`, `10:00  null BAD`. */
function readPoint(reader: Reader, text: string, scope: Scope): GoldenPoint {
  const match = /^(\S+) +(\S+)(?: +(BAD))?$/.exec(text)
  if (match === null) return reader.fail('a time, a value and perhaps BAD are expected')
  return {
    time: readTime(reader, match[1]!, scope),
    value: readValue(reader, match[2]!),
    bad: match[3] === 'BAD',
  }
}

/** `10:00 .. 11:00  min 10  maxTime 10:30  worstStatus OK  partial`. */
function readWindow(reader: Reader, text: string, scope: Scope): GoldenWindow {
  const [from, dots, to, ...words] = text.split(/ +/)
  if (dots !== '..') return reader.fail('a window as <from> .. <to> is expected')
  const values = new Map<string, number | string | null>()
  const partial = words.at(-1) === 'partial'
  for (let i = 0; i + 1 < words.length; i += 2) {
    values.set(words[i]!, readAggregate(reader, words[i]!, words[i + 1]!, scope))
  }
  return { from: readTime(reader, from!, scope), to: readTime(reader, to!, scope), values, partial }
}

function isOfIntervals(type: string): boolean {
  return type === 'INTERVALS' || type === 'GAPS'
}

/** `10:00 .. 10:30  open start`, `10:40 .. 11:00  bad`. */
function readInterval(reader: Reader, text: string, scope: Scope): GoldenInterval {
  const [from, dots, to, ...words] = text.split(/ +/)
  if (dots !== '..') return reader.fail('an interval as <from> .. <to> is expected')
  return { from: readTime(reader, from!, scope), to: readTime(reader, to!, scope), words: words.join(' ') }
}

function readAggregate(reader: Reader, name: string, text: string, scope: Scope): number | string | null {
  if (text === 'null') return null
  if (name === 'worstStatus' || name === 'states') return text
  return name.endsWith('Time') ? timeText(readTime(reader, text, scope)) : readValue(reader, text)
}

function readPlan(reader: Reader, text: string): PlanCheck {
  const match = /^(\w+) +(=|<=) +(\d+)$/.exec(text)
  if (match === null) return reader.fail('plan <name> = <number> or <= <number> is expected')
  return { name: match[1]!, operator: match[2] as '=' | '<=', value: Number(match[3]) }
}

function readValue(reader: Reader, text: string): number | null {
  if (text === 'null') return null
  const value = Number(text)
  return Number.isFinite(value) ? value : reader.fail(`${text} is no number`)
}

/**
 * `10:00`, `10:00:00.5` on the day of now, `-1us` or `+1us` after a time for one microsecond earlier or later; or any
 * time of the interface.
 */
function readTime(reader: Reader, text: string, { now, zone }: Scope): Instant {
  const shift = /[+-]1us$/.exec(text)?.[0] ?? ''
  const base = text.slice(0, text.length - shift.length)
  const day = new Temporal.ZonedDateTime(BigInt(now) * 1000n, zone.id).toPlainDate().toString()
  const time = parseTime(/^\d\d:\d\d/.test(base) ? `${day}T${base}` : base, { now, zone })
  if (time === null) return reader.fail(`${text} is no time`)
  return instantFromUs(time + (shift === '' ? 0 : Number.parseInt(shift, 10)))
}

/** An instant as the interface reads it without losing a microsecond. */
export function timeText(time: Instant): string {
  return Temporal.Instant.fromEpochNanoseconds(BigInt(time) * 1000n).toString()
}

function firstWord(text: string): readonly [word: string, rest: string] {
  const space = text.indexOf(' ')
  return space < 0 ? [text, ''] : [text.slice(0, space), text.slice(space).trim()]
}

/** The lines of a file without comments. */
class Reader {
  readonly #lines: readonly string[]
  #at = 0

  constructor(text: string) {
    // A comment is a line of its own, or follows at least two blanks: a tag's name may hold a #.
    this.#lines = text.split('\n').map((line) => line.replace(/(?:^| {2,})#.*$/, '').trimEnd())
  }

  /** The next line when it is indented by that much; `null` when it is not, or there is none. */
  next(indent: number): { readonly text: string; readonly number: number } | null {
    while (this.#lines[this.#at] === '') this.#at++
    const line = this.#lines[this.#at]
    if (line === undefined) return null
    if (line.search(/\S/) < indent) return null
    this.#at++
    return { text: line.trim(), number: this.#at }
  }

  /** The next line of a read: what does not begin another read, setting or case. */
  expectation(): { readonly text: string; readonly number: number } | null {
    while (this.#lines[this.#at] === '') this.#at++
    const line = this.#lines[this.#at]
    return line === undefined || /^ *(?:read|now) /.test(line) ? null : this.next(2)
  }

  fail(reason: string): never {
    throw new Error(`line ${this.#at}: ${reason}`)
  }
}
