import { Damage } from '../damage.ts'
import { decodeOptional, encodeOptional, type TagRecord } from './tag-record.ts'

/** What a tag has beside its id. */
export type TagFields = Omit<TagRecord, 'id'>

/**
 * Metadata of a tag as bytes, the same in WAL records, in the catalog's file and in memory: u8 flags, three varints
 * (bytes of the name, of the description, of the units), a fourth where the flags say that there are optional fields,
 * then the three texts, all in UTF-8, or all in UTF-16LE when one of them holds lone surrogates, and the optional
 * fields (`encodeOptional`).
 */
export const STEPPED = 1
export const HAS_DESCRIPTION = 2
export const HAS_UNITS = 4
export const UTF16 = 8
export const HAS_OPTIONAL = 16
const KNOWN_FLAGS = STEPPED | HAS_DESCRIPTION | HAS_UNITS | UTF16 | HAS_OPTIONAL

/**
 * Longest text in bytes that is read: far above what the interface lets in, far below what a number of a wrong size
 * could ask for.
 */
const MAX_TEXT_BYTES = 1 << 26

const LONG_BYTES = 200

/** Stands before entries in the arena whose texts are opaque. */
export const OPAQUE = 1

/**
 * Whether an entry is in UTF-16, or has a character that foldCase makes ASCII of though it is none in upper case
 * either: U+0131, U+017F, U+212A.
 */
export function isOpaque({ bytes, flags, name, units }: EntryView): boolean {
  if ((flags & UTF16) !== 0) return true
  for (let at = name; at < units - 1; at++) {
    const byte = bytes[at]!
    if (byte < 0xc4) continue
    const next = bytes[at + 1]
    if ((byte === 0xc4 && next === 0xb1) || (byte === 0xc5 && next === 0xbf)) return true
    if (byte === 0xe2 && next === 0x84 && bytes[at + 2] === 0xaa) return true
  }
  return false
}

/** Bytes that grow as they are written; varints as in varint.ts. */
export class EntryWriter {
  #bytes = Buffer.allocUnsafeSlow(256)
  length = 0

  putByte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.length++] = value
  }

  /** @param value  whole, from 0 to 2^32 - 1 */
  putVarint(value: number): void {
    this.#reserve(5)
    let rest = value >>> 0
    for (; rest >= 128; rest >>>= 7) this.#bytes[this.length++] = (rest & 127) | 128
    this.#bytes[this.length++] = rest
  }

  putEntry(fields: TagFields): void {
    const { name, description, units, stepped } = fields
    const optional = encodeOptional(fields)
    const isUtf8 =
      name.isWellFormed() && (description?.isWellFormed() ?? true) && (units?.isWellFormed() ?? true)
    this.putByte(
      (stepped ? STEPPED : 0) |
        (description === null ? 0 : HAS_DESCRIPTION) |
        (units === null ? 0 : HAS_UNITS) |
        (isUtf8 ? 0 : UTF16) |
        (optional.length === 0 ? 0 : HAS_OPTIONAL),
    )
    const encoding = isUtf8 ? 'utf8' : 'utf16le'
    this.putVarint(Buffer.byteLength(name, encoding))
    this.putVarint(description === null ? 0 : Buffer.byteLength(description, encoding))
    this.putVarint(units === null ? 0 : Buffer.byteLength(units, encoding))
    if (optional.length > 0) this.putVarint(optional.length)
    this.#putText(name, encoding)
    if (description !== null) this.#putText(description, encoding)
    if (units !== null) this.#putText(units, encoding)
    if (optional.length > 0) this.putBytes(optional)
  }

  putBytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  /** What was written since the last call, as bytes of their own. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.length))
    this.length = 0
    return taken
  }

  #putText(text: string, encoding: 'utf8' | 'utf16le'): void {
    // No UTF-16 unit takes more than three bytes.
    this.#reserve(3 * text.length)
    this.length += this.#bytes.write(text, this.length, encoding)
  }

  #reserve(more: number): void {
    if (this.length + more <= this.#bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, this.length + more))
    grown.set(this.#bytes.subarray(0, this.length))
    this.#bytes = grown
  }
}

/** Looks at the entry that begins at a place: where its texts are. Holds for one entry at a time. */
export class EntryView {
  bytes: Buffer = Buffer.alloc(0)
  start = 0
  flags = 0
  name = 0
  description = 0
  units = 0
  optional = 0
  end = 0
  #at = 0

