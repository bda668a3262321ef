import type { Historian, WriteBatch } from '../../historian/contract.ts'
import type { HistorianView } from '../../historian/registry.ts'
import { type PointColumns, STATUS_BAD, STATUS_OK } from '../../series/columns.ts'
import { instantOfCommonBytes } from '../../time/common-forms.ts'
import { type EpochUnit, numbersToInstants } from '../../time/epoch.ts'
import type { AddressBook } from './address-book.ts'
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  JsonBytes,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from './json-bytes.ts'
import type { PointSpace } from './point-space.ts'
import { readUsualColumns } from './usual-columns.ts'
import { fourBytes, type Word, wordOf } from './words.ts'

/** Points that are read between two looks at the clock. */
const PIECE = 2_000

const POINTS = wordOf('"points"')
const CREATE_TAGS = wordOf('"createTags"')
const TIMESTAMP = wordOf('"timestamp"')
const VALUE = wordOf('"value"')
const STATUS = wordOf('"status"')
const TIMESTAMPS = wordOf('"timestamps"')
const VALUES = wordOf('"values"')
const STATUSES = wordOf('"statuses"')
const UNIT = wordOf('"unit"')
const OK = wordOf('"OK"')
const BAD = wordOf('"BAD"')
const MILLISECONDS = wordOf('"ms"')
const MICROSECONDS = wordOf('"us"')
const TRUE = wordOf('true')
const FALSE = wordOf('false')
const NULL = wordOf('null')
const LOWER_S = 115
const LOWER_T = 116
const LOWER_V = 118

/** `{"timestamp":` and `,"value":` in pieces of four bytes. */
const ROW_HEAD = fourBytes('{"ti')
const ROW_HEAD_2 = fourBytes('mest')
const ROW_HEAD_3 = fourBytes('amp"')
const ROW_VALUE = fourBytes(',"va')
const ROW_VALUE_2 = fourBytes('lue"')
const LEAST_OF_ROW = '{"timestamp":1,"value":1}]}}'.length
const LEAST_OF_VALUE = ',"value":1}]}}'.length

/** What a point or the columns of a tag have so far. */
const HAS_TIME = 1
const HAS_VALUE = 2
const HAS_STATUS = 4
const HAS_UNIT = 8
const NEEDED = HAS_TIME | HAS_VALUE

/** What the timestamps of a tag are. */
const NUMBERS = 1
const INSTANTS = 2

/** A request that is all right as far as its text says. */
export interface PlainPoints {
  /** The one historian that it writes to; the caller may. */
  readonly historian: Historian
  /** As the addresses of the request have it. */
  readonly historianName: string
  readonly batch: WriteBatch
  /** To be called when nobody looks at the points of the batch any more, so that others can have their memory. Repeatable; may be left out. */
  release(): void
}

/**
 * Reads the body of write/points from its bytes into columns, without making an object of anything: what JSON.parse makes of
 * a request takes five times as long, and is thrown away at once. It knows what programs send: points for tags of one
 * historian that may be written to, in either form, timestamps being numbers or absolute times with their zone. Of anything
 * else, right or wrong, it only says that it is something else.
 */
export class PointsBody {
  readonly #json: JsonBytes
  readonly #book: AddressBook
  readonly #space: PointSpace
  readonly #historians: HistorianView
  #request: number
  readonly #generation: number
  #historian: Historian | null = null
  #historianName = ''
  #createTags = false
  /** Addresses by their numbers in the book, and the points up to the end of each. */
  readonly #tags: number[] = []
  readonly #ends: number[] = []
  #lastTag = -1
  #count = 0
  /** Of the tag that is being read. */
  #timeKinds = 0
  #first = 0
  /** Whether the column that is being read is at its end. */
  #columnEnds = false

