import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeColumns, type PointColumns } from '../series/columns.ts'
import { Arena } from './arena.ts'
import { BlockView, blockBytes, encodeAppended, encodeBlock, MAX_PLAIN_POINTS } from './block.ts'
import { readBlockKey, TAIL, writeBlockKey } from './block-key.ts'
import { Damage } from './damage.ts'

const instant = fc.integer({ min: -8_520_336_000_000_000, max: 7_258_118_399_999_999 })

const columns = fc
  .uniqueArray(fc.tuple(instant, fc.double({ noNaN: true }), fc.constantFrom(0, 1)), {
    selector: ([time]) => time,
    minLength: 2,
    maxLength: 60,
  })
  .map((rows): PointColumns => {
    const sorted = rows.toSorted((a, b) => a[0] - b[0])
    return {
      times: Float64Array.from(sorted, (row) => row[0]),
      values: Float64Array.from(sorted, (row) => row[1]),
      statuses: Uint8Array.from(sorted, (row) => row[2]),
    }
  })

test('a block gives back the points that were put in', () => {
  const view = new BlockView()
  fc.assert(
    fc.property(columns, fc.nat(), (points, at) => {
      const block = encodeBlock(new Arena(), points, 0, points.times.length)
      view.open(block, block.length).verify()
      assert.deepEqual(view.columns(), points)
      assert.equal(view.firstTime, points.times[0])
      assert.equal(view.lastTime, points.times.at(-1))
      assert.equal(view.goodCount, points.statuses.filter((status) => status === 0).length)

      // The same in two parts, and from bytes that lie anywhere in memory.
      const half = 1 + (at % (points.times.length - 1))
      const first = encodeBlock(new Arena(), points, 0, half)
      const moved = new Uint8Array(first.length + 3)
      moved.set(first, 3)
      const rest = { ...points }
      rest.times = points.times.subarray(half)
      rest.values = points.values.subarray(half)
      rest.statuses = points.statuses.subarray(half)
      const whole = encodeAppended(new Arena(), view.open(moved.subarray(3), first.length), rest)
      assert.deepEqual(whole, block)
    }),
  )
})

test('a flipped bit anywhere in a block is found', () => {
  const points = makeColumns(5)
  points.times.set([1, 2, 3, 4, 5])
  points.statuses[2] = 1
  const block = encodeBlock(new Arena(), points, 0, 5)
  for (let at = 0; at < block.length * 8; at++) {
    const damaged = new Uint8Array(block)
    damaged[at >> 3]! ^= 1 << (at & 7)
    assert.throws(() => new BlockView().open(damaged, damaged.length).verify(), Damage, `bit ${at}`)
  }
  assert.throws(() => new BlockView().open(block, block.length - 1), Damage)
  assert.throws(() => new BlockView().open(new Uint8Array(8), 8), Damage)
})

test('full blocks fill whole pages of lmdb', () => {
  const pageBytes = 4096
  const lmdbBytes = 16
  const waste = (size: number) => pageBytes - 1 - ((size + lmdbBytes - 1) % pageBytes)
  assert.ok(waste(blockBytes(MAX_PLAIN_POINTS, false)) < 32)
  assert.ok(waste(blockBytes(MAX_PLAIN_POINTS, true)) < 32)
})

test('keys of blocks sort by tag and then by time, the tail last', () => {
  const tag = fc.integer({ min: 1, max: 0xffff_fffe })
  const time = fc.oneof(instant, fc.constant(TAIL))
  fc.assert(
    fc.property(tag, time, tag, time, (tag1, time1, tag2, time2) => {
      const key1 = writeBlockKey(new Uint8Array(12), tag1, time1)
      const key2 = writeBlockKey(new Uint8Array(12), tag2, time2)
      const expected = tag1 === tag2 ? Math.sign(time1 - time2) || 0 : Math.sign(tag1 - tag2)
      assert.equal(Buffer.compare(key1, key2), time1 === time2 && tag1 === tag2 ? 0 : expected)
      assert.deepEqual(readBlockKey(key1), { tag: tag1, time: time1 })
    }),
  )
})
