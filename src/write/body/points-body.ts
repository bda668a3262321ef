import type { Historian, WriteBatch } from '../../historian/contract.ts'
import type { HistorianView } from '../../historian/registry.ts'
import { type PointColumns, STATUS_OK } from '../../series/columns.ts'
import { readCommonInstant } from '../../time/common-forms.ts'
import { type EpochUnit, numbersToInstants } from '../../time/epoch.ts'
import { InstantScan } from '../../time/instant-scan.ts'
import type { AddressBook } from './address-book.ts'
import { readCanonicalColumns } from './canonical-columns.ts'
import { readCanonicalInstantRows, readCanonicalRows } from './canonical-rows.ts'
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
import {
  NEEDED_FIELDS,
  readStatus,
  readUnit,
  STATUS_FIELD,
  TIME_FIELD,
  takeColumnField,
  takeNull,
  takePointField,
  UNIT_FIELD,
  VALUE_FIELD,
} from './point-fields.ts'
import type { PointSpace } from './point-space.ts'
import { wordOf } from './words.ts'

/** Points that are read between two checks of the time slice. */
const POINTS_PER_SLICE = 2_000

const POINTS = wordOf('"points"')
const CREATE_TAGS = wordOf('"createTags"')
const TRUE = wordOf('true')
const FALSE = wordOf('false')

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
  /**
   * Gives the memory of the batch's points back when they are not read any more.
   * Repeatable; may be left out.
   */
  release(): void
}

/**
 * Reads the body of write/points from its bytes into columns, without making an object of anything: what JSON.parse
 * makes of a request takes five times as long, and is thrown away at once. It knows the canonical form that programs
 * send: points for tags of one historian that may be written to, in either form, timestamps being numbers or absolute
 * times with their zone. Of any other body, valid or invalid, it only says that it is another.
 */
export class PointsBody {
  readonly #json: JsonBytes
  readonly #instants: InstantScan
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
  readonly #mostTags: number
  readonly #ends: number[] = []
  #lastTag = -1
  #count = 0
  /** Of the tag that is being read. */
  #timeKinds = 0
  #first = 0
  /** Whether the column that is being read is at its end. */
  #columnEnds = false

  /** @param bytes valid UTF-8 */
  constructor(
    bytes: Uint8Array,
    book: AddressBook,
    space: PointSpace,
    historians: HistorianView,
    mostTags = Number.POSITIVE_INFINITY,
  ) {
    this.#mostTags = mostTags
    this.#json = new JsonBytes(bytes)
    this.#instants = new InstantScan(bytes, this.#json.words)
    this.#book = book
    this.#space = space
    this.#historians = historians
    this.#request = book.nextRequest()
    this.#generation = book.generation
  }

