import type { SinglePoint } from '../calc/series.ts'
import { AGGREGATE_NAMES, type AggregateColumns } from '../series/aggregate-names.ts'
import { type PointColumns, STATUS_OK } from '../series/columns.ts'
import { createInstantFormatter, formatInstant } from '../time/format.ts'
import type { TimeZone } from '../time/zone.ts'
import type { Piece } from './answer.ts'
import { LONGEST_NUMBER, TimestampTemplate, writeMillis, writeNumber } from './json-bytes.ts'

/** Points are written into buffers of this size, each of which goes out when it is full. */
const PIECE_BYTES = 65_536
/** Fewer points than this are written as text, which joins with that of the labels around them. */
const FEW_POINTS = 32

/** A single point as the interface shows it. */
export function pointText({ time, value, bad }: SinglePoint, zone: TimeZone): string {
  return `{"timestamp":"${formatInstant(time, zone)}","value":${numberText(value)},"status":"${bad || Number.isNaN(value) ? 'BAD' : 'OK'}"}`
}

/** Points as an array of objects. */
export function* rowPieces({ times, values, statuses }: PointColumns, zone: TimeZone): Generator<Piece> {
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
  const timestamp = new TimestampTemplate(',{"timestamp":"', zone, '","value":')
  const fullAt = PIECE_BYTES - (timestamp.longest + LONGEST_NUMBER + BAD_END.length)
  let bytes = Buffer.allocUnsafe(PIECE_BYTES)
  let at = 0
  for (let i = 0; i < times.length; i++) {
    const value = values[i]!
    const rowEnd = statuses[i] === STATUS_OK && !Number.isNaN(value) ? OK_END : BAD_END
    at = timestamp.write(bytes, at, times[i]!)
    at = writeNumber(bytes, at, value)
    bytes.set(rowEnd, at)
    at += rowEnd.length
    // The comma before the very first row opens the array instead.
    if (i === 0) bytes[0] = OPENING_BRACKET
    if (at > fullAt) {
      yield bytes.subarray(0, at)
      bytes = Buffer.allocUnsafe(PIECE_BYTES)
      at = 0
    }
  }
  bytes[at++] = CLOSING_BRACKET
  yield bytes.subarray(0, at)
}

/** Points as columns: epoch milliseconds, values, and statuses unless all are OK. */
export function* columnPieces({ times, values, statuses }: PointColumns): Generator<Piece> {
  yield '{"timestamps":['
  yield* listPieces(times, writeMillis)
  yield '],"values":['
  yield* listPieces(values, writeNumber)
  yield ']'
  const isBad = (i: number) => statuses[i] !== STATUS_OK || Number.isNaN(values[i]!)
  let anyBad = false
  for (let i = 0; i < values.length && !anyBad; i++) anyBad = isBad(i)
  if (anyBad) yield `,"statuses":[${Array.from(values, (_, i) => (isBad(i) ? '"BAD"' : '"OK"')).join(',')}]`
  yield ',"unit":"ms"}'
}

function* listPieces(
  numbers: Float64Array,
  write: (bytes: Uint8Array, at: number, number: number) => number,
): Generator<Piece> {
  const fullAt = PIECE_BYTES - LONGEST_NUMBER - 1
  let bytes = Buffer.allocUnsafe(PIECE_BYTES)
  let at = 0
  for (let i = 0; i < numbers.length; i++) {
    if (i > 0) bytes[at++] = COMMA
    at = write(bytes, at, numbers[i]!)
    if (at > fullAt) {
      yield bytes.subarray(0, at)
      bytes = Buffer.allocUnsafe(PIECE_BYTES)
      at = 0
    }
  }
  yield bytes.subarray(0, at)
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

/** NaN and infinities never appear in JSON. */
function numberText(value: number): string {
  return Number.isFinite(value) ? `${value}` : 'null'
}

const OK_END = Buffer.from(',"status":"OK"}')
const BAD_END = Buffer.from(',"status":"BAD"}')
const COMMA = 44
const OPENING_BRACKET = 91
const CLOSING_BRACKET = 93
