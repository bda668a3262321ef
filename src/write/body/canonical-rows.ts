import { STATUS_OK } from '../../series/columns.ts'
import { CLOSE_ARRAY, CLOSE_OBJECT, COLON, COMMA, type JsonBytes } from './json-bytes.ts'
import type { PointSpace } from './point-space.ts'
import { fourBytes } from './words.ts'

/** `{"timestamp":` and `,"value":` in words of four bytes. */
const ROW_HEAD = fourBytes('{"ti')
const ROW_HEAD_2 = fourBytes('mest')
const ROW_HEAD_3 = fourBytes('amp"')
const ROW_VALUE = fourBytes(',"va')
const ROW_VALUE_2 = fourBytes('lue"')
const LEAST_OF_ROW = '{"timestamp":1,"value":1}]}}'.length
const LEAST_OF_VALUE = ',"value":1}]}}'.length

/**
 * Fast path: reads points in the shape that JSON.stringify gives them, `{"timestamp":1,"value":2}` without blanks, as
 * long as there are any. Nearly all points in rows are read here.
 * @param first index of the first point
 * @param last  points from there on are left
 * @returns the index after the last point that was read, the place being behind the comma or the bracket that follows
 *          it; `first` where there was none, and then the place stays
 */
export function readCanonicalRows(json: JsonBytes, space: PointSpace, first: number, last: number): number {
  const { bytes, words } = json
  const { times, values, statuses } = space
  let at = json.at
  let index = first
  while (index < last && at + LEAST_OF_ROW <= bytes.length) {
    if (
      words.getInt32(at, true) !== ROW_HEAD ||
      words.getInt32(at + 4, true) !== ROW_HEAD_2 ||
      words.getInt32(at + 8, true) !== ROW_HEAD_3 ||
      bytes[at + 12] !== COLON
    ) {
      break
    }
    const stamp = json.readStampAt(at + 13)
    let next = at + 26
    // A fourteenth digit, or a point: the general way.
    if (stamp >= 0 && bytes[next] === COMMA) times[index] = stamp
    else next = json.readNumberAt(at + 13, times, index)
    if (next < 0 || next + LEAST_OF_VALUE > bytes.length) break
    if (words.getInt32(next, true) !== ROW_VALUE || words.getInt32(next + 4, true) !== ROW_VALUE_2) break
    if (bytes[next + 8] !== COLON) break
    next = json.readNumberAt(next + 9, values, index)
    if (next < 0 || bytes[next] !== CLOSE_OBJECT) break
    const behind = bytes[next + 1]
    if (behind !== COMMA && behind !== CLOSE_ARRAY) break
    statuses[index++] = STATUS_OK
    at = next + 2
    if (behind === CLOSE_ARRAY) break
  }
  json.at = at
  return index
}
