import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { Damage } from '../damage.ts'
import { atOnce } from '../pause.ts'
import { GROUP_HEADER_BYTES, type RecordBody, readRecord } from './group.ts'
import { GroupBuffer } from './group-buffer.ts'
import { RemovedSpans } from './removed-spans.ts'
import { newSegment } from './segment.ts'
import { bodyOf } from './wal.fixture.ts'

const HEADER = newSegment({
  token: 1,
  segment: 1,
  generation: 1,
  previous: 0,
  firstSequence: 1,
  previousBytes: 0,
})

function encode(buffer: GroupBuffer, records: readonly RecordBody[]): Uint8Array {
  atOnce(buffer.put(records))
  return buffer.group(HEADER, 64, 1, 1_767_225_600_000_000)
}

/** A record of one tag with points that are equally far apart. */
const regularBody = {
  catalog: null,
  removed: RemovedSpans.none,
  points: {
    tags: Uint32Array.of(5),
    offsets: Uint32Array.of(0, 9),
    points: {
      times: Float64Array.from({ length: 9 }, (_, i) => 100 + 7 * i),
      values: Float64Array.from({ length: 9 }, (_, i) => i / 3),
      statuses: Uint8Array.from({ length: 9 }, (_, i) => i % 2),
    },
  },
}

test('points that are equally far apart are written as the first time and the step of each tag', () => {
  const count = 1000
  const points = (times: Float64Array) => ({
    catalog: null,
    removed: RemovedSpans.none,
    points: {
      tags: Uint32Array.of(3, 4),
      offsets: Uint32Array.of(0, 400, count),
      points: { times, values: Float64Array.from(times, Math.sqrt), statuses: new Uint8Array(count) },
    },
  })
  const bytesOf = (times: Float64Array) => {
    const body = points(times)
    const group = encode(new GroupBuffer(), [body])
    const { record } = atOnce(readRecord(Buffer.from(group), GROUP_HEADER_BYTES, group.length, 1))
    assert.deepEqual(record, { sequence: 1, ...body })
    return group.length
  }
  const regular = Float64Array.from({ length: count }, (_, i) => (i < 400 ? 7 + 3 * i : -i))
  const plain = GROUP_HEADER_BYTES + 32 + count * 16 + 2 * 8
  assert.equal(bytesOf(regular), plain - (count - 4) * 8)
  assert.equal(bytesOf(regular.with(999, 1)), plain)
  assert.equal(bytesOf(regular.with(1, 11)), plain)
})

test('whatever the fields of a record say, it is read or it is damage', () => {
  const buffer = new GroupBuffer()
  const recordOf = (body: RecordBody) => Buffer.from(encode(buffer, [body])).subarray(GROUP_HEADER_BYTES)
  for (const record of [recordOf(bodyOf(7)), recordOf(regularBody)]) {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: record.length - 1 }), fc.integer({ min: 0, max: 255 })), {
          minLength: 1,
          maxLength: 6,
        }),
        (changes) => {
          const bytes = Buffer.from(new Uint8Array(record).buffer)
          for (const [at, value] of changes) bytes[at] = value
          // As if somebody had meant it.
          bytes.writeUInt32LE(0, 4)
          const size = bytes.readUInt32LE(0)
          bytes.writeUInt32LE(crc32(bytes.subarray(0, size <= bytes.length ? size : bytes.length)), 4)
          try {
            const read = atOnce(readRecord(bytes, 0, bytes.length, 1))
            assert.ok(read.end <= bytes.length)
          } catch (error) {
            assert.ok(error instanceof Damage, String(error))
          }
        },
      ),
      { numRuns: 2_000 },
    )
  }
})
