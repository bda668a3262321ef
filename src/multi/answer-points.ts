import type { SinglePoint } from '../calc/series.ts'
import { AGGREGATE_NAMES, type AggregateColumns } from '../series/aggregate-names.ts'
import { type PointColumns, STATUS_OK } from '../series/columns.ts'
import { createInstantFormatter, formatInstant } from '../time/format.ts'
import type { TimeZone } from '../time/zone.ts'
import type { Piece } from './answer.ts'
import {
  FixedText,
  LIST_SLACK,
  LONGEST_NUMBER,
  MillisWriter,
  NumberWriter,
  SLACK,
  TimestampTemplate,
} from './json-bytes.ts'
import type { Sheet, Sheets } from './sheets.ts'

/** Points are written into buffers of this size, each of which goes out when it is full. */
const PIECE_BYTES = 131_072
/** Fewer points than this are written as text, which joins with that of the labels around them. */
const FEW_POINTS = 32

/** A single point as the interface shows it. */
export function pointText({ time, value, bad }: SinglePoint, zone: TimeZone): string {
  return `{"timestamp":"${formatInstant(time, zone)}","value":${numberText(value)},"status":"${bad || Number.isNaN(value) ? 'BAD' : 'OK'}"}`
}

/** Points as an array of objects. */
export function* rowPieces(
  { times, values, statuses }: PointColumns,
  zone: TimeZone,
  sheets: Sheets,
): Generator<Piece> {
  if (times.length < FEW_POINTS) {
    const format = createInstantFormatter(zone)
    const rows = Array.from(times, (time, i) => {
      const value = values[i]!
      const status = statuses[i] === STATUS_OK && !Number.isNaN(value) ? 'OK' : 'BAD'
      return `{"timestamp":"${format(time)}","value":${numberText(value)},"status":"${status}"}`
    })
    yield `[${rows.join(',')}]`
    return
  }
  const rows = new RowWriter({ times, values, statuses }, zone)
  for (let i = 0; i < times.length; ) {
    const sheet = sheets.take(rows.lengthFor(times.length - i))
    const start = i
    let at = 0
    // A loop of its own, and not the generator's: V8 keeps what a generator uses in memory and not in registers.
    ;[i, at] = rows.write(sheet, i)
    // The comma before the very first row opens the array instead.
    if (start === 0) sheet.bytes[0] = OPENING_BRACKET
    if (i === times.length) sheet.bytes[at++] = CLOSING_BRACKET
    yield sheet.bytes.subarray(0, at)
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

  /** Bytes of a sheet for some more rows, or for as many of them as go on one. */
  lengthFor(rows: number): number {
    const length = Math.min(PIECE_BYTES, rows * this.#longestRow)
    return length + this.#longestRow + SLACK
  }

  /** Fills a sheet with rows from an index on. Answers the index of the next one, and how much is written. */
  write(sheet: Sheet, index: number): [index: number, at: number] {
    const { times, values, statuses } = this.#points
    const { view, bytes } = sheet
    const fullAt = bytes.length - this.#longestRow - SLACK
    const timestamp = this.#timestamp
    const numbers = this.#numbers
    let at = 0
    let i = index
    for (; i < times.length && at < fullAt; i++) {
      const value = values[i]!
      at = timestamp.write(view, at, times[i]!)
      at = numbers.write(sheet, at, i)
      at = (statuses[i] === STATUS_OK && !Number.isNaN(value) ? OK_END : BAD_END).write(view, at)
    }
    return [i, at]
  }
}

/** Points as columns: epoch milliseconds, values, and statuses unless all are OK. */
export function* columnPieces({ times, values, statuses }: PointColumns, sheets: Sheets): Generator<Piece> {
  yield '{"timestamps":['
  yield* listPieces(times.length, new MillisWriter(times), sheets)
  yield '],"values":['
  yield* listPieces(values.length, new NumberWriter(values), sheets)
  yield ']'
  const isBad = (i: number) => statuses[i] !== STATUS_OK || Number.isNaN(values[i]!)
  let anyBad = false
  for (let i = 0; i < values.length && !anyBad; i++) anyBad = isBad(i)
  if (anyBad) yield `,"statuses":[${Array.from(values, (_, i) => (isBad(i) ? '"BAD"' : '"OK"')).join(',')}]`
  yield ',"unit":"ms"}'
}

function* listPieces(length: number, list: MillisWriter | NumberWriter, sheets: Sheets): Generator<Piece> {
  while (list.reached < length) {
    const isFirst = list.reached === 0
    const fullAt = Math.min(PIECE_BYTES, (length - list.reached) * (LONGEST_NUMBER + 1))
    const sheet = sheets.take(fullAt + LIST_SLACK)
    const at = list.writeList(sheet, 0, fullAt)
    yield sheet.bytes.subarray(isFirst ? 1 : 0, at)
  }
}

/** An object for each window, with every aggregate: null where it was not asked for or cannot be computed. */
export function* aggregatePieces(
  edges: Float64Array,
  columns: AggregateColumns,
  zone: TimeZone,
): Generator<string> {
  const format = createInstantFormatter(zone)
  yield '['
  for (let i = 0; i + 1 < edges.length; i++) {
    let text = `${i === 0 ? '' : ','}{"from":"${format(edges[i]!)}","to":"${format(edges[i + 1]!)}"`
    for (const name of AGGREGATE_NAMES) {
      const column = columns[name]
      text += `,"${name}":${column === undefined ? 'null' : numberText(column[i]!)}`
    }
    yield `${text}}`
  }
  yield ']'
}

/** NaN and infinities never appear in JSON; -0 does. */
function numberText(value: number): string {
  if (Object.is(value, -0)) return '-0'
  return Number.isFinite(value) ? `${value}` : 'null'
}

const OK_END = new FixedText(',"status":"OK"}')
const BAD_END = new FixedText(',"status":"BAD"}')
const OPENING_BRACKET = 91
const CLOSING_BRACKET = 93
