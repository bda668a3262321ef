import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { decodeMark, encodeMark } from './archive-file.ts'

test('whatever a mark says with a right checksum, it states a record and a time, or nothing', () => {
  const anyDouble = fc.oneof(fc.double(), fc.constantFrom(Number.NaN, Infinity, -Infinity, 2 ** 53))
  fc.assert(
    fc.property(anyDouble, anyDouble, fc.nat({ max: 40 }), (lastSequence, until, length) => {
      const bytes = Buffer.alloc(40)
      bytes.set(encodeMark({ lastSequence, until }))
      const mark = decodeMark(bytes.subarray(0, length))
      const isOne = length >= 32 && Number.isSafeInteger(lastSequence) && Number.isFinite(until)
      assert.deepEqual(mark, isOne ? { lastSequence, until } : null)
    }),
    { numRuns: 1_000 },
  )
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 24, maxLength: 24 }), fc.boolean(), (said, isNamed) => {
      const bytes = Buffer.alloc(32)
      bytes.set(said)
      if (isNamed) bytes.set(encodeMark({ lastSequence: 0, until: 0 }).subarray(0, 4))
      bytes.writeUInt32LE(crc32(bytes.subarray(0, 24)), 24)
      const mark = decodeMark(bytes)
      if (mark === null) return
      assert.ok(Number.isSafeInteger(mark.lastSequence) && Number.isFinite(mark.until))
    }),
    { numRuns: 1_000 },
  )
})
