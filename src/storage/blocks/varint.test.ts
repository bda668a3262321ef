import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeColumns } from '../../series/columns.ts'
import { decodeChunk, encodeChunk } from './chunk.ts'
import { ByteReader, ByteWriter } from './varint.ts'

const edges = Array.from({ length: 52 }, (_, bit) => [
  2 ** bit - 1,
  2 ** bit,
  -(2 ** bit),
  -(2 ** bit) - 1,
]).flat()
const whole = fc.oneof(
  fc.constantFrom(...edges),
  fc.integer(),
  fc.integer({ min: -200, max: 200 }),
  fc.maxSafeInteger().map((value) => Math.trunc(value / 2) + 0),
)

test('signed numbers are written as their zigzag and read back, whichever way they take', () => {
  const writer = new ByteWriter(16)
  const other = new ByteWriter(16)
  const reader = new ByteReader()
  const check = (value: number) => {
    writer.length = 0
    other.length = 0
    writer.putSigned(value)
    other.putVarint(value < 0 ? -2 * value - 1 : 2 * value)
    assert.deepEqual(
      writer.bytes.subarray(0, writer.length),
      other.bytes.subarray(0, other.length),
      `${value}`,
    )
    assert.equal(reader.open(writer.bytes, 0, writer.length).signed(), value)
    assert.equal(reader.at, writer.length)
  }
  for (const value of edges) check(value)
  fc.assert(fc.property(whole, check))
})

test('values whose differences take any number of bytes are read back', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(whole, fc.integer({ min: -300_000, max: 300_000 })), { minLength: 2, maxLength: 60 }),
      fc.integer({ min: 0, max: 4 }),
      (multiples, decimals) => {
        const count = multiples.length
        const points = makeColumns(count)
        for (let i = 0; i < count; i++) {
          points.times[i] = i * i
          points.values[i] = multiples[i]! / 10 ** decimals
        }
        const bytes = new Uint8Array(encodeChunk(points, 0, count))
        const back = makeColumns(count)
        decodeChunk({ bytes, doubles: new Float64Array(bytes.buffer) }, 0, back, 0)
        assert.deepEqual(back, points)
      },
    ),
    { numRuns: 1_000 },
  )
})
