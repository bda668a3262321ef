import type { SinglePoint } from '../calc/graph/point-source.ts'
import { DayText } from '../time/format.ts'
import type { TimeZone } from '../time/zone.ts'
import { pointText } from './answer-points.ts'
import { makeOutputBuffer } from './buffer-pool.ts'
import { FixedText, TimestampTemplate, writeShortNumber } from './json-bytes.ts'

/** The buffer is passed on as a chunk at about this many bytes. */
const CHUNK_BYTES = 65_536
/** A label of up to so many characters, with its point, fits behind the last byte of a chunk. */
const LONGEST_LABEL = 256
const ROOM = 4_096

/** Node writes texts without memory of their own up to three times this length. */
const LONGEST_TEXT = 5_000

/** One buffer for all answers: a writer empties it before it yields to the event loop. */
const BUFFER = makeOutputBuffer(CHUNK_BYTES + ROOM)

/**
 * Buffered writer of an answer: texts, and labels with one point each, which are written as bytes. A text for each of
 * these labels, joined and then encoded, takes three times as long. Must be emptied before the caller yields to the
 * event loop, since all writers share one buffer.
 */
export class AnswerBuffer {
  #at = 0
  #isAscii = true

  get isEmpty(): boolean {
    return this.#at === 0
  }

  /** Whether a chunk is worth sending. */
  get isFull(): boolean {
    return this.#at >= CHUNK_BYTES
  }

  /** A copy of what was written since the last `take`; empties the buffer. */
  take(): Buffer {
    const chunk = Buffer.allocUnsafe(this.#at)
    BUFFER.bytes.copy(chunk, 0, 0, this.#at)
    this.#at = 0
    return chunk
  }

  /**
   * As `take`, of what was written since `open`: as a text where it is short and of ASCII alone, since a socket takes
   * that together with the head of an answer.
   */
  takeShort(): string | Buffer {
    if (!this.#isAscii || this.#at > LONGEST_TEXT) return this.take()
    const text = BUFFER.bytes.toString('latin1', 0, this.#at)
    this.#at = 0
    return text
  }

  /** Discards what is written. */
  clear(): void {
    this.#at = 0
  }

  /** Writes the beginning of an answer into an empty buffer. */
  open(): void {
    this.#at = OPENING.write(BUFFER.view, 0)
    this.#isAscii = true
  }

  /** Writes the end of an answer without errors into a buffer that is not much more than full. */
  close(now: string): void {
    const at = CLOSING.write(BUFFER.view, this.#at)
    this.#at = CLOSED.write(BUFFER.view, at + BUFFER.bytes.write(now, at, 'latin1'))
  }

  /** False, and nothing is written, when it does not fit. */
  text(text: string): boolean {
    const room = BUFFER.bytes.length - this.#at
    if (text.length * 3 > room && Buffer.byteLength(text) > room) return false
    this.#at += BUFFER.bytes.write(text, this.#at)
    return true
  }

  /**
   * Writes `"label":{"dataPoint":...}` into a buffer that is not full.
   * @param comma whether one comes before it
   * @returns     false, and nothing is written, for a label that is too long
   */
  point(comma: boolean, label: string, point: SinglePoint, zone: TimeZone): boolean {
    if (label.length > LONGEST_LABEL) return false
    const { view } = BUFFER
    if (comma) BUFFER.bytes[this.#at++] = COMMA
    const plain = writePlainLabel(label, this.#at)
    const at = plain < 0 ? this.#at + BUFFER.bytes.write(JSON.stringify(label), this.#at) : plain
    if (plain < 0) this.#isAscii = false
    const stamp = stampFor(zone)
    if (point.time >= stamp.day.start && point.time < stamp.day.end) {
      const valueAt = stamp.template.write(view, at, point.time)
      const end = writeShortNumber(view, valueAt, point.value)
      if (end >= 0) {
        this.#at = (point.bad ? BAD_END : OK_END).write(view, end)
        return true
      }
    }
    this.#at = at + BUFFER.bytes.write(`:{"dataPoint":${pointText(point, zone)}}`, at, 'latin1')
    return true
  }

  /** Says that points near this instant come next. */
  near(time: number, zone: TimeZone): void {
    const { day } = stampFor(zone)
    if (time < day.start || time >= day.end) day.enter(time)
  }
}

/** Writes a label in quotes; -1 where a character would have to be escaped or is not ASCII. */
function writePlainLabel(label: string, start: number): number {
  const { bytes } = BUFFER
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

/**
 * Cached timestamp template of one day. Points of other days are written as texts, since each change of the day costs
 * more than a text.
 */
interface Stamp {
  readonly day: DayText
  readonly template: TimestampTemplate
}

const stamps = new WeakMap<TimeZone, Stamp>()
let lastZone: TimeZone | null = null
let lastStamp: Stamp | null = null

function stampFor(zone: TimeZone): Stamp {
  if (zone === lastZone) return lastStamp!
  const stamp = stamps.getOrInsertComputed(zone, () => ({
    day: new DayText(zone),
    template: new TimestampTemplate(':{"dataPoint":{"timestamp":"', zone, '","value":'),
  }))
  lastZone = zone
  lastStamp = stamp
  return stamp
}

const OPENING = new FixedText('{"results":{')
const CLOSING = new FixedText('},"errors":{},"now":"')
const CLOSED = new FixedText('"}')
const OK_END = new FixedText(',"status":"OK"}}')
const BAD_END = new FixedText(',"status":"BAD"}}')
const COMMA = 44
const QUOTE = 34
const BACKSLASH = 92
const SPACE = 32
const TILDE = 126
