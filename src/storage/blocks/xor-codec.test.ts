import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Damage } from '../damage.ts'
import { ByteReader, ByteWriter } from './varint.ts'
import { decodeXor, encodeXor } from './xor-codec.ts'

/** Doubles of which each differs from the one before in some of its bytes; all bits of it count. */
const BYTES = fc.array(
  fc.oneof(
    fc.uint8Array({ minLength: 8, maxLength: 8 }),
    fc
      .tuple(fc.integer({ min: 0, max: 7 }), fc.integer({ min: 0, max: 255 }))
      .map(([index, byte]) => Uint8Array.from({ length: 8 }, (_, k) => (k === index ? byte : 0))),
  ),
  { minLength: 1, maxLength: 40 },
)

function valuesOf(all: readonly Uint8Array[]): Float64Array {
  const bytes = new Uint8Array(8 * all.length)
  for (const [i, each] of all.entries()) {
    // Short changes add up, so that equal bytes stand at both ends and between.
    for (let k = 0; k < 8; k++) bytes[8 * i + k] = each[k]! ^ (i === 0 ? 0 : bytes[8 * (i - 1) + k]!)
  }
  return new Float64Array(bytes.buffer)
}

/** The format by its description: a control byte, and the bytes that differ, highest first. */
function expectedBytes(values: Float64Array): readonly number[] {
  const written: number[] = []
  let before = [0, 0, 0, 0, 0, 0, 0, 0]
  for (let i = 0; i < values.length; i++) {
    const highestFirst = [...new Uint8Array(values.slice(i, i + 1).buffer)].reverse()
    const differs = highestFirst.map((byte, k) => byte !== before[k])
    const first = differs.indexOf(true)
    const last = differs.lastIndexOf(true)
    if (first < 0) written.push(8 << 4)
    else written.push((first << 4) | (last - first + 1), ...highestFirst.slice(first, last + 1))
    before = highestFirst
  }
  return written
}

test('doubles of any bits are written as the format says, and come back with every bit', () => {
  fc.assert(
    fc.property(BYTES, fc.nat({ max: 3 }), (bytes, lead) => {
      const values = valuesOf(bytes)
      const writer = new ByteWriter(1_024)
      writer.length = lead
      encodeXor(writer, values, 0, values.length)
      assert.deepEqual([...writer.bytes.subarray(lead, writer.length)], expectedBytes(values))
      // The last value may end where the memory does.
      const written = writer.bytes.slice(0, writer.length)
      const reader = new ByteReader().open(written, lead, written.length)
      const target = new Float64Array(values.length + 1)
      decodeXor(reader, values.length, target, 1)
      reader.finish()
      assert.deepEqual([...bitsOf(target.subarray(1))], [...bitsOf(values)])
    }),
  )
})

test('a block that ends too early is noticed after it was read', () => {
  const values = Float64Array.of(0.1, 0.2, 0.7)
  const writer = new ByteWriter(64)
  encodeXor(writer, values, 0, 3)
  for (let end = 0; end < writer.length; end++) {
    const reader = new ByteReader().open(writer.bytes.slice(0, end), 0, end)
    decodeXor(reader, 3, new Float64Array(3), 0)
    assert.throws(() => reader.finish(), Damage, `${end} bytes`)
  }
})

test('a control byte that names more bytes than a double has is damage', () => {
  for (const control of [0x09, 0x18, 0x81, 0x90, 0xff]) {
    const reader = new ByteReader().open(Uint8Array.of(control, 1, 2, 3, 4, 5, 6, 7, 8, 9), 0, 10)
    assert.throws(() => decodeXor(reader, 1, new Float64Array(1), 0), Damage, `control byte ${control}`)
  }
})

function bitsOf(values: Float64Array): BigUint64Array {
  return new BigUint64Array(values.slice().buffer)
}
