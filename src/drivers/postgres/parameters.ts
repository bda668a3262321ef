/*
 * Arrays as PostgreSQL's binary parameters: the client library would write each number as quoted text, which costs more
 * than the query for a batch of points.
 */

const INT4 = { oid: 23, bytes: 4 }
const INT8 = { oid: 20, bytes: 8 }
const FLOAT8 = { oid: 701, bytes: 8 }
const BOOL = { oid: 16, bytes: 1 }
const TEXT_OID = 25

const HEADER_BYTES = 20
const TWO_TO_32 = 2 ** 32

/** A `bigint[]` of whole numbers that a double holds exactly. */
export function bigints(numbers: ArrayLike<number>): Buffer {
  return fixedArray(INT8, numbers, (view, at, number) => {
    const high = Math.floor(number / TWO_TO_32)
    view.setInt32(at, high)
    view.setUint32(at + 4, number - high * TWO_TO_32)
  })
}

/** A `double precision[]`, bit by bit. */
export function doubles(numbers: ArrayLike<number>): Buffer {
  return fixedArray(FLOAT8, numbers, (view, at, number) => view.setFloat64(at, number))
}

/** An `integer[]`. */
export function integers(numbers: ArrayLike<number>): Buffer {
  return fixedArray(INT4, numbers, (view, at, number) => view.setInt32(at, number))
}

/** A `boolean[]`. */
export function booleans(flags: readonly boolean[]): Buffer {
  return fixedArray(
    BOOL,
    flags.map((flag) => (flag ? 1 : 0)),
    (view, at, number) => view.setUint8(at, number),
  )
}

/** A `text[]`; `null` is NULL. The texts are ones that PostgreSQL can hold (text.ts). */
export function texts(values: readonly (string | null)[]): Buffer {
  let bytes = HEADER_BYTES + 4 * values.length
  for (const value of values) if (value !== null) bytes += Buffer.byteLength(value)
  const buffer = Buffer.allocUnsafe(bytes)
  writeHeader(new DataView(buffer.buffer, buffer.byteOffset), TEXT_OID, values.length, values.includes(null))
  let at = HEADER_BYTES
  for (const value of values) {
    if (value === null) {
      at = buffer.writeInt32BE(-1, at)
      continue
    }
    const length = buffer.write(value, at + 4)
    buffer.writeInt32BE(length, at)
    at += 4 + length
  }
  return buffer
}

function fixedArray(
  { oid, bytes }: { readonly oid: number; readonly bytes: number },
  numbers: ArrayLike<number>,
  put: (view: DataView, at: number, number: number) => void,
): Buffer {
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + numbers.length * (4 + bytes))
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
  writeHeader(view, oid, numbers.length, false)
  let at = HEADER_BYTES
  for (let i = 0; i < numbers.length; i++) {
    view.setInt32(at, bytes)
    put(view, at + 4, numbers[i]!)
    at += 4 + bytes
  }
  return buffer
}

/** Dimensions, whether there are NULLs, type of the elements, then length and lower bound of the one dimension. */
function writeHeader(view: DataView, oid: number, length: number, nulls: boolean): void {
  view.setInt32(0, 1)
  view.setInt32(4, nulls ? 1 : 0)
  view.setInt32(8, oid)
  view.setInt32(12, length)
  view.setInt32(16, 1)
}

/** The values of a statement's parameters while its text is being written. */
export class Parameters {
  readonly values: unknown[] = []

  /** Adds a value and gives its place in the text, with the type: `$3::bigint[]`. */
  add(value: unknown, type: string): string {
    this.values.push(value)
    return `$${this.values.length}::${type}`
  }
}
