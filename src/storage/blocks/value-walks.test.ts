import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Damage } from '../damage.ts'
import { CHUNK_POINTS } from './chunk.ts'
import { DecimalWalk } from './decimal-walk.ts'
import { PackedWalk } from './packed-walk.ts'
import { encodeValues, VALUES } from './value-codec.ts'
import { ByteReader, ByteWriter } from './varint.ts'

interface Written {
  readonly bytes: Uint8Array
  readonly length: number
  readonly mode: number
  readonly decimals: number
}

function write(values: Float64Array): Written {
  const writer = new ByteWriter(64 * 1_024)
  const found = encodeValues(writer, values, 0, values.length)
  return { bytes: writer.bytes, length: writer.length, ...found }
}

/** Both ways to pick values, opened alike. */
const WALKS = [
  {
    name: 'decimals',
    mode: VALUES.decimals,
    /** Differences that take a byte, two, three, and more, in turn: as wide as the widest they would take more. */
    sizes: [60, 60, 60, 8_000, 1e6, 1e12],
    open(reader: ByteReader, decimals: number, _count: number) {
      const walk = new DecimalWalk()
      return walk.open(reader, decimals) ? walk : null
    },
  },
  {
    name: 'packed values',
    mode: VALUES.packed,
    sizes: [2, 500, 8_000, 1e6],
    open(reader: ByteReader, decimals: number, count: number) {
      const walk = new PackedWalk()
      return walk.open(reader, decimals, count) ? walk : null
    },
  },
]

for (const { name, mode, sizes, open } of WALKS) {
  const decimals = fc
    .record({
      differences: fc.array(
        fc.tuple(fc.nat(sizes.length - 1), fc.noBias(fc.integer({ min: -1_000, max: 1_000 }))),
        { minLength: 2, maxLength: CHUNK_POINTS },
      ),
      drift: fc.constantFrom(0, 0, 40_000),
    })
    .map(({ differences, drift }) => {
      // Packed ones are of one size for some time, so that groups differ.
      const sizeOf = (i: number) =>
        mode === VALUES.packed ? differences[i - (i % 100)]![0] : differences[i]![0]
      let multiple = 0
      return Float64Array.from(differences, ([, part], i) => {
        multiple += drift + Math.round((sizes[sizeOf(i)]! * part) / 1_000)
        // Without -0, which is no multiple of anything.
        return multiple / 1_000 + 0
      })
    })

  test(`${name} that are picked from a chunk are those that were written, wherever memory ends`, () => {
    let tried = 0
    fc.assert(
      fc.property(
        decimals,
        fc.array(fc.integer({ min: -1, max: 150 })),
        fc.boolean(),
        (values, steps, isTight) => {
          const written = write(values)
          if (written.mode !== mode) return
          const memory = isTight ? written.bytes.slice(0, written.length) : written.bytes
          const walk = open(new ByteReader().open(memory, 0, written.length), written.decimals, values.length)
          if (walk === null) return
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
    assert.ok(tried > 100, `${tried} were tried`)
  })

  /** Values of the way: of a wide difference now and then packing would make all wide. */
  const some = (count: number) =>
    Float64Array.from({ length: count }, (_, i) => (i % 7) / 10 + (mode === VALUES.packed ? 0 : i % 2) * 4e6)

  test(`${name} with exceptions are left to others, and the reader stays`, () => {
    const values = some(100)
    values[50] = Math.PI
    const written = write(values)
    assert.equal(written.mode, mode)
    const reader = new ByteReader().open(written.bytes, 0, written.length)
    assert.equal(open(reader, written.decimals, 100), null)
    assert.equal(reader.at, 0)
  })

  test(`walking beyond the end of ${name} is damage`, () => {
    const written = write(some(100))
    assert.equal(written.mode, mode)
    for (const index of [300, CHUNK_POINTS - 1]) {
      const reader = new ByteReader().open(written.bytes, 0, written.length)
      const walk = open(reader, written.decimals, CHUNK_POINTS)!
      assert.throws(() => walk.valueAt(index), Damage)
    }
    const reader = new ByteReader().open(written.bytes, 0, written.length - 4)
    const walk = open(reader, written.decimals, 100)!
    assert.throws(() => walk.valueAt(99), Damage)
  })
}
