import { isAscii } from 'node:buffer'
import type { SinglePoint } from '../calc/graph/point-source.ts'
import { type PointColumns, STATUS_OK } from '../series/columns.ts'
import { formatInstant } from '../time/format.ts'
import type { TimeZone } from '../time/zone.ts'
import { BUFFER_BYTES, type BufferPool, type OutputBuffer } from './buffer-pool.ts'
import { FixedText, MillisWriter, NumberWriter, TimestampTemplate, writeShortNumber } from './json-bytes.ts'
import type { StateNames } from './state-names.ts'

/**
 * A buffer is passed on as a chunk at about this many bytes. What is left of it holds a label of LONGEST_LABEL
 * characters with its point, a row, or LIST_SLACK bytes of a list.
 */
const FULL_BYTES = 131_072
/** A label of up to so many characters, with its point, fits behind the last byte of a chunk. */
const LONGEST_LABEL = 256
/** Less than this is copied into memory of its own, and the buffer used on. */
const SMALL_BYTES = BUFFER_BYTES / 4
/** Node writes texts without memory of their own up to three times this length. */
const LONGEST_TEXT = 5_000
/** Texts of a list are joined to about so many characters before they are written. */
const JOINED_CHARACTERS = 8_192

/**
 * Buffered writer of JSON: texts, single points, points in rows and in columns go into one pooled buffer after the
 * other. Its generators yield when a chunk is full, which the caller then takes by `chunks`; a loop without a generator
 * fills each buffer, since V8 keeps the variables of a generator in memory and not in registers.
 */
export class AnswerWriter {
  readonly #pool: BufferPool
  #buffer: OutputBuffer
  #at = 0
  #full: Uint8Array[] = []

  constructor(pool: BufferPool) {
    this.#pool = pool
    this.#buffer = pool.take()
  }

  /** Whether a chunk is worth sending. */
  get isFull(): boolean {
    return this.#at >= FULL_BYTES || this.#full.length > 0
  }

