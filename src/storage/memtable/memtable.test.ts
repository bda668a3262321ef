import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import fc from 'fast-check'
import { concatColumns, makeColumns, type PointColumns } from '../../series/columns.ts'
import { PointBatch } from '../blocks/point-batch.ts'
import { sortPoints } from '../blocks/sort-points.ts'
import type { Tombstone } from '../parts/part.ts'
import { type RemovedSpan, RemovedSpans } from '../wal/removed-spans.ts'
import type { WalRecord } from '../wal/wal-record.ts'
import { Memtable } from './memtable.ts'
import { LongMemory } from './point-memory.ts'

type Point = readonly [time: number, value: number, status: number]
type Command =
  | {
      readonly kind: 'add'
      readonly tags: readonly { readonly tag: number; readonly points: readonly Point[] }[]
    }
  | { readonly kind: 'remove'; readonly spans: readonly RemovedSpan[] }
  | { readonly kind: 'rotate' | 'drop' | 'hold' }

const tag = fc.constantFrom(1, 2, 3, 2_000)
const point = fc.tuple(
  fc.integer({ min: 0, max: 200 }),
  fc.integer({ min: 0, max: 9 }),
  fc.constantFrom(0, 0, 1),
)
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      tags: fc.array(fc.record({ tag, points: fc.array(point, { maxLength: 70 }) }), { maxLength: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('remove' as const),
      spans: fc.array(
        fc
          .tuple(tag, fc.integer({ min: 0, max: 200 }), fc.integer({ min: 1, max: 100 }))
          .map(([of, from, length]) => ({ tag: of, from, to: from + length })),
        { minLength: 1, maxLength: 4 },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('rotate' as const, 'drop' as const, 'hold' as const) }),
  },
)

function columnsOf(points: readonly Point[]): PointColumns {
  const columns = makeColumns(points.length)
  points.forEach(([time, value, status], i) => {
    columns.times[i] = time
    columns.values[i] = value
    columns.statuses[i] = status
  })
  return columns
}

function recordOf(sequence: number, one: Command): WalRecord {
  if (one.kind === 'remove') {
    return { sequence, catalog: null, removed: RemovedSpans.of(one.spans), points: null }
  }
  const tags = one.kind === 'add' ? one.tags : []
  const offsets = new Uint32Array(tags.length + 1)
  tags.forEach(({ points }, i) => {
    offsets[i + 1] = offsets[i]! + points.length
  })
  return {
    sequence,
    catalog: null,
    removed: RemovedSpans.none,
    points: {
      tags: Uint32Array.from(tags, (each) => each.tag),
      offsets,
      points: concatColumns(tags.map(({ points }) => columnsOf(points))),
    },
  }
}

const toPoints = (columns: PointColumns | null): Point[] =>
  columns === null
    ? []
    : Array.from(columns.times, (time, i) => [time, columns.values[i]!, columns.statuses[i]!])

const batch = new PointBatch()

/** A copy of the immutable points of each tag, brought in order, is what it has. */
function checkCopies(memtable: Memtable): void {
  batch.clear()
  const copied: number[] = []
  for (const of of memtable.immutableTags()) {
    const entry = batch.entries
    assert.ok(memtable.copyImmutable(of, batch))
    if (batch.entries > entry) copied.push(of)
  }
  for (let entry = 0; entry < batch.entries; entry++) {
    const of = batch.tagOf(entry)
    assert.equal(of, copied[entry])
    const points = toPoints(sortPoints(batch.pointsOf(entry)))
    assert.deepEqual(points, toPoints(memtable.immutableColumns(of)))
  }
  for (const of of memtable.immutableTags()) {
    if (!copied.includes(of)) assert.equal(memtable.immutableColumns(of), null)
  }
}

test('a memtable has what its records say, of both generations, and what was given out stays as it is', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
      const memtable = new Memtable(1)
      /** By tag and time: the point, and whether it is immutable. */
      const model = new Map<number, Map<number, readonly [Point, number]>>()
      let generation = 0
      let immutable = -1
      const held: { readonly columns: PointColumns; readonly points: readonly Point[] }[] = []
      const expected = (of: number): Point[] =>
        [...(model.get(of)?.values() ?? [])].map(([one]) => one).sort((a, b) => a[0] - b[0])
      let sequence = 0
      for (const one of commands) {
        if (one.kind === 'rotate') {
          if (memtable.immutable !== null) continue
          memtable.rotate()
          immutable = generation++
        } else if (one.kind === 'drop') {
          if (memtable.immutable === null) continue
          memtable.dropImmutable()
          for (const points of model.values()) {
            for (const [time, [, of]] of points) if (of === immutable) points.delete(time)
          }
        } else if (one.kind === 'hold') {
          checkCopies(memtable)
          for (const of of model.keys()) {
            for (const columns of memtable.layers(of)) held.push({ columns, points: toPoints(columns) })
          }
        } else {
          memtable.apply(recordOf(++sequence, one), 0)
          if (one.kind === 'remove') {
            for (const { tag: of, from, to } of one.spans) {
              const points = model.get(of)
              for (const time of points?.keys() ?? []) if (time >= from && time < to) points!.delete(time)
              const newest = memtable.tombstones(of).filter((each) => each.sequence === sequence)
              const own: Tombstone[] = one.spans.flatMap((span) =>
                span.tag === of ? [{ ...span, sequence }] : [],
              )
              assert.deepEqual(newest, own)
            }
          } else if (one.kind === 'add') {
            for (const { tag: of, points } of one.tags) {
              const known = model.get(of) ?? new Map()
              model.set(of, known)
              for (const each of points) known.set(each[0], [each, generation])
            }
          }
        }
        for (const of of model.keys()) {
          const found = memtable.layers(of).flatMap(toPoints)
          // What is dropped may have been replaced in the active generation, which the model does not keep apart.
          assert.deepEqual(found, expected(of), `tag ${of} after ${one.kind}`)
        }
      }
      for (const { columns, points } of held) assert.deepEqual(toPoints(columns), points)
    }),
    { numRuns: 300 },
  )
})

