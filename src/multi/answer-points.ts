import type { SinglePoint } from '../calc/graph/point-source.ts'
import { type PointColumns, STATUS_OK } from '../series/columns.ts'
import { createInstantFormatter, formatInstant } from '../time/format.ts'
import type { TimeZone } from '../time/zone.ts'
import type { BufferPool, OutputBuffer } from './buffer-pool.ts'
import {
  FixedText,
  LIST_SLACK,
  LONGEST_NUMBER,
  MillisWriter,
  NumberWriter,
  SLACK,
  TimestampTemplate,
} from './json-bytes.ts'

/** A part of an answer: text that is still to be joined with the parts around it, or bytes that go out as they are. */
export type Chunk = string | Uint8Array

/** Points are written into buffers of this size, each of which goes out when it is full. */
const CHUNK_BYTES = 131_072
/** Fewer points than this are written as text, which joins with that of the labels around them. */
const FEW_POINTS = 32

/** A single point as the interface shows it. */
export function pointText({ time, value, bad }: SinglePoint, zone: TimeZone): string {
  return `{"timestamp":"${formatInstant(time, zone)}","value":${numberText(value)},"status":"${bad || Number.isNaN(value) ? 'BAD' : 'OK'}"}`
}

/** The text of each of some points, by its index. */
export function pointTexts(
  { times, values, statuses }: PointColumns,
  zone: TimeZone,
): (index: number) => string {
  const format = createInstantFormatter(zone)
  return (i) => {
    const value = values[i]!
    const status = statuses[i] === STATUS_OK && !Number.isNaN(value) ? 'OK' : 'BAD'
    return `{"timestamp":"${format(times[i]!)}","value":${numberText(value)},"status":"${status}"}`
  }
}

/** Points as an array of objects. */
export function* rowChunks(
  { times, values, statuses }: PointColumns,
  zone: TimeZone,
  pool: BufferPool,
): Generator<Chunk> {
  if (times.length < FEW_POINTS) {
    const textAt = pointTexts({ times, values, statuses }, zone)
    yield `[${Array.from(times, (_, i) => textAt(i)).join(',')}]`
    return
  }
  const rows = new RowWriter({ times, values, statuses }, zone)
  for (let i = 0; i < times.length; ) {
    const buffer = pool.take(rows.lengthFor(times.length - i))
    const start = i
    let at = 0
    // A loop of its own, and not the generator's: V8 keeps what a generator uses in memory and not in registers.
    ;[i, at] = rows.write(buffer, i)
    // The comma before the very first row opens the array instead.
    if (start === 0) buffer.bytes[0] = OPENING_BRACKET
    if (i === times.length) buffer.bytes[at++] = CLOSING_BRACKET
    yield buffer.bytes.subarray(0, at)
  }
}

class RowWriter {
  readonly #points: PointColumns
  readonly #timestamp: TimestampTemplate
  readonly #numbers: NumberWriter
  readonly #longestRow: number

  constructor(points: PointColumns, zone: TimeZone) {
    this.#points = points
    this.#timestamp = new TimestampTemplate(',{"timestamp":"', zone, '","value":')
    this.#numbers = new NumberWriter(points.values)
    this.#longestRow = this.#timestamp.longest + LONGEST_NUMBER + BAD_END.length
  }

  /** Bytes of a buffer for some more rows, or for as many of them as fit into one. */
  lengthFor(rows: number): number {
    const length = Math.min(CHUNK_BYTES, rows * this.#longestRow)
    return length + this.#longestRow + SLACK
  }

  /** Fills a buffer with rows from an index on. Returns the index of the next row and the bytes written. */
  write(buffer: OutputBuffer, index: number): [index: number, at: number] {
    const { times, values, statuses } = this.#points
    const { view, bytes } = buffer
    const fullAt = bytes.length - this.#longestRow - SLACK
    const timestamp = this.#timestamp
    const numbers = this.#numbers
    let at = 0
    let i = index
    for (; i < times.length && at < fullAt; i++) {
      const value = values[i]!
      at = timestamp.write(view, at, times[i]!)
      at = numbers.write(buffer, at, i)
      at = (statuses[i] === STATUS_OK && !Number.isNaN(value) ? OK_END : BAD_END).write(view, at)
    }
    return [i, at]
  }
}

/**
 * Points as columns: epoch milliseconds, values, and statuses unless all are OK.
 * @param states the column of the names of values, for points that have it
 */
export function* columnChunks(
  { times, values, statuses }: PointColumns,
  pool: BufferPool,
  states: Iterable<Chunk> = [],
): Generator<Chunk> {
  yield '{"timestamps":['
  yield* listChunks(times.length, new MillisWriter(times), pool)
  yield '],"values":['
  yield* listChunks(values.length, new NumberWriter(values), pool)
  yield ']'
  const isBad = (i: number) => statuses[i] !== STATUS_OK || Number.isNaN(values[i]!)
  let anyBad = false
  for (let i = 0; i < values.length && !anyBad; i++) anyBad = isBad(i)
  if (anyBad) yield `,"statuses":[${Array.from(values, (_, i) => (isBad(i) ? '"BAD"' : '"OK"')).join(',')}]`
  yield* states
  yield ',"unit":"ms"}'
}

export function* listChunks(
  length: number,
  list: MillisWriter | NumberWriter,
  pool: BufferPool,
): Generator<Chunk> {
  while (list.reached < length) {
    const isFirst = list.reached === 0
    const fullAt = Math.min(CHUNK_BYTES, (length - list.reached) * (LONGEST_NUMBER + 1))
    const buffer = pool.take(fullAt + LIST_SLACK)
    const at = list.writeList(buffer, 0, fullAt)
    yield buffer.bytes.subarray(isFirst ? 1 : 0, at)
  }
}

/** NaN and infinities never appear in JSON; -0 does. */
export function numberText(value: number): string {
  if (Object.is(value, -0)) return '-0'
  return Number.isFinite(value) ? `${value}` : 'null'
}

const OK_END = new FixedText(',"status":"OK"}')
const BAD_END = new FixedText(',"status":"BAD"}')
const OPENING_BRACKET = 91
const CLOSING_BRACKET = 93
