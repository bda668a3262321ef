import { STATUS_OK } from '../../series/columns.ts'
import type { InstantScan } from '../../time/instant-scan.ts'
import { CLOSE_ARRAY, CLOSE_OBJECT, COLON, COMMA, type JsonBytes, QUOTE } from './json-bytes.ts'
import type { PointSpace } from './point-space.ts'
import { fourBytes } from './words.ts'

/** `{"timestamp":` and `,"value":` in words of four bytes. */
const ROW_HEAD = fourBytes('{"ti')
const ROW_HEAD_2 = fourBytes('mest')
const ROW_HEAD_3 = fourBytes('amp"')
const ROW_VALUE = fourBytes(',"va')
const ROW_VALUE_2 = fourBytes('lue"')
/** Where the timestamp of a row begins. */
const TIME = 13
const LEAST_OF_ROW = '{"timestamp":1,"value":1}]}}'.length
const LEAST_OF_VALUE = ',"value":1}]}}'.length

/**
 * Fast path: reads points in the shape that JSON.stringify gives them, `{"timestamp":1,"value":2}` without blanks, as
 * long as there are any. Nearly all points in rows whose timestamps are numbers are read here.
 * @param first index of the first point
 * @param last  points from there on are left
 * @returns the index after the last point that was read, the place being behind the comma or the bracket that follows
 *          it; `first` where there was none, and then the place stays
 */
export function readCanonicalRows(json: JsonBytes, space: PointSpace, first: number, last: number): number {
  const { bytes, words } = json
  const { times } = space
  let at = json.at
  let index = first
  while (index < last && isRowAt(bytes, words, at)) {
    const stamp = json.readStampAt(at + TIME)
    let next = at + TIME + 13
    // A fourteenth digit, or a point: the general way.
    if (stamp >= 0 && bytes[next] === COMMA) times[index] = stamp
    else next = json.readNumberAt(at + TIME, times, index)
    if (next >= 0) next = readValueAt(json, next, space, index)
    if (next < 0) break
    index++
    at = next
    if (bytes[at - 1] === CLOSE_ARRAY) break
  }
  json.at = at
  return index
}

/** The same for timestamps that are texts of the form that InstantScan reads. */
export function readCanonicalInstantRows(
  json: JsonBytes,
  instants: InstantScan,
  space: PointSpace,
  first: number,
  last: number,
): number {
  const { bytes, words } = json
  const { times } = space
  let at = json.at
  let index = first
  while (index < last && isRowAt(bytes, words, at) && bytes[at + TIME] === QUOTE) {
    let next = instants.readAt(at + TIME + 1, times, index)
    if (next < 0 || bytes[next] !== QUOTE) break
    next = readValueAt(json, next + 1, space, index)
    if (next < 0) break
    index++
    at = next
    if (bytes[at - 1] === CLOSE_ARRAY) break
  }
  json.at = at
  return index
}

function isRowAt(bytes: Uint8Array, words: DataView, at: number): boolean {
  return (
    at + LEAST_OF_ROW <= bytes.length &&
    words.getInt32(at, true) === ROW_HEAD &&
    words.getInt32(at + 4, true) === ROW_HEAD_2 &&
    words.getInt32(at + 8, true) === ROW_HEAD_3 &&
    bytes[at + 12] === COLON
  )
}

/**
 * Reads the value of a row from the comma before it on, and the end of the row.
 * @returns the place behind the comma or the bracket that follows the row; -1 for anything else
 */
function readValueAt(json: JsonBytes, at: number, { values, statuses }: PointSpace, index: number): number {
  const { bytes, words } = json
  if (at + LEAST_OF_VALUE > bytes.length) return -1
  if (words.getInt32(at, true) !== ROW_VALUE || words.getInt32(at + 4, true) !== ROW_VALUE_2) return -1
  if (bytes[at + 8] !== COLON) return -1
  const end = json.readNumberAt(at + 9, values, index)
  if (end < 0 || bytes[end] !== CLOSE_OBJECT) return -1
  const behind = bytes[end + 1]
  if (behind !== COMMA && behind !== CLOSE_ARRAY) return -1
  statuses[index] = STATUS_OK
  return end + 2
}
