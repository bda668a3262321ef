import type { SinglePoint } from '../calc/series.ts'
import { AGGREGATE_NAMES, type AggregateColumns } from '../series/aggregate-names.ts'
import { type PointColumns, STATUS_OK } from '../series/columns.ts'
import { createInstantFormatter, formatInstant, MinuteText } from '../time/format.ts'
import type { TimeZone } from '../time/zone.ts'
import type { Piece } from './answer.ts'
import {
  LONGEST_INSTANT,
  LONGEST_NUMBER,
  writeBytes,
  writeInstant,
  writeMillis,
  writeNumber,
} from './json-bytes.ts'

/** Points written between two pieces: about 75 KB as rows. */
const POINTS_PER_PIECE = 1024
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
  const minute = new MinuteText(zone)
  for (let start = 0; start < times.length; start += POINTS_PER_PIECE) {
    const end = Math.min(start + POINTS_PER_PIECE, times.length)
    const bytes = new Uint8Array((end - start) * LONGEST_ROW)
    let at = 0
    for (let i = start; i < end; i++) {
      const value = values[i]!
      at = writeBytes(bytes, at, i === 0 ? FIRST_TIMESTAMP : NEXT_TIMESTAMP)
      at = writeInstant(bytes, at, times[i]!, minute)
      at = writeBytes(bytes, at, VALUE)
      at = writeNumber(bytes, at, value)
      at = writeBytes(bytes, at, statuses[i] === STATUS_OK && !Number.isNaN(value) ? OK_END : BAD_END)
    }
    yield bytes.subarray(0, at)
  }
  yield ']'
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
  for (let start = 0; start < numbers.length; start += POINTS_PER_PIECE) {
    const end = Math.min(start + POINTS_PER_PIECE, numbers.length)
    const bytes = new Uint8Array((end - start) * (LONGEST_NUMBER + 1))
    let at = 0
    for (let i = start; i < end; i++) {
      if (i > 0) bytes[at++] = COMMA
      at = write(bytes, at, numbers[i]!)
    }
    yield bytes.subarray(0, at)
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

/** NaN and infinities never appear in JSON. */
function numberText(value: number): string {
  return Number.isFinite(value) ? `${value}` : 'null'
}

const encode = (text: string) => new TextEncoder().encode(text)
const FIRST_TIMESTAMP = encode('[{"timestamp":"')
const NEXT_TIMESTAMP = encode(',{"timestamp":"')
const VALUE = encode('","value":')
const OK_END = encode(',"status":"OK"}')
const BAD_END = encode(',"status":"BAD"}')
const LONGEST_ROW = NEXT_TIMESTAMP.length + LONGEST_INSTANT + VALUE.length + LONGEST_NUMBER + BAD_END.length
const COMMA = 44