  /** @param bytes valid UTF-8 */
  constructor(bytes: Uint8Array, book: AddressBook, space: PointSpace, historians: HistorianView) {
    this.#json = new JsonBytes(bytes)
    this.#book = book
    this.#space = space
    this.#historians = historians
    this.#request = book.nextRequest()
    this.#generation = book.generation
  }

  /** Reads on with each step, a few thousand points; returns at the end whether the body is a plain one. */
  *read(): Generator<undefined, boolean> {
    const json = this.#json
    let hasPoints = false
    let hasCreateTags = false
    if (!json.take(OPEN_OBJECT)) return false
    do {
      if (json.peek() !== QUOTE) return false
      if (!hasPoints && json.takeWord(POINTS)) {
        hasPoints = true
        if (!json.take(COLON) || !(yield* this.#readTags())) return false
      } else if (!hasCreateTags && json.takeWord(CREATE_TAGS)) {
        hasCreateTags = true
        if (!json.take(COLON) || !this.#readCreateTags()) return false
      } else return false
    } while (json.take(COMMA))
    if (!json.take(CLOSE_OBJECT)) return false
    json.peek()
    return json.isAtEnd && this.#historian !== null
  }

  /**
   * To be called when other requests may have been read since the last step.
   * @returns false when this one cannot go on
   */
  resume(): boolean {
    const book = this.#book
    if (book.generation !== this.#generation) return false
    if (book.lastRequest === this.#request) return true
    this.#request = book.nextRequest()
    for (const tag of this.#tags) book.stamp(tag, this.#request)
    return true
  }

  /** Points that were read so far. */
  get count(): number {
    return this.#count
  }

  /**
   * What was read, after `read` returned true and before any other is read.
   * @param points  those of the space
   */
  result(points: PointColumns): Omit<PlainPoints, 'release'> {
    const tags = this.#book.tagsOf(this.#tags)
    const offsets = new Uint32Array(tags.length + 1)
    for (let i = 0; i < tags.length; i++) offsets[i + 1] = this.#ends[i]!
    return {
      historian: this.#historian!,
      historianName: this.#historianName,
      batch: { tags, offsets, points, createTags: this.#createTags },
    }
  }

  #readCreateTags(): boolean {
    const json = this.#json
    json.peek()
    this.#createTags = json.takeWord(TRUE)
    return this.#createTags || json.takeWord(FALSE)
  }

  *#readTags(): Generator<undefined, boolean> {
    const json = this.#json
    if (!json.take(OPEN_OBJECT)) return false
    let nextRest = PIECE
    do {
      if (!this.#readAddress() || !json.take(COLON)) return false
      this.#timeKinds = 0
      this.#first = this.#count
      if (json.take(OPEN_ARRAY)) {
        if (!json.take(CLOSE_ARRAY)) {
          while (!this.#readUsualRows()) {
            if (!this.#readRow()) return false
            if (this.#done >= nextRest) {
              nextRest = this.#done + PIECE
              yield
            }
            if (json.take(COMMA)) continue
            if (json.take(CLOSE_ARRAY)) break
            return false
          }
          if (!this.#turnTimes(null)) return false
        }
      } else if (!this.#readUsualColumns() && !(yield* this.#readColumns())) return false
      this.#ends.push(this.#count)
      if (this.#done >= nextRest) {
        nextRest = this.#done + PIECE
        yield
      }
    } while (json.take(COMMA))
    return json.take(CLOSE_OBJECT)
  }

  /** Points and tags so far. */
  get #done(): number {
    return this.#count + this.#ends.length
  }

  #readAddress(): boolean {
    const json = this.#json
    const book = this.#book
    if (!json.take(QUOTE)) return false
    const tag = book.find(json, this.#lastTag)
    this.#lastTag = tag
    // An address that comes twice counts once, with what stands there last: rare enough to be left to JSON.parse.
    if (tag < 0 || book.generation !== this.#generation || !book.stamp(tag, this.#request)) return false
    this.#tags.push(tag)
    const { historian } = book.address(tag)
    return historian === this.#historianName || this.#findHistorian(historian)
  }

  #findHistorian(name: string): boolean {
    if (this.#historian !== null) return false
    const historian = this.#historians.find(name)
    if (historian === null || !historian.capabilities.write) return false
    this.#historian = historian
    this.#historianName = name
    return true
  }

  /**
   * Reads points in the shape that JSON.stringify gives them, `{"timestamp":1,"value":2}` without blanks, as long as there are
   * any and the piece lasts: nearly all are read here.
   * @returns whether that was the end of the array; otherwise a point follows, of whatever shape
   */
  #readUsualRows(): boolean {
    const json = this.#json
    const { bytes, words } = json
    const { times, values, statuses } = this.#space
    const last = Math.min(times.length, this.#count + PIECE)
    let at = json.at
    let index = this.#count
    for (; index < last && at + LEAST_OF_ROW <= bytes.length; index++) {
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
      statuses[index] = STATUS_OK
      at = next + 2
      if (behind === COMMA) continue
      this.#timeKinds |= NUMBERS
      this.#count = index + 1
      json.at = at
      return true
    }
    if (index > this.#count) {
      this.#timeKinds |= NUMBERS
      this.#count = index
      json.at = at
    }
    return false
  }

  #readRow(): boolean {
    const json = this.#json
    const space = this.#space
    const index = this.#count
    if (index === space.capacity) space.grow()
    if (!json.take(OPEN_OBJECT)) return false
    space.statuses[index] = STATUS_OK
    let has = 0
    do {
      if (json.peek() !== QUOTE) return false
      const field = this.#readField(TIMESTAMP, VALUE, STATUS)
      if (field === 0 || field === HAS_UNIT || (has & field) !== 0 || !json.take(COLON)) return false
      has |= field
      if (field === HAS_TIME) {
        if (!this.#readTime(index)) return false
      } else if (field === HAS_STATUS) {
        if (!this.#readStatus(index)) return false
      } else {
        json.peek()
        if (!json.readNumber(space.values, index)) return false
      }
    } while (json.take(COMMA))
    this.#count = index + 1
    return (has & NEEDED) === NEEDED && json.take(CLOSE_OBJECT)
  }

  /** Which of the fields of a point or of columns is at the place, a quote; 0 for another one. */
  #readField(time: Word, value: Word, status: Word): number {
    const json = this.#json
    switch (json.bytes[json.at + 1]) {
      case LOWER_T:
        return json.takeWord(time) ? HAS_TIME : 0
      case LOWER_V:
        return json.takeWord(value) ? HAS_VALUE : 0
      case LOWER_S:
        return json.takeWord(status) ? HAS_STATUS : 0
      default:
        return json.takeWord(UNIT) ? HAS_UNIT : 0
    }
  }

  #readTime(index: number): boolean {
    const json = this.#json
    if (json.peek() !== QUOTE) {
      this.#timeKinds |= NUMBERS
      return json.readNumber(this.#space.times, index)
    }
    json.at++
    const length = json.stringLength()
    const at = length < 0 ? null : instantOfCommonBytes(json.bytes, json.at, json.at + length)
    if (at === null) return false
    this.#timeKinds |= INSTANTS
    this.#space.times[index] = at
    json.at += length + 1
    return true
  }

  #readStatus(index: number): boolean {
    const json = this.#json
    json.peek()
    const isBad = json.takeWord(BAD)
    this.#space.statuses[index] = isBad ? STATUS_BAD : STATUS_OK
    return isBad || json.takeWord(OK) || json.takeWord(NULL)
  }

  /** Makes instants of the timestamps of the tag that was read; false where numbers and texts are mixed, too. */
  #turnTimes(unit: EpochUnit | null): boolean {
    if ((this.#timeKinds & NUMBERS) === 0) return true
    if (this.#timeKinds !== NUMBERS) return false
    return numbersToInstants(this.#space.times, this.#first, this.#count, unit)
  }

  /** Nearly all short columns are read here; false where they are others. */
  #readUsualColumns(): boolean {
    const first = this.#count
    const last = Math.min(this.#space.capacity, first + PIECE)
    const end = readUsualColumns(this.#json, this.#space, first, last)
    if (end < 0) return false
    this.#count = end
    this.#fillStatuses(first)
    return true
  }

  /** Takes a turn after each piece of a long column. */
  *#readColumns(): Generator<undefined, boolean> {
    const json = this.#json
    if (!json.take(OPEN_OBJECT)) return false
    const first = this.#count
    let has = 0
    let unit: EpochUnit | null = null
    let length = -1
    do {
      if (json.peek() !== QUOTE) return false
      const field = this.#readField(TIMESTAMPS, VALUES, STATUSES)
      if (field === 0 || (has & field) !== 0 || !json.take(COLON)) return false
      json.peek()
      if (field >= HAS_STATUS && json.takeWord(NULL)) continue
      has |= field
      if (field === HAS_UNIT) {
        unit = this.#readUnit()
        if (unit === null) return false
        continue
      }
      if (!json.take(OPEN_ARRAY)) return false
      this.#columnEnds = json.take(CLOSE_ARRAY)
      let end = first
      while (!this.#columnEnds) {
        // Not before the first piece: short columns are read without a turn.
        if (end > first) yield
        end = this.#readPiece(field, end)
        if (end < 0) return false
      }
      if (length >= 0 && end - first !== length) return false
      length = end - first
    } while (json.take(COMMA))
    if ((has & NEEDED) !== NEEDED || !json.take(CLOSE_OBJECT)) return false
    this.#count = first + length
    // A function of its own, and not the generator's, whose loops are slow.
    if ((has & HAS_STATUS) === 0) this.#fillStatuses(first)
    return this.#turnTimes(unit)
  }

  #fillStatuses(first: number): void {
    const { statuses } = this.#space
    // A loop, as a call of `fill` costs as much as a hundred points.
    for (let index = first; index < this.#count; index++) statuses[index] = STATUS_OK
  }

  /**
   * Reads on with a column, whose next point is `from`, to its end, or until PIECE points are read.
   * @returns the index after the last one, -1 where it is not plain
   */
  #readPiece(field: number, from: number): number {
    const json = this.#json
    const space = this.#space
    if (from === space.capacity) space.grow()
    const last = Math.min(space.capacity, from + PIECE)
    let index = from
    if (field !== HAS_STATUS) {
      const isTime = field === HAS_TIME
      // As programs write them, without blanks; where one is no number after all, nothing was read.
      const read = json.readNumbers(isTime ? space.times : space.values, from, last, isTime)
      if (read >= 0) {
        if (isTime) this.#timeKinds |= NUMBERS
        index = read
        if (json.bytes[json.at - 1] !== COMMA && !this.#takeCommaOrEnd()) return -1
      }
    }
    while (index < last && !this.#columnEnds) {
      if (field === HAS_VALUE) {
        json.peek()
        if (!json.readNumber(space.values, index)) return -1
      } else if (!(field === HAS_TIME ? this.#readTime(index) : this.#readStatus(index))) return -1
      index++
      if (!this.#takeCommaOrEnd()) return -1
    }
    return index
  }

  /** Takes what follows a point of a column, and notes whether that was its end. */
  #takeCommaOrEnd(): boolean {
    const json = this.#json
    this.#columnEnds = json.take(CLOSE_ARRAY)
    return this.#columnEnds || json.take(COMMA)
  }

  #readUnit(): EpochUnit | null {
    const json = this.#json
    if (json.takeWord(MILLISECONDS)) return 'ms'
    if (json.takeWord(MICROSECONDS)) return 'us'
    return json.take(QUOTE) && json.take(LOWER_S) && json.take(QUOTE) ? 's' : null
  }
}
