import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { withWrongBit } from '../../../test/durability/damage.ts'
import { makeColumns } from '../../series/columns.ts'
import { Arena } from '../arena.ts'
import { Damage } from '../damage.ts'
import { decodeRecord, encodePoints, encodeRemoval, type JournalPoints } from './record.ts'

const arena = new Arena()

const row = fc.record({
  time: fc.integer({ min: -(2 ** 53) + 1, max: 2 ** 53 - 1 }),
  value: fc.double({ noNaN: true, noDefaultInfinity: true }),
  bad: fc.boolean(),
})

/** Points of up to six tags, some without any, in no order. */
const journalPoints = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 0xffff_fffe }), fc.array(row, { maxLength: 9 })), {
    maxLength: 6,
  })
  .map((entries): JournalPoints => {
    const rows = entries.flatMap(([, ofTag]) => ofTag)
    const points = makeColumns(rows.length)
    rows.forEach(({ time, value, bad }, index) => {
      points.times[index] = time
      points.values[index] = value
      points.statuses[index] = bad ? 1 : 0
    })
    const offsets = new Uint32Array(entries.length + 1)
    entries.forEach(([, ofTag], index) => {
      offsets[index + 1] = offsets[index]! + ofTag.length
    })
    return { tags: Uint32Array.from(entries, ([tag]) => tag), offsets, points }
  })

const removal = fc
  .array(
    fc.tuple(
      fc.integer({ min: 1, max: 0xffff_fffe }),
      fc.constantFrom(Number.NEGATIVE_INFINITY, -5, 0, 2 ** 52),
      fc.constantFrom(-1, 7, Number.POSITIVE_INFINITY),
    ),
    { maxLength: 5 },
  )
  .map((spans) => ({ spans: spans.map(([tag, from, to]) => ({ tag, from, to })) }))

const ONE_POINT: JournalPoints = {
  tags: Uint32Array.of(7),
  offsets: Uint32Array.of(0, 1),
  points: { times: Float64Array.of(1.5e15), values: Float64Array.of(-0), statuses: Uint8Array.of(1) },
}

/** A record whose checksum is right, whatever else was changed. */
function resealed(record: Uint8Array, change: (record: Buffer) => void): Uint8Array {
  const bytes = Buffer.from(record)
  change(bytes)
  bytes.writeUInt32LE(0, 4)
  bytes.writeUInt32LE(crc32(bytes), 4)
  return bytes
}

test('a record of points comes back to the last bit', () => {
  fc.assert(
    fc.property(journalPoints, (points) => {
      const { kind, ...found } = decodeRecord(encodePoints(arena, points))
      arena.reset()
      assert.equal(kind, 'points')
      assert.deepEqual(found, points)
    }),
  )
})

test('a record of removed spans comes back, the endless ones among them', () => {
  fc.assert(
    fc.property(removal, (spans) => {
      assert.deepEqual(decodeRecord(encodeRemoval(arena, spans)), { kind: 'removal', ...spans })
      arena.reset()
    }),
  )
})

test('what was read is not changed by what the memory is used for next', () => {
  const bytes = encodePoints(new Arena(), ONE_POINT)
  const record = decodeRecord(bytes)
  bytes.fill(0xff)
  assert.deepEqual(record, { kind: 'points', ...ONE_POINT })
})

test('any wrong bit, any missing and any additional byte is found', () => {
  const spans = [{ tag: 3, from: Number.NEGATIVE_INFINITY, to: 5 }]
  for (const encoded of [encodePoints(new Arena(), ONE_POINT), encodeRemoval(new Arena(), { spans })]) {
    const bytes = new Uint8Array(encoded)
    for (let at = 0; at < bytes.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        assert.throws(() => decodeRecord(withWrongBit(bytes, at, bit)), Damage, `bit ${bit} of byte ${at}`)
      }
      assert.throws(() => decodeRecord(bytes.subarray(0, at)), Damage, `${at} bytes`)
    }
    assert.throws(() => decodeRecord(Buffer.concat([bytes, Buffer.of(0)])), Damage)
  }
})

test('a record that is sound but senseless is refused', () => {
  const points = encodePoints(new Arena(), ONE_POINT)
  const senseless: readonly [RegExp, (record: Buffer) => void][] = [
    [/unknown version 2/, (record) => record.writeUInt8(2, 0)],
    [/unknown kind/, (record) => record.writeUInt8(3, 1)],
    [/does not fit its size/, (record) => record.writeUInt8(0, 2)],
    [/does not fit its size/, (record) => record.writeUInt32LE(0xffff_ffff, 8)],
    [/does not fit its size/, (record) => record.writeUInt32LE(0xffff_ffff, 12)],
    [/does not fit its size/, (record) => record.writeUInt8(2, 1)],
    [/contradicts itself/, (record) => record.writeUInt32LE(2, 36)],
  ]
  for (const [message, change] of senseless) {
    assert.throws(
      () => decodeRecord(resealed(points, change)),
      (error) => {
        assert.ok(error instanceof Damage)
        assert.match(error.message, message)
        return true
      },
    )
  }
})