  /** The chunks that are full. */
  chunks(): readonly Uint8Array[] {
    if (this.#at >= FULL_BYTES) this.#pass()
    const full = this.#full
    this.#full = []
    return full
  }

  /** The rest; nothing is to be written after it. */
  last(): readonly Uint8Array[] {
    this.#pass()
    return this.#full
  }

  /** What was written, alone: as a text where it is short and of ASCII, since a socket takes that with the head. */
  takeShort(): string | Uint8Array {
    const bytes = this.#buffer.bytes.subarray(0, this.#at)
    this.clear()
    return bytes.length <= LONGEST_TEXT && isAscii(bytes) ? bytes.toString('latin1') : Buffer.from(bytes)
  }

  /** Discards what is written and not passed on. */
  clear(): void {
    this.#at = 0
  }

  /** Gives the buffer back; the writer is not used again. */
  close(): void {
    this.#pool.giveBack(this.#buffer.bytes)
  }

  text(text: string): void {
    if (!this.#fits(text)) {
      this.#pass()
      if (!this.#fits(text)) {
        this.#full.push(Buffer.from(text))
        return
      }
    }
    this.#at += this.#buffer.bytes.write(text, this.#at)
  }

  /**
   * Writes `"label":{"dataPoint":...}` as bytes, while no chunk is full: a text for each of very many labels, joined
   * and then encoded, takes three times as long. Points of another day than that of `pointsNear` are written as texts,
   * since each change of the day costs more than a text.
   * @param comma whether one comes before it
   * @returns     false, and nothing is written, for a label that is too long
   */
  point(comma: boolean, label: string, point: SinglePoint, zone: TimeZone): boolean {
    if (label.length > LONGEST_LABEL) return false
    const { bytes, view } = this.#buffer
    if (comma) bytes[this.#at++] = COMMA
    const plain = writePlainLabel(bytes, label, this.#at)
    const at = plain < 0 ? this.#at + bytes.write(JSON.stringify(label), this.#at) : plain
    const stamp = stampOf(POINTS, zone)
    if (stamp.holds(point.time)) {
      const end = writeShortNumber(view, stamp.write(view, at, point.time), point.value)
      if (end >= 0) {
        this.#at = (point.bad ? BAD_POINT_END : OK_POINT_END).write(view, end)
        return true
      }
    }
    this.#at = at + bytes.write(`:{"dataPoint":${pointText(point, zone)}}`, at, 'latin1')
    return true
  }

  /** Says that single points near this instant come next. */
  pointsNear(time: number, zone: TimeZone): void {
    const stamp = stampOf(POINTS, zone)
    if (!stamp.holds(time)) stamp.enter(time)
  }

  /** Points as an array of objects. @param names of their values, for a tag that has some */
  rows(points: PointColumns, zone: TimeZone, names: StateNames | null): Generator<void> {
    return this.#list(points.times.length, new RowWriter(points, stampOf(ROWS, zone), names))
  }

  /** Points as columns: epoch milliseconds, values, and statuses unless all are OK. */
  *columns({ times, values, statuses }: PointColumns, names: StateNames | null): Generator<void> {
    this.text('{"timestamps":')
    yield* this.millis(times)
    this.text(',"values":')
    yield* this.#list(values.length, new NumberWriter(values))
    const isBad = (i: number) => statuses[i] !== STATUS_OK || Number.isNaN(values[i]!)
    let anyBad = false
    for (let i = 0; i < values.length && !anyBad; i++) anyBad = isBad(i)
    if (anyBad) yield* this.texts('statuses', values.length, (i) => (isBad(i) ? '"BAD"' : '"OK"'))
    if (names !== null) yield* this.texts('states', values.length, (i) => names.textOf(values[i]!))
    this.text(',"unit":"ms"}')
  }

  /** Instants as an array of epoch milliseconds. */
  millis(times: Float64Array): Generator<void> {
    return this.#list(times.length, new MillisWriter(times))
  }

  /** A further field that is an array of texts. */
  texts(name: string, length: number, textOf: (index: number) => string): Generator<void> {
    this.text(`,"${name}":`)
    return this.array(length, textOf)
  }

  /** An array of texts. */
  *array(length: number, textOf: (index: number) => string): Generator<void> {
    let joined = '['
    for (let i = 0; i < length; i++) {
      joined += i === 0 ? textOf(i) : `,${textOf(i)}`
      if (joined.length < JOINED_CHARACTERS) continue
      this.text(joined)
      joined = ''
      if (this.isFull) yield
    }
    this.text(`${joined}]`)
  }

  *#list(length: number, list: MillisWriter | NumberWriter | RowWriter): Generator<void> {
    if (length === 0) return this.text('[]')
    while (list.reached < length) {
      const [start, isFirst] = [this.#at, list.reached === 0]
      this.#at = list.writeList(this.#buffer, start, FULL_BYTES)
      // The comma before the very first entry opens the array instead.
      if (isFirst) this.#buffer.bytes[start] = OPENING_BRACKET
      if (this.isFull) yield
    }
    this.text(']')
  }

  #fits(text: string): boolean {
    const room = this.#buffer.bytes.length - this.#at
    return text.length * 3 <= room || Buffer.byteLength(text) <= room
  }

  /** Ends the chunk that is written. */
  #pass(): void {
    if (this.#at === 0) return
    const chunk = this.#buffer.bytes.subarray(0, this.#at)
    if (this.#at < SMALL_BYTES) this.#full.push(Buffer.from(chunk))
    else {
      this.#full.push(chunk)
      this.#buffer = this.#pool.take()
    }
    this.#at = 0
  }
}

/** Writes points in rows, a comma before each. */
class RowWriter {
  readonly #points: PointColumns
  readonly #stamp: TimestampTemplate
  readonly #numbers: NumberWriter
  readonly #names: StateNames | null
  /** Index of the first point that is not written. */
  reached = 0

  constructor(points: PointColumns, stamp: TimestampTemplate, names: StateNames | null) {
    this.#points = points
    this.#stamp = stamp
    this.#numbers = new NumberWriter(points.values)
    this.#names = names
  }

  /** Goes on until `fullAt` is reached, where room for one more row is left, or there are no more. */
  writeList(buffer: OutputBuffer, start: number, fullAt: number): number {
    const { times, values, statuses } = this.#points
    const { view } = buffer
    const [stamp, numbers, names] = [this.#stamp, this.#numbers, this.#names]
    let at = start
    let i = this.reached
    for (; i < times.length && at < fullAt; i++) {
      const value = values[i]!
      at = stamp.write(view, at, times[i]!)
      at = numbers.write(buffer, at, i)
      const isOk = statuses[i] === STATUS_OK && !Number.isNaN(value)
      const end = names === null ? (isOk ? OK_END : BAD_END) : names.rowEnd(value, isOk)
      at = end.write(view, at)
    }
    this.reached = i
    return at
  }
}

/** Texts of timestamps by zone, with what is before them: all answers of one day share them. */
interface Stamps {
  readonly before: string
  readonly byZone: WeakMap<TimeZone, TimestampTemplate>
}

const POINTS: Stamps = { before: ':{"dataPoint":{"timestamp":"', byZone: new WeakMap() }
const ROWS: Stamps = { before: ',{"timestamp":"', byZone: new WeakMap() }

function stampOf({ before, byZone }: Stamps, zone: TimeZone): TimestampTemplate {
  return byZone.getOrInsertComputed(zone, () => new TimestampTemplate(before, zone, '","value":'))
}

/** A single point as the interface shows it. @param names of its values, for a tag that has some */
export function pointText(
  { time, value, bad }: SinglePoint,
  zone: TimeZone,
  names: StateNames | null = null,
): string {
  const status = bad || Number.isNaN(value) ? 'BAD' : 'OK'
  const name = names === null ? '' : `,"enumString":${names.textOf(value)}`
  return `{"timestamp":"${formatInstant(time, zone)}","value":${numberText(value)},"status":"${status}"${name}}`
}

/** NaN and infinities never appear in JSON; -0 does. */
export function numberText(value: number): string {
  if (Object.is(value, -0)) return '-0'
  return Number.isFinite(value) ? `${value}` : 'null'
}

/** Writes a label in quotes; -1 where a character would have to be escaped or is not ASCII. */
function writePlainLabel(bytes: Buffer, label: string, start: number): number {
  let at = start
  bytes[at++] = QUOTE
  for (let i = 0; i < label.length; i++) {
    const code = label.charCodeAt(i)
    if (code < SPACE || code > TILDE || code === QUOTE || code === BACKSLASH) return -1
    bytes[at++] = code
  }
  bytes[at++] = QUOTE
  return at
}

const OK_POINT_END = new FixedText(',"status":"OK"}}')
const BAD_POINT_END = new FixedText(',"status":"BAD"}}')
const OK_END = new FixedText(',"status":"OK"}')
const BAD_END = new FixedText(',"status":"BAD"}')
const OPENING_BRACKET = 91
const COMMA = 44
const QUOTE = 34
const BACKSLASH = 92
const SPACE = 32
const TILDE = 126