  /** @param at  where an entry begins that is known to be whole: what is read of others makes no sense */
  seek(bytes: Buffer, at: number): this {
    this.bytes = bytes
    this.start = at
    this.flags = bytes[at]!
    this.#at = at + 1
    const name = this.#varint()
    const description = this.#varint()
    const units = this.#varint()
    const optional = this.flags & HAS_OPTIONAL ? this.#varint() : 0
    this.name = this.#at
    this.description = this.name + name
    this.units = this.description + description
    this.optional = this.units + units
    this.end = this.optional + optional
    return this
  }

  /** As `seek`, for bytes from outside. Throws Damage when they are no entry that ends at `end` or before. */
  seekVerified(bytes: Buffer, at: number, end: number): this {
    this.seek(bytes, at)
    const { flags } = this
    const isWhole = this.name <= end && this.end <= end && this.end - this.name <= 4 * MAX_TEXT_BYTES
    if (!isWhole) throw new Damage('the entry of a tag ends too early')
    if ((flags & ~KNOWN_FLAGS) !== 0) throw new Damage(`the entry of a tag has the unknown flags ${flags}`)
    const hasStray =
      (this.units > this.description && (flags & HAS_DESCRIPTION) === 0) ||
      (this.optional > this.units && (flags & HAS_UNITS) === 0) ||
      (this.end === this.optional && (flags & HAS_OPTIONAL) !== 0)
    const isOdd = (((this.description - this.name) | (this.units - this.description)) & 1) === 1
    if (hasStray || ((flags & UTF16) !== 0 && (isOdd || ((this.optional - this.units) & 1) === 1)))
      throw new Damage('the entry of a tag contradicts itself')
    return this
  }

  /** Whether the texts' bytes in ASCII do not tell what they are in lower case. Only of entries in the arena. */
  get isOpaque(): boolean {
    return this.bytes[this.start - 1] === OPAQUE
  }

  nameText(): string {
    return this.#text(this.name, this.description)
  }

  descriptionText(): string | null {
    return this.flags & HAS_DESCRIPTION ? this.#text(this.description, this.units) : null
  }

  /** @param name  where it is known already */
  record(id: number, name = this.nameText()): TagRecord {
    const { flags } = this
    return {
      id,
      name,
      description: this.descriptionText(),
      units: flags & HAS_UNITS ? this.#text(this.units, this.optional) : null,
      stepped: (flags & STEPPED) !== 0,
      ...(flags & HAS_OPTIONAL && decodeOptional(this.bytes.subarray(this.optional, this.end))),
    }
  }

  /** Whether another entry has the same bytes. */
  isSame(other: EntryView): boolean {
    const length = this.end - this.start
    if (other.end - other.start !== length) return false
    // Most are shorter than a call of the system's comparison takes, and differ in their first bytes.
    const first = Math.min(length, LONG_BYTES)
    for (let i = 0; i < first; i++) {
      if (this.bytes[this.start + i] !== other.bytes[other.start + i]) return false
    }
    if (length === first) return true
    return this.bytes.compare(other.bytes, other.start + first, other.end, this.start + first, this.end) === 0
  }

  /** Whether the entry has this name. */
  hasName(name: string): boolean {
    const { bytes, name: start, description: end } = this
    if ((this.flags & UTF16) === 0 && end - start === name.length) {
      // As many bytes as UTF-16 units: ASCII, or not this name.
      for (let i = 0; i < name.length; i++) {
        if (bytes[start + i] !== name.charCodeAt(i)) return false
      }
      return true
    }
    return end - start >= name.length && this.nameText() === name
  }

  #text(from: number, to: number): string {
    if (from === to) return ''
    return this.bytes.toString(this.flags & UTF16 ? 'utf16le' : 'utf8', from, to)
  }

  #varint(): number {
    const { bytes } = this
    let byte = bytes[this.#at++]!
    if (byte < 128) return byte
    let value = byte & 127
    for (let shift = 7; byte >= 128 && shift < 35; shift += 7) {
      byte = bytes[this.#at++] ?? 0
      value += (byte & 127) * 2 ** shift
    }
    return value
  }
}
