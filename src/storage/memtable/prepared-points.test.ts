import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { makeColumns, type PointColumns } from '../../series/columns.ts'
import { RemovedSpans } from '../wal/removed-spans.ts'
import type { WalRecord } from '../wal/wal-record.ts'
import { Memtable } from './memtable.ts'

type Slice = readonly [tag: number, count: number, timeOf: (i: number) => number]

let values = 0

/** A record with points of tags, each value another one. */
function recordOf(sequence: number, slices: readonly Slice[]): WalRecord {
  const points = makeColumns(slices.reduce((sum, [, count]) => sum + count, 0))
  const offsets = new Uint32Array(slices.length + 1)
  let at = 0
  for (const [i, [, count, timeOf]] of slices.entries()) {
    for (let point = 0; point < count; point++, at++) {
      points.times[at] = timeOf(point)
      points.values[at] = ++values
      points.statuses[at] = values % 5 === 0 ? 1 : 0
    }
    offsets[i + 1] = at
  }
  const tags = Uint32Array.from(slices, ([tag]) => tag)
  return { sequence, catalog: null, removed: RemovedSpans.none, points: { tags, offsets, points } }
}

const rowsOf = ({ times, values, statuses }: PointColumns) =>
  Array.from(times, (time, i) => [time, values[i], statuses[i]])
const allOf = (memtable: Memtable) => TAGS.map((tag) => memtable.layers(tag).map(rowsOf))
const isSame = (one: unknown, other: unknown) => assert.ok(isDeepStrictEqual(one, other))

const TAGS = [1, 2, 3, 4, 5, 6]
const EARLIER: readonly Slice[] = [
  [1, 90_000, (i) => 2 * i],
  [2, 100, (i) => i],
  [3, 3_000, (i) => -i],
  [4, 500, (i) => i],
]
/** Two writes that are applied together: of points of the same time the later one counts. */
const WRITES: readonly (readonly Slice[])[] = [
  [
    [1, 60_000, (i) => 70_000 - i],
    [2, 200, (i) => (i * 7) % 150],
    [3, 70_000, (i) => (i * 7_919) % 65_537],
    [4, 700, (i) => 600 + i],
    [6, 900, (i) => -i],
  ],
  [
    [2, 3, () => 5],
    [1, 20_000, (i) => 3 * i],
    [5, 1, () => 1],
    // A tag may stand in a request twice.
    [3, 1, () => 8],
    [3, 20_000, (i) => i],
  ],
]
const prepared = (memtable: Memtable, records: readonly WalRecord[], look = () => {}) => {
  const work = memtable.prepare(records)!
  for (let steps = 1; ; steps++) {
    const { done, value } = work.next()
    if (done === true) return { value, steps }
    look()
  }
}

for (const isRead of [false, true]) {
  const when = isRead ? 'also when read meanwhile' : 'when nobody reads meanwhile'
  test(`points prepared in steps are those that applying them at once gives, and unseen until then, ${when}`, () => {
    const memtable = new Memtable(1)
    const model = new Memtable(1)
    const earlier = recordOf(1, EARLIER)
    const records = WRITES.map((slices, i) => recordOf(2 + i, slices))
    for (const one of [memtable, model]) one.apply(earlier, 0)
    const held = isRead ? TAGS.flatMap((tag) => memtable.layers(tag)) : []
    const before = allOf(model)
    const heldBefore = held.map(rowsOf)
    let looks = 0
    const { value, steps } = prepared(memtable, records, () => {
      if (isRead && looks++ % 8 === 0) isSame(allOf(memtable), before)
    })
    assert.ok(steps > 20, `${steps} steps`)
    if (isRead) isSame(allOf(memtable), before)
    memtable.applyAll(records, 0, value)
    for (const record of records) model.apply(record, 0)
    isSame(allOf(memtable), allOf(model))
    assert.equal(memtable.points, model.points)
    assert.equal(memtable.nextSequence, model.nextSequence)
    assert.deepEqual(memtable.timeRange, model.timeRange)
    isSame(held.map(rowsOf), heldBefore)

    // Whatever comes then, and goes, is as without it.
    const later = recordOf(4, [
      [1, 40_000, (i) => 5 * i],
      [3, 10, (i) => 1e6 + i],
      [6, 2_000, (i) => i],
    ])
    const removal = {
      ...recordOf(5, []),
      points: null,
      removed: RemovedSpans.of([{ tag: 1, from: 100, to: 50_000 }]),
    }
    for (const one of [memtable, model]) {
      one.apply(later, 0)
      one.apply(removal, 0)
    }
    isSame(allOf(memtable), allOf(model))
  })
}

test('a read finds nothing to sort after points out of order that were prepared', () => {
  const memtable = new Memtable(1)
  const records = WRITES.map((slices, i) => recordOf(1 + i, slices))
  memtable.applyAll(records, 0, prepared(memtable, records).value)
  memtable.rotate()
  for (const tag of [1, 3, 6]) assert.equal(memtable.sortImmutable(tag)!.next().done, true)
})

test('the newest point of a tag that is remembered is not an older one after points that were prepared', () => {
  const memtable = new Memtable(1)
  memtable.newest.remember(1, 10, 1, 0)
  const records = [recordOf(1, [[1, 70_000, (i) => 70_000 - i]])]
  memtable.applyAll(records, 0, prepared(memtable, records).value)
  assert.equal(memtable.newest.has(1), false)
})

test('points that were prepared for another state are added as they are', () => {
  const memtable = new Memtable(1)
  const model = new Memtable(1)
  const between = recordOf(1, [[1, 5, (i) => 1_000 * i]])
  const records = [recordOf(2, WRITES[0]!)]
  const { value } = prepared(memtable, records)
  memtable.apply(between, 0)
  memtable.applyAll(records, 0, value)
  for (const record of [between, ...records]) model.apply(record, 0)
  isSame(allOf(memtable), allOf(model))
})

test('few points, and points in order, are applied without more ado', () => {
  const memtable = new Memtable(1)
  assert.equal(memtable.prepare([recordOf(1, [[1, 1_000, (i) => -i]])]), null)
  const inOrder = [recordOf(1, [[1, 70_000, (i) => i]]), recordOf(2, [[1, 70_000, (i) => 70_000 + i]])]
  assert.equal(prepared(memtable, inOrder).value.tags.size, 0)
  memtable.apply(inOrder[0]!, 0)
  assert.equal(prepared(memtable, [inOrder[1]!]).value.tags.size, 0)
})
