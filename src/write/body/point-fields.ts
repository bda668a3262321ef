import { STATUS_BAD, STATUS_OK } from '../../series/columns.ts'
import type { EpochUnit } from '../../time/epoch.ts'
import { type JsonBytes, QUOTE } from './json-bytes.ts'
import { type Word, wordOf } from './words.ts'

const TIMESTAMP = wordOf('"timestamp"')
const VALUE = wordOf('"value"')
const STATUS = wordOf('"status"')
const TIMESTAMPS = wordOf('"timestamps"')
const VALUES = wordOf('"values"')
const STATUSES = wordOf('"statuses"')
const UNIT = wordOf('"unit"')
const OK = wordOf('"OK"')
const BAD = wordOf('"BAD"')
const NULL = wordOf('null')
const MILLISECONDS = wordOf('"ms"')
const MICROSECONDS = wordOf('"us"')
const LOWER_S = 115
const LOWER_T = 116
const LOWER_V = 118

/** Fields of a point, or of the columns of a tag. */
export const TIME_FIELD = 1
export const VALUE_FIELD = 2
export const STATUS_FIELD = 4
export const UNIT_FIELD = 8
export const NEEDED_FIELDS = TIME_FIELD | VALUE_FIELD

/** Takes the name of a field of a point, the place being at its quote; 0 for another one. */
export function takePointField(json: JsonBytes): number {
  return takeField(json, TIMESTAMP, VALUE, STATUS)
}

/** The same for columns, which have a unit, too. */
export function takeColumnField(json: JsonBytes): number {
  const field = takeField(json, TIMESTAMPS, VALUES, STATUSES)
  return field === 0 && json.takeWord(UNIT) ? UNIT_FIELD : field
}

function takeField(json: JsonBytes, time: Word, value: Word, status: Word): number {
  switch (json.bytes[json.at + 1]) {
    case LOWER_T:
      return json.takeWord(time) ? TIME_FIELD : 0
    case LOWER_V:
      return json.takeWord(value) ? VALUE_FIELD : 0
    case LOWER_S:
      return json.takeWord(status) ? STATUS_FIELD : 0
    default:
      return 0
  }
}

/** Reads a status, `null` being OK; -1 for anything else. */
export function readStatus(json: JsonBytes): number {
  json.peek()
  if (json.takeWord(BAD)) return STATUS_BAD
  return json.takeWord(OK) || takeNull(json) ? STATUS_OK : -1
}

export function takeNull(json: JsonBytes): boolean {
  return json.takeWord(NULL)
}

/** Reads the unit of timestamps; `null` for anything else. */
export function readUnit(json: JsonBytes): EpochUnit | null {
  if (json.takeWord(MILLISECONDS)) return 'ms'
  if (json.takeWord(MICROSECONDS)) return 'us'
  // Byte by byte, as it is too short for a word: blanks inside of it are another unit.
  const { bytes, at } = json
  if (at + 3 > bytes.length || bytes[at] !== QUOTE || bytes[at + 1] !== LOWER_S || bytes[at + 2] !== QUOTE)
    return null
  json.at = at + 3
  return 's'
}
