import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { makeColumns, type PointColumns } from '../../series/columns.ts'
import type { ZoneMap } from '../../series/zone-map.ts'
import { Damage } from '../damage.ts'
import { packBlocks } from '../parts/pack-blocks.ts'
import { BlockView, COMPRESSED_BYTES, MAX_CHUNKS } from './block.ts'
import { CHUNK_POINTS, EXTENT } from './chunk.ts'
import { isUsable, zoneMapOf } from './zone-map.ts'

const EARLIEST = -8_520_336_000_000_000
const LATEST = 7_258_118_399_999_999

/** Steps between times: regular ones, some jitter, gaps, and anything. */
const times = fc.record({
  start: fc.integer({ min: EARLIEST, max: 0 }),
  step: fc.constantFrom(1, 7, 1_000, 1_000_000, 3_600_000_000),
  jitter: fc.constantFrom(0, 0, 1, 500, 1_000_000),
  gaps: fc.constantFrom(0, 0, 1_000, 86_400_000_000, 1_000_000_000_000_000),
})

type Values = (index: number, random: () => number) => number

const values: fc.Arbitrary<Values> = fc.oneof(
  fc.constantFrom<Values>(
    () => 4.2,
    (i) => i,
    (i) => Math.sin(i / 50),
    (_, random) => Math.round(random() * 1_000) / 1_000,
    (_, random) => Math.round(random() * 2),
    (_, random) => (random() < 0.03 ? random() : Math.round(random() * 1e4) / 100),
    (_, random) =>
      [0, -0, 5e-324, -5e-324, Number.MAX_VALUE, -Number.MAX_VALUE, 0.1][Math.floor(random() * 7)]!,
    (_, random) => Math.round(random() * 2 ** 53) * (random() < 0.5 ? -1 : 1),
    (_, random) => Math.fround(random()),
    (_, random) => 1e6 + Math.round(random() * 100) / 1e4,
  ),
  fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 50 }).map(
    (list): Values =>
      (i) =>
        list[i % list.length]!,
  ),
)

const columns = fc
  .record({
    times,
    values,
    count: fc.integer({ min: 1, max: 1_500 }),
    bad: fc.constantFrom(0, 0, 0.02, 0.6, 1),
  })
  .chain((shape) =>
    fc
      .infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }))
      .map((stream) => ({ shape, stream })),
  )
  .map(({ shape, stream }): PointColumns => {
    const random = () => stream.next().value!
    const { start, step, jitter, gaps } = shape.times
    const rows = makeColumns(shape.count)
    let time = start
    let count = 0
    for (let i = 0; i < shape.count && time <= LATEST; i++, count++) {
      rows.times[i] = time
      rows.values[i] = shape.values(i, random)
      rows.statuses[i] = random() < shape.bad ? 1 : 0
      time += step + (jitter === 0 ? 0 : Math.floor(random() * jitter))
      if (gaps > 0 && random() < 0.02) time += Math.floor(random() * gaps)
    }
    return {
      times: rows.times.slice(0, count),
      values: rows.values.slice(0, count),
      statuses: rows.statuses.slice(0, count),
    }
  })

function packAll(points: PointColumns): Uint8Array[] {
  const blocks: Uint8Array[] = []
  packBlocks(points, true, (block) => blocks.push(block.slice()))
  return blocks
}

function pack(points: PointColumns): Uint8Array {
  const blocks = packAll(points)
  assert.equal(blocks.length, 1)
  return blocks[0]!
}

function assertSame(found: PointColumns, expected: PointColumns): void {
  // Compared as bytes: 0 and -0 differ.
  for (const column of ['times', 'values', 'statuses'] as const) {
    const bytes = (array: Float64Array | Uint8Array) =>
      Buffer.from(array.buffer, array.byteOffset, array.byteLength)
    if (bytes(found[column]).equals(bytes(expected[column]))) continue
    assert.deepEqual(found[column], expected[column])
    assert.fail(`${column} differ`)
  }
}

test('a block gives back the points that were put in, to the last bit', () => {
  const view = new BlockView()
  fc.assert(
    fc.property(columns, fc.nat(), fc.nat(), (points, a, b) => {
      const block = pack(points)
      const count = points.times.length
      const moved = new Uint8Array(block.length + 3)
      moved.set(block, 3)
      view.open(moved.subarray(3), block.length).verify()
      assert.equal(view.count, count)
      assertSame(view.columns(), points)
      const start = Math.min(a % (count + 1), b % (count + 1))
      const end = Math.max(a % (count + 1), b % (count + 1))
      assertSame(view.columns(start, end), {
        times: points.times.slice(start, end),
        values: points.values.slice(start, end),
        statuses: points.statuses.slice(start, end),
      })
      const index = a % count
      assert.equal(view.timeAt(index), points.times[index])
      assert.ok(Object.is(view.valueAt(index), points.values[index]))
      assert.equal(view.isGoodAt(index), points.statuses[index] === 0)
      assert.equal(view.lowerBound(points.times[index]!), index)
      assert.equal(view.lowerBound(points.times[index]! + 1), index + 1)
    }),
    { numRuns: 300 },
  )
})

