/**
 * ClickHouse's format Native, in which a table travels in columns: numbers lie in a body as they lie in a typed array.
 * Both ways the form that its HTTP interface has spoken since before 18.16: blocks one after the other, each with the
 * number of columns and rows as variable-length integers, and for each column its name, its type and its values.
 */

/** A column that is sent. */
export interface SentColumn {
  readonly name: string
  readonly type: 'UInt8' | 'UInt64' | 'Int64' | 'Float64' | 'String'
  readonly bytes: Uint8Array
}

/** How a column that comes is read: numbers (whole ones exact up to 2^53), 64-bit integers exactly, or texts. */
export type ColumnKind = 'number' | 'bigint' | 'text'

export type ReadColumns<Kinds extends Readonly<Record<string, ColumnKind>>> = {
  readonly [name in keyof Kinds]: ColumnOf<Kinds[name]>
} & { readonly rows: number }

type ColumnOf<Kind extends ColumnKind> = Kind extends 'number'
  ? Float64Array
  : Kind extends 'bigint'
    ? BigUint64Array
    : readonly string[]

/** One block. */
export function encodeBlock(rows: number, columns: readonly SentColumn[]): readonly Uint8Array[] {
  const chunks: Uint8Array[] = [Buffer.concat([varint(columns.length), varint(rows)])]
  for (const { name, type, bytes } of columns) {
    chunks.push(Buffer.concat([text(name), text(type)]), bytes)
  }
  return chunks
}

/** Bytes of a column of texts. */
export function encodeTexts(texts: readonly string[]): Uint8Array {
  return Buffer.concat(texts.map(text))
}

/** Bytes of whole numbers below 2^53 in size as Int64. */
export function encodeInts(numbers: Float64Array): Uint8Array {
  const words = new Int32Array(numbers.length * 2)
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]!
    const high = Math.floor(number / TWO_32)
    words[2 * i] = (number - high * TWO_32) | 0
    words[2 * i + 1] = high
  }
  return bytesOf(words)
}

/** The memory of a typed array; every machine that Node runs on is little-endian, as the format is. */
export function bytesOf(array: Int32Array | Float64Array | BigUint64Array | Uint32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
}

const TWO_32 = 2 ** 32

function varint(value: number): Buffer {
  const bytes: number[] = []
  let left = value
  while (left >= 128) {
    bytes.push((left % 128) + 128)
    left = Math.floor(left / 128)
  }
  bytes.push(left)
  return Buffer.from(bytes)
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8')
  return Buffer.concat([varint(bytes.length), bytes])
}

/** What a body is instead of the blocks that were asked for. */
export class NativeError extends Error {
  /** What stands where a block was expected: the server appends the reason to an answer that it cannot finish. */
  readonly rest: string

  constructor(message: string, rest: string) {
    super(message)
    this.rest = rest
  }
}

/**
 * All blocks of a body, joined.
 * @param kinds  the columns by name, in the order of the query
 * @throws NativeError for anything but whole blocks of exactly these columns
 */
export function decodeBlocks<const Kinds extends Readonly<Record<string, ColumnKind>>>(
  body: Buffer,
  kinds: Kinds,
): ReadColumns<Kinds> {
  const names = Object.keys(kinds)
  const reader = new Reader(body)
  const parts: Part[][] = names.map(() => [])
  let rows = 0
  while (!reader.isAtEnd) {
    const start = reader.at
    const columnCount = reader.varint()
    const blockRows = reader.varint()
    // An error message begins with letters, which would be a number of columns that was not asked for.
    if (columnCount !== names.length) throw reader.failure('another number of columns', start)
    names.forEach((name, index) => {
      if (reader.text() !== name) throw reader.failure(`another column than ${name}`, start)
      parts[index]!.push(readPart(reader, reader.text(), blockRows, kinds[name]!, start))
    })
    rows += blockRows
  }
  const columns: Record<string, unknown> = { rows }
  names.forEach((name, index) => {
    columns[name] = joined(parts[index]!, kinds[name]!, rows)
  })
  return columns as ReadColumns<Kinds>
}

type Part = Float64Array | BigUint64Array | readonly string[]

function readPart(reader: Reader, type: string, rows: number, kind: ColumnKind, start: number): Part {
  if (kind === 'text' && type === 'String') return Array.from({ length: rows }, () => reader.text())
  if (kind === 'bigint' && type === 'UInt64') {
    return new BigUint64Array(reader.take(rows * 8).buffer)
  }
  if (kind === 'number') {
    const width = WIDTHS.get(type)
    if (width !== undefined) return numbers(reader.take(rows * width), type, rows)
  }
  throw reader.failure(`a column of type ${type}`, start)
}

const WIDTHS: ReadonlyMap<string, number> = new Map([
  ['UInt8', 1],
  ['UInt16', 2],
  ['UInt32', 4],
  ['Int32', 4],
  ['UInt64', 8],
  ['Int64', 8],
  ['Float64', 8],
])

function numbers({ buffer }: Uint8Array<ArrayBuffer>, type: string, rows: number): Float64Array {
  switch (type) {
    case 'Float64':
      return new Float64Array(buffer)
    case 'UInt8':
      return Float64Array.from(new Uint8Array(buffer))
    case 'UInt16':
      return Float64Array.from(new Uint16Array(buffer))
    case 'UInt32':
      return Float64Array.from(new Uint32Array(buffer))
    case 'Int32':
      return Float64Array.from(new Int32Array(buffer))
    default: {
      const lows = new Uint32Array(buffer)
      const highs = type === 'Int64' ? new Int32Array(buffer) : lows
      const values = new Float64Array(rows)
      for (let i = 0; i < rows; i++) values[i] = highs[2 * i + 1]! * TWO_32 + lows[2 * i]!
      return values
    }
  }
}

function joined(parts: readonly Part[], kind: ColumnKind, rows: number): Part {
  if (parts.length === 1) return parts[0]!
  if (kind === 'text') return (parts as readonly (readonly string[])[]).flat()
  if (kind === 'bigint') {
    const whole = new BigUint64Array(rows)
    let offset = 0
    for (const part of parts as readonly BigUint64Array[]) {
      whole.set(part, offset)
      offset += part.length
    }
    return whole
  }
  const whole = new Float64Array(rows)
  let offset = 0
  for (const part of parts as readonly Float64Array[]) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}

/** Reads a body from its start; whatever goes beyond its end is a NativeError. */
class Reader {
  readonly #body: Buffer
  at = 0

  constructor(body: Buffer) {
    this.#body = body
  }

  get isAtEnd(): boolean {
    return this.at >= this.#body.length
  }

  varint(): number {
    let value = 0
    let factor = 1
    for (;;) {
      const byte = this.#body[this.at]
      if (byte === undefined || factor > 2 ** 49) throw this.failure('no whole number', this.at)
      this.at++
      value += (byte & 127) * factor
      if (byte < 128) return value
      factor *= 128
    }
  }

  text(): string {
    const length = this.varint()
    const start = this.at
    if (start + length > this.#body.length) throw this.failure('no whole text', start)
    this.at += length
    return this.#body.toString('utf8', start, start + length)
  }

  /** A copy of so many bytes, aligned for typed arrays. */
  take(length: number): Uint8Array<ArrayBuffer> {
    const start = this.at
    if (start + length > this.#body.length) throw this.failure('no whole block', start)
    this.at += length
    const copy = new Uint8Array(length)
    copy.set(this.#body.subarray(start, start + length))
    return copy
  }

  failure(what: string, from: number): NativeError {
    return new NativeError(what, this.#body.toString('utf8', from, from + 2_000))
  }
}
