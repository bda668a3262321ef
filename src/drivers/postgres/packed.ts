/*
 * Columns of numbers come from the server as the bytes of its own `int8send` and `float8send`, put together with
 * `string_agg` and written in hexadecimal digits: a row for each number costs both sides three times as much.
 */

const TWO_TO_32 = 2 ** 32

/** SQL of a column of packed numbers. @param bytes an expression of bytea, never NULL */
export function pack(bytes: string): string {
  return `encode(string_agg(${bytes}, ''::bytea), 'hex')`
}

/** Numbers packed with `int8send`: whole, and exact up to 2^53. `null`, of no rows, is none. */
export function unpackBigints(hex: string | null): Float64Array {
  const bytes = bytesOf(hex)
  const numbers = new Float64Array(bytes.byteLength / 8)
  for (let i = 0; i < numbers.length; i++) {
    numbers[i] = bytes.getInt32(i * 8) * TWO_TO_32 + bytes.getUint32(i * 8 + 4)
  }
  return numbers
}

/** Numbers packed with `float8send`. */
export function unpackDoubles(hex: string | null): Float64Array {
  const bytes = bytesOf(hex)
  const numbers = new Float64Array(bytes.byteLength / 8)
  for (let i = 0; i < numbers.length; i++) numbers[i] = bytes.getFloat64(i * 8)
  return numbers
}

/** Numbers packed with `int4send`. */
export function unpackIntegers(hex: string | null): Int32Array {
  const bytes = bytesOf(hex)
  const numbers = new Int32Array(bytes.byteLength / 4)
  for (let i = 0; i < numbers.length; i++) numbers[i] = bytes.getInt32(i * 4)
  return numbers
}

function bytesOf(hex: string | null): DataView {
  const buffer = Buffer.from(hex ?? '', 'hex')
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
}