test('the summary of a block says what its points say', () => {
  fc.assert(
    fc.property(columns, (points) => {
      const view = new BlockView()
      const block = pack(points)
      view.open(block, block.length)
      const stated = view.zoneMap()
      const expected = zoneMapOf(points, 0, points.times.length)
      for (const field of [
        'count',
        'numGood',
        'firstTime',
        'lastTime',
        'firstGoodTime',
        'lastGoodTime',
        'first',
        'last',
        'min',
        'max',
      ] as const) {
        assert.equal(stated[field], expected[field], field)
      }
      if (!isUsable(stated) || !isUsable(expected)) return
      const size = Math.max(Math.abs(expected.min), Math.abs(expected.max)) || 1
      const span = expected.lastTime - expected.firstTime
      const near = (field: keyof ZoneMap, tolerance: number) => {
        const difference = Math.abs(stated[field]! - expected[field]!)
        // Numbers near the smallest there is have fewer digits: 1e-300 is far below any that was measured.
        assert.ok(
          Number.isNaN(expected[field]!) || difference <= 1e-12 * tolerance + 1e-300,
          `${field}: ${stated[field]} ${expected[field]}`,
        )
      }
      near('sum', size * expected.count)
      near('mean', size)
      near('squares', size * size * expected.count)
      near('linear', size * span)
      near('stepped', size * span)
    }),
    { numRuns: 300 },
  )
})

test('the extent of a chunk says the same as its summary, and whether it stands for the points', () => {
  const view = new BlockView()
  const extent = new Float64Array(3 + EXTENT.length)
  fc.assert(
    fc.property(columns, (points) => {
      const block = pack(points)
      view.open(block, block.length)
      for (let chunk = 0; chunk < view.chunkCount; chunk++) {
        const zoneMap = view.chunkZoneMap(chunk)
        const isEnough = view.readExtent(chunk, extent, 3)
        assert.equal(isEnough, zoneMap.numGood === zoneMap.count && isUsable(zoneMap))
        const { firstTime, lastTime, min, max, first, last } = zoneMap
        assert.deepEqual(extent.slice(3), Float64Array.of(firstTime, lastTime, min, max, first, last))
      }
    }),
    { numRuns: 300 },
  )
})

test('a steady sensor takes little room', () => {
  const bytesOf = (time: (i: number) => number, value: (i: number) => number) => {
    const points = makeColumns(CHUNK_POINTS * MAX_CHUNKS)
    for (let i = 0; i < points.times.length; i++) {
      points.times[i] = time(i)
      points.values[i] = value(i)
    }
    const blocks = packAll(points)
    for (const block of blocks) assert.ok(block.length <= COMPRESSED_BYTES)
    return blocks.reduce((sum, block) => sum + block.length, 0) / points.times.length
  }
  const second = (i: number) => i * 1_000_000
  const sine = (i: number) => Math.round((20 + Math.sin(i / 1e3)) * 1_000) / 1_000
  // Numbers below 1,000 in no order.
  const noise = (i: number) => (i * i * 7_919) % 997
  const most = (bytes: number, found: number) => assert.ok(found < bytes, `${found} bytes a point`)
  most(0.45, bytesOf(second, sine))
  // 10 bits for a step of up to half a unit, with three decimals; and for milliseconds around a second.
  let level = 50_000
  most(
    1.5,
    bytesOf(second, (i) => {
      level += noise(i) - 498
      return level / 1_000
    }),
  )
  most(
    2,
    bytesOf((i) => second(i) + 1_000 * noise(i), sine),
  )
  // Some minutes of an hour: 6 bits.
  most(
    1.4,
    bytesOf((i) => (10 * i + (noise(i) % 10)) * 60_000_000, sine),
  )
})

test('a flipped bit anywhere in a block is found', () => {
  const points = makeColumns(30)
  for (let i = 0; i < 30; i++) {
    points.times[i] = i * i
    points.values[i] = i / 3
    points.statuses[i] = i % 7 === 0 ? 1 : 0
  }
  const block = pack(points)
  for (let at = 0; at < block.length * 8; at++) {
    const damaged = new Uint8Array(block)
    damaged[at >> 3]! ^= 1 << (at & 7)
    assert.throws(() => new BlockView().open(damaged, damaged.length).verify(), Damage, `bit ${at}`)
  }
  for (let length = 0; length < block.length; length++) {
    assert.throws(() => new BlockView().open(block.slice(0, length), length).verify(), Damage)
  }
})

test('views of points in memory take no buffers of their own, however many there are', () => {
  const points = makeColumns(1)
  const before = process.memoryUsage().arrayBuffers
  const views = Array.from({ length: 10_000 }, () => new BlockView().openColumns(points, 0, 1))
  assert.ok(process.memoryUsage().arrayBuffers - before < 1_000_000)
  assert.ok(views.every((view) => view.count === 1 && view.timeAt(0) === 0))
})

test('bytes that pass the checksum but are no block give damage or points, and come to an end', () => {
  const view = new BlockView()
  fc.assert(
    fc.property(
      columns,
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 20 }),
      (points, changes) => {
        const block = new Uint8Array(pack(points))
        for (const [at, value] of changes) block[1 + (at % (block.length - 1))] = value
        new DataView(block.buffer).setUint32(4, 0, true)
        new DataView(block.buffer).setUint32(4, crc32(block), true)
        try {
          view.open(block, block.length).verify()
          assert.ok(view.count <= MAX_CHUNKS * CHUNK_POINTS)
          view.columns()
          for (let chunk = 0; chunk < view.chunkCount; chunk++) view.chunkZoneMap(chunk)
          view.lowerBound(points.times[0]! + 1)
        } catch (error) {
          assert.ok(error instanceof Damage, String(error))
        }
      },
    ),
    { numRuns: 500 },
  )
})