  /** Reads on with each step, a few thousand points; returns at the end whether the body is in canonical form. */
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
    let nextYield = POINTS_PER_SLICE
    do {
      if (!this.#readAddress() || !json.take(COLON)) return false
      this.#timeKinds = 0
      this.#first = this.#count
      if (json.take(OPEN_ARRAY)) {
        if (!json.take(CLOSE_ARRAY)) {
          while (!this.#readCanonicalRows()) {
            if (!this.#readRow()) return false
            if (this.#done >= nextYield) {
              nextYield = this.#done + POINTS_PER_SLICE
              yield
            }
            if (json.take(COMMA)) continue
            if (json.take(CLOSE_ARRAY)) break
            return false
          }
          if (!this.#turnTimes(null)) return false
        }
      } else if (!this.#readCanonicalColumns() && !(yield* this.#readColumns())) return false
      this.#ends.push(this.#count)
      if (this.#done >= nextYield) {
        nextYield = this.#done + POINTS_PER_SLICE
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
    if (this.#tags.push(tag) > this.#mostTags) return false
    const historian = book.historianOf(tag)
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

  /** @returns whether that was the end of the array; otherwise a point follows, of whatever shape */
  #readCanonicalRows(): boolean {
    const json = this.#json
    const space = this.#space
    const last = Math.min(space.times.length, this.#count + POINTS_PER_SLICE)
    let kind = NUMBERS
    let end = readCanonicalRows(json, space, this.#count, last)
    if (end === this.#count) {
      kind = INSTANTS
      end = readCanonicalInstantRows(json, this.#instants, space, this.#count, last)
      if (end === this.#count) return false
    }
    this.#timeKinds |= kind
    this.#count = end
    return json.bytes[json.at - 1] === CLOSE_ARRAY
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
      const field = takePointField(json)
      if (field === 0 || (has & field) !== 0 || !json.take(COLON)) return false
      has |= field
      if (field === TIME_FIELD) {
        if (!this.#readTime(index)) return false
      } else if (field === STATUS_FIELD) {
        if (!this.#readStatus(index)) return false
      } else {
        json.peek()
        if (!json.readNumber(space.values, index)) return false
      }
    } while (json.take(COMMA))
    this.#count = index + 1
    return (has & NEEDED_FIELDS) === NEEDED_FIELDS && json.take(CLOSE_OBJECT)
  }

  #readTime(index: number): boolean {
    const json = this.#json
    if (json.peek() !== QUOTE) {
      this.#timeKinds |= NUMBERS
      return json.readNumber(this.#space.times, index)
    }
    json.at++
    this.#timeKinds |= INSTANTS
    const end = this.#instants.readAt(json.at, this.#space.times, index)
    if (end >= 0 && json.bytes[end] === QUOTE) {
      json.at = end + 1
      return true
    }
    const length = json.stringLength()
    if (length < 0) return false
    if (!readCommonInstant(json.bytes, json.at, json.at + length, this.#space.times, index)) return false
    json.at += length + 1
    return true
  }

  #readStatus(index: number): boolean {
    const status = readStatus(this.#json)
    if (status < 0) return false
    this.#space.statuses[index] = status
    return true
  }

  /** Makes instants of the timestamps of the tag that was read; false where numbers and texts are mixed, too. */
  #turnTimes(unit: EpochUnit | null): boolean {
    if ((this.#timeKinds & NUMBERS) === 0) return true
    if (this.#timeKinds !== NUMBERS) return false
    return numbersToInstants(this.#space.times, this.#first, this.#count, unit)
  }

  /** Nearly all short columns are read here; false where they are others. */
  #readCanonicalColumns(): boolean {
    const first = this.#count
    const last = Math.min(this.#space.capacity, first + POINTS_PER_SLICE)
    const end = readCanonicalColumns(this.#json, this.#space, first, last)
    if (end < 0) return false
    this.#count = end
    this.#fillStatuses(first)
    return true
  }

  /** Yields after each slice of a long column. */
  *#readColumns(): Generator<undefined, boolean> {
    const json = this.#json
    if (!json.take(OPEN_OBJECT)) return false
    const first = this.#count
    let has = 0
    let unit: EpochUnit | null = null
    let length = -1
    do {
      if (json.peek() !== QUOTE) return false
      const field = takeColumnField(json)
      if (field === 0 || (has & field) !== 0 || !json.take(COLON)) return false
      json.peek()
      if (field >= STATUS_FIELD && takeNull(json)) continue
      has |= field
      if (field === UNIT_FIELD) {
        unit = readUnit(json)
        if (unit === null) return false
        continue
      }
      if (!json.take(OPEN_ARRAY)) return false
      this.#columnEnds = json.take(CLOSE_ARRAY)
      let end = first
      while (!this.#columnEnds) {
        // Not before the first slice: short columns are read without a yield.
        if (end > first) yield
        end = this.#readSlice(field, end)
        if (end < 0) return false
      }
      if (length >= 0 && end - first !== length) return false
      length = end - first
    } while (json.take(COMMA))
    if ((has & NEEDED_FIELDS) !== NEEDED_FIELDS || !json.take(CLOSE_OBJECT)) return false
    this.#count = first + length
    // A function of its own, and not the generator's, whose loops are slow.
    if ((has & STATUS_FIELD) === 0) this.#fillStatuses(first)
    return this.#turnTimes(unit)
  }

  #fillStatuses(first: number): void {
    const { statuses } = this.#space
    // A loop, as a call of `fill` costs as much as a hundred points.
    for (let index = first; index < this.#count; index++) statuses[index] = STATUS_OK
  }

  /**
   * Reads on with a column, whose next point is `from`, to its end, or until POINTS_PER_SLICE points are read.
   * @returns the index after the last one, -1 where it is not canonical
   */
  #readSlice(field: number, from: number): number {
    const json = this.#json
    const space = this.#space
    if (from === space.capacity) space.grow()
    const last = Math.min(space.capacity, from + POINTS_PER_SLICE)
    let index = from
    if (field !== STATUS_FIELD) {
      const isTime = field === TIME_FIELD
      // As programs write them, without blanks; where one is no number after all, nothing was read.
      const read = json.readNumbers(isTime ? space.times : space.values, from, last, isTime)
      if (read >= 0) {
        if (isTime) this.#timeKinds |= NUMBERS
        index = read
        if (json.bytes[json.at - 1] !== COMMA && !this.#takeCommaOrEnd()) return -1
      }
    }
    while (index < last && !this.#columnEnds) {
      if (field === VALUE_FIELD) {
        json.peek()
        if (!json.readNumber(space.values, index)) return -1
      } else if (!(field === TIME_FIELD ? this.#readTime(index) : this.#readStatus(index))) return -1
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
}
