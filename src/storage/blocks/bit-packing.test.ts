import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Damage } from '../damage.ts'
import { GROUP, isWorthPacking, PackedReader, putPacked, usualOf } from './bit-packing.ts'
import { ByteReader, ByteWriter } from './varint.ts'

const MOST = 2 ** 23

/** Numbers of so many bits, both ends of the range among them. */
const ofBits = (bits: number) =>
  bits === 0
    ? fc.constant(0)
    : fc.oneof(
        fc.integer({ min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 }),
        fc.constantFrom(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1),
      )

/** Some groups, each of numbers of about the same width, the last one not full. */
const numbers = fc
  .array(
    fc.nat(24).chain((bits) => fc.array(ofBits(bits), { minLength: GROUP, maxLength: GROUP })),
    { minLength: 1, maxLength: 5 },
  )
  .chain((groups) => {
    const all = Float64Array.from(groups.flat())
    return fc.integer({ min: 1, max: all.length }).map((count) => all.slice(0, count))
  })

function pack(all: Float64Array): Uint8Array {
  const writer = new ByteWriter(64 * 1_024)
  assert.ok(isWorthPacking(all, all.length, 1e9))
  putPacked(writer, all, all.length)
  return writer.bytes.slice(0, writer.length)
}

test('packed numbers are those that were put in, wherever memory ends, and so are their sums', () => {
  const packed = new PackedReader()
  fc.assert(
    fc.property(numbers, fc.nat(9), (all, room) => {
      const bytes = pack(all)
      const memory = new Uint8Array(bytes.length + room)
      memory.set(bytes)
      const reader = new ByteReader().open(memory, 0, bytes.length)
      packed.open(reader)
      for (let first = 0; first < all.length; first += GROUP) {
        const expected = [...all.subarray(first, first + GROUP)].map((number) => number + 0)
        packed.read(reader, expected.length)
        assert.deepEqual([...packed.numbers.subarray(0, expected.length)], expected)
        assert.equal(
          packed.sum(),
          expected.reduce((sum, number) => sum + number, 0),
        )
      }
      assert.equal(reader.at, bytes.length)
    }),
    { numRuns: 500 },
  )
})

test('numbers are packed where that takes an eighth less, and where all of them have 24 bits at most', () => {
  const of = (...list: number[]) => Float64Array.from(list)
  // A byte with the width, and 4 numbers of 2 bits.
  assert.ok(isWorthPacking(of(1, -2, 0, 1), 4, 3))
  assert.ok(!isWorthPacking(of(1, -2, 0, 1), 4, 2))
  assert.ok(isWorthPacking(of(0, 0, 0, 0), 4, 2))
  assert.ok(isWorthPacking(of(-MOST, MOST - 1), 2, 100))
  assert.ok(!isWorthPacking(of(MOST), 1, 100))
  assert.ok(!isWorthPacking(of(-MOST - 1), 1, 100))
})

test('the usual difference is that of a counter with a restart, and 0 for what goes up and down', () => {
  const of = (differences: Float64Array) => {
    const rises = differences.filter((number) => number > 0).length
    const falls = differences.filter((number) => number < 0).length
    return usualOf(differences, differences.length, rises, falls)
  }
  const counter = Float64Array.from({ length: 90 }, (_, i) => (i % 50 === 0 ? -1e6 : 1_000 + (i % 3)))
  assert.equal(of(counter), 1_001)
  assert.equal(of(counter.map((number) => -number)), -1_001)
  // Some of them, taken at regular places, all go up.
  assert.equal(of(Float64Array.from({ length: 90 }, (_, i) => (i % 2 === 0 ? 5 : -5))), 0)
  assert.equal(of(Float64Array.of(7)), 7)
})

test('bytes of any kind are numbers or damage', () => {
  const packed = new PackedReader()
  let damaged = 0
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 1, max: GROUP }), (bytes, count) => {
      const reader = new ByteReader().open(bytes, 0, bytes.length)
      packed.open(reader)
      try {
        for (let group = 0; group < 8; group++) packed.read(reader, count)
        assert.ok(reader.at <= bytes.length)
      } catch (error) {
        assert.ok(error instanceof Damage, String(error))
        damaged++
      }
    }),
    { numRuns: 500 },
  )
  assert.ok(damaged > 100, `${damaged} were damaged`)
})