test('the newest point is known once it was asked about, and forgotten when points are taken away', () => {
  const memtable = new Memtable(1)
  const add = (time: number, value: number) =>
    memtable.apply(
      recordOf(memtable.nextSequence, { kind: 'add', tags: [{ tag: 5, points: [[time, value, 0]] }] }),
      0,
    )
  add(10, 1)
  assert.equal(memtable.newest.has(5), false)
  memtable.newest.remember(5, 10, 1, 0)
  add(9, 7)
  assert.equal(memtable.newest.time(5), 10)
  add(11, 2)
  assert.equal(memtable.newest.time(5), 11)
  memtable.apply(recordOf(memtable.nextSequence, { kind: 'remove', spans: [{ tag: 5, from: 0, to: 5 }] }), 0)
  assert.equal(memtable.newest.has(5), false)
})

test('tags with ever more points have all of them, in generations that keep no memory for each other', () => {
  const memtable = new Memtable(1, 0)
  const tags = Uint32Array.from({ length: 600 }, (_, index) => 3 * index + 1)
  const offsets = Uint32Array.from({ length: 601 }, (_, index) => index)
  let sequence = 0
  for (let generation = 0; generation < 3; generation++) {
    for (let time = 0; time < 200; time++) {
      const points = makeColumns(600)
      points.times.fill(time)
      for (let index = 0; index < 600; index++)
        points.values[index] = generation * 1_000 + tags[index]! + time
      const record = {
        sequence: ++sequence,
        catalog: null,
        removed: RemovedSpans.none,
        points: { tags, offsets, points },
      }
      memtable.apply(record, 0)
    }
    memtable.rotate()
    assert.deepEqual([...memtable.immutableTags()], [...tags])
    for (const tag of tags) {
      const { times, values } = memtable.immutableColumns(tag)!
      assert.ok(times.length === 200 && times.every((time, index) => time === index))
      assert.ok(values.every((value, index) => value === generation * 1_000 + tag + index))
    }
    memtable.dropImmutable()
  }
})

/** A record with points of tag 5 at such times. */
function pointsAt(sequence: number, times: readonly number[]): WalRecord {
  const points = times.map((time): Point => [time, time, 0])
  return recordOf(sequence, { kind: 'add', tags: [{ tag: 5, points }] })
}

const secondsTo = (count: number) => Array.from({ length: count }, (_, second) => second)

test('points that come while very many of their tag are flushed lie beside those, which no read copies', () => {
  const memtable = new Memtable(1)
  memtable.apply(pointsAt(1, secondsTo(5_000)), 0)
  memtable.rotate()
  const [flushed] = memtable.layers(5)
  memtable.apply(pointsAt(2, [5_000, 5_001]), 0)
  const layers = memtable.layers(5)
  assert.deepEqual(
    layers.map(({ times }) => times.length),
    [5_000, 2],
  )
  assert.equal(layers[0]!.times.buffer, flushed!.times.buffer)
  memtable.apply(pointsAt(3, [17]), 0)
  const more = memtable.layers(5)
  assert.deepEqual(more[1]!.times, Float64Array.of(17, 5_000, 5_001))
  assert.equal(more[0]!.times.buffer, flushed!.times.buffer)
})

test('thousands of ranges of a tag that one request takes away are taken out of its points at once', (t) => {
  const memtable = new Memtable(1)
  memtable.apply(pointsAt(1, secondsTo(20_000)), 0)
  const take = mock.method(LongMemory.prototype, 'take')
  t.after(() => take.mock.restore())
  const spans = secondsTo(5_000).map((at) => ({ tag: 5, from: 2 * at, to: 2 * at + 1 }))
  memtable.apply(recordOf(2, { kind: 'remove', spans }), 0)
  assert.equal(memtable.layers(5)[0]!.times.length, 15_000)
  assert.equal(take.mock.callCount(), 1)
})
