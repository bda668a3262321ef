import { END_INSTANT } from '../../time/instant.ts'
import { CLOSE_ARRAY, CLOSE_OBJECT, COMMA, type JsonBytes, OPEN_OBJECT } from './json-bytes.ts'
import type { PointSpace } from './point-space.ts'
import { fourBytes } from './words.ts'

/** `{"unit":"ms",`, `{"timestamps":[`, `,"values":[` and `,"unit":"ms"}` in words of four bytes. */
const UNIT_FIRST = fourBytes('{"un')
const UNIT_2 = fourBytes('it":')
const UNIT_3 = fourBytes('"ms"')
const UNIT_LAST = fourBytes(',"un')
const TIMES = fourBytes('"tim')
const TIMES_2 = fourBytes('esta')
const TIMES_3 = fourBytes('mps"')
const TIMES_4 = fourBytes(':[')
const VALUES = fourBytes(',"va')
const VALUES_2 = fourBytes('lues')
const VALUES_3 = fourBytes('":[')

/** No shorter text goes on behind the place where columns begin. */
const LEAST = '{"timestamps":[1000000000000],"values":[1]}}}'.length
const LEAST_OF_VALUES = ',"values":[1]}}}'.length
/** Of a timestamp with the comma behind it. */
const STRIDE = '1000000000000,'.length

/**
 * Fast path: reads the columns of a tag as programs write them, in one pass: `{"timestamps":[...],"values":[...]}`
 * without blanks, perhaps with `"unit":"ms"` in front or behind, timestamps of thirteen digits and no statuses. With
 * many tags of a few points each, a step for each of the words and a yield for each of the columns would take longer
 * than the points.
 * @param first index of the first point
 * @param last  columns that reach it are left
 * @returns the index after the last point, whose times are instants, the place being behind the columns; -1 where they
 *          are anything else, and then the place stays
 */
export function readCanonicalColumns(
  json: JsonBytes,
  space: PointSpace,
  first: number,
  last: number,
): number {
  const { bytes, words } = json
  const { times, values } = space
  const start = json.at
  if (start + LEAST > bytes.length) return -1
  let at = start + 1
  const hasUnit = words.getInt32(start, true) === UNIT_FIRST
  if (hasUnit) {
    if (words.getInt32(at + 3, true) !== UNIT_2 || words.getInt32(at + 7, true) !== UNIT_3) return -1
    if (bytes[at + 11] !== COMMA) return -1
    at += 12
  } else if (bytes[start] !== OPEN_OBJECT) return -1
  if (
    words.getInt32(at, true) !== TIMES ||
    words.getInt32(at + 4, true) !== TIMES_2 ||
    words.getInt32(at + 8, true) !== TIMES_3 ||
    words.getInt16(at + 12, true) !== TIMES_4
  ) {
    return -1
  }
  at += 14
  // Of a column that is too long for sure little should be read in vain.
  const beyond = at + (last - first) * STRIDE - 1
  if (beyond < bytes.length && bytes[beyond] === COMMA) return -1
  const end = json.readStampsAt(at, times, first, last)
  if (end < 0) return -1
  at = readCanonicalValues(json, values, first, end)
  if (at >= 0 && bytes[at] === COMMA && !hasUnit) at = skipUnit(json, at)
  if (at < 0 || bytes[at] !== CLOSE_OBJECT || !areInstants(times, first, end)) {
    json.at = start
    return -1
  }
  json.at = at + 1
  return end
}

/** Reads just so many values, from the place on; gives where they end, or -1. */
function readCanonicalValues(json: JsonBytes, values: Float64Array, first: number, end: number): number {
  const { bytes, words } = json
  let { at } = json
  if (at + LEAST_OF_VALUES > bytes.length) return -1
  if (words.getInt32(at, true) !== VALUES || words.getInt32(at + 4, true) !== VALUES_2) return -1
  if ((words.getInt32(at + 8, true) & 0xffffff) !== VALUES_3) return -1
  at += 11
  for (let index = first; index < end; index++) {
    at = json.readNumberAt(at, values, index)
    if (at < 0 || bytes[at] !== (index === end - 1 ? CLOSE_ARRAY : COMMA)) return -1
    at++
  }
  return at < bytes.length ? at : -1
}

/** Skips the unit of milliseconds; gives where it ends, a byte that is there, or -1. */
function skipUnit({ bytes, words }: JsonBytes, at: number): number {
  if (at + 12 >= bytes.length) return -1
  if (words.getInt32(at, true) !== UNIT_LAST || words.getInt32(at + 4, true) !== UNIT_2) return -1
  return words.getInt32(at + 8, true) === UNIT_3 ? at + 12 : -1
}

/** Timestamps of thirteen digits are never too early. */
function areInstants(times: Float64Array, first: number, end: number): boolean {
  for (let index = first; index < end; index++) if (times[index]! >= END_INSTANT) return false
  return true
}
