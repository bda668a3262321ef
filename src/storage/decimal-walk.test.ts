import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CHUNK_POINTS } from './chunk.ts'
import { Damage } from './damage.ts'
import { DecimalWalk } from './decimal-walk.ts'
import { encodeValues, VALUES } from './value-codec.ts'
import { ByteReader, ByteWriter } from './varint.ts'

/** Differences that take a byte, two, three, and more. */
const SIZES = [60, 60, 60, 8_000, 1e6, 1e12]

const decimals = fc
  .array(fc.tuple(fc.nat(SIZES.length - 1), fc.noBias(fc.integer({ min: -1_000, max: 1_000 }))), {
    minLength: 2,
    maxLength: CHUNK_POINTS,
  })
  .map((differences) => {
    let multiple = 0
    return Float64Array.from(differences, ([size, part]) => {
      multiple += Math.round((SIZES[size]! * part) / 1_000)
      // Without -0, which is no multiple of anything.
      return multiple / 1_000 + 0
    })
  })

function write(values: Float64Array): { bytes: Uint8Array; mode: number; decimals: number; length: number } {
  const writer = new ByteWriter(64 * 1_024)
  const found = encodeValues(writer, values, 0, values.length)
  return { bytes: writer.bytes, length: writer.length, ...found }
}

test('values that are picked from a chunk are those that were written, wherever memory ends', () => {
  let tried = 0
  const walk = new DecimalWalk()
  fc.assert(
    fc.property(
      decimals,
      fc.array(fc.integer({ min: -1, max: 40 })),
      fc.boolean(),
      (values, steps, isTight) => {
        const { bytes, mode, decimals: digits, length } = write(values)
        if (mode !== VALUES.decimals) return
        const memory = isTight ? bytes.slice(0, length) : bytes
        const reader = new ByteReader().open(memory, 0, length)
        if (!walk.open(reader, digits)) return
        tried++
        let greatest = -1
        for (const step of [...steps, values.length]) {
          const index = Math.min(values.length - 1, Math.max(0, greatest + step))
          greatest = Math.max(greatest, index)
          assert.ok(Object.is(walk.valueAt(index), values[index]), `value ${index}`)
        }
      },
    ),
    { numRuns: 500 },
  )
  assert.ok(tried > 100, `${tried} were decimals`)
})

test('values with exceptions are left to others, and the reader stays', () => {
  const values = Float64Array.from({ length: 100 }, (_, i) => (i === 50 ? Math.PI : (i % 7) / 10))
  const { bytes, length, mode, decimals: digits } = write(values)
  assert.equal(mode, VALUES.decimals)
  const reader = new ByteReader().open(bytes, 0, length)
  assert.equal(new DecimalWalk().open(reader, digits), false)
  assert.equal(reader.at, 0)
})

test('walking beyond the end of the values is damage', () => {
  const { bytes, length, decimals: digits } = write(Float64Array.from({ length: 20 }, (_, i) => i % 5))
  const walk = new DecimalWalk()
  assert.ok(walk.open(new ByteReader().open(bytes, 0, length), digits))
  assert.throws(() => walk.valueAt(300), Damage)
})
