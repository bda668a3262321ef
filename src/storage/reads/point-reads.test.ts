import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns, type PointColumns } from '../../series/columns.ts'
import { goodPoints, interpolate } from '../../series/interpolate.ts'
import type { BoundingValues } from '../../series/reads.ts'
import { instantFromUs } from '../../time/instant.ts'
import { mergePoints } from '../blocks/merge-points.ts'
import { picks, somePoints, someTimes } from '../blocks/points.fixture.ts'
import { EngineSnapshot } from '../engine/engine-snapshot.ts'
import { openFileStore } from '../engine/open-file-store.ts'

const { signal } = new AbortController()

/** Bounding values by looking at all points. */
function plainBoundingValues(points: PointColumns, asked: Float64Array): BoundingValues {
  const { times, values } = goodPoints(points)
  const before = Array.from(asked, (at) => times.findLastIndex((time) => time <= at))
  const after = Array.from(asked, (at) => times.findIndex((time) => time >= at))
  const pick = (column: Float64Array, indexes: number[]) =>
    Float64Array.from(indexes, (index) => column[index] ?? Number.NaN)
  return {
    beforeTimes: pick(times, before),
    beforeValues: pick(values, before),
    afterTimes: pick(times, after),
    afterValues: pick(values, after),
  }
}

/** Points that replace some of others, lie between them, and follow them. */
function overwrites(points: PointColumns, places: readonly (readonly [number, number, boolean])[]) {
  const { times } = points
  const found = new Map<number, readonly [value: number, status: number]>()
  for (const [at, value, isBad] of places) {
    const index = at % (times.length + 2)
    const time = index < times.length ? times[index]! : times.at(-1)! + index
    found.set(time + (value % 3 === 0 ? 1 : 0), [value / 8, isBad ? 1 : 0])
  }
  const columns = makeColumns(found.size)
  ;[...found]
    .sort(([a], [b]) => a - b)
    .forEach(([time, [value, status]], i) => {
      columns.times[i] = time
      columns.values[i] = value
      columns.statuses[i] = status
    })
  return columns
}

test('bounding values and interpolated values are those of all points, wherever they are kept', async (t) => {
  const store = await openFileStore(temporaryFolder(t), { historian: 'plant', owner: true })
  t.after(() => store.close())
  let tags = 0
  // Reads that let each other in at every step look at blocks through the same view.
  const { isDue } = EngineSnapshot.prototype
  let isResting = false
  t.mock.method(EngineSnapshot.prototype, 'isDue', function (this: EngineSnapshot) {
    return isResting || isDue.call(this)
  })
  const over = fc.array(fc.tuple(fc.nat(), fc.nat(1_000), fc.boolean()), { minLength: 1, maxLength: 30 })
  const ways = fc.constantFrom('memory', 'blocks', 'blocks and memory', 'rewritten blocks')
  await fc.assert(
    fc.asyncProperty(
      somePoints(6_000),
      over,
      ways,
      picks,
      fc.boolean(),
      async (first, places, way, picked, stepped) => {
        const tag = `tag ${tags++}`
        const other = { ...first, values: first.values.map((value) => value / 2 - 1) }
        const written = [
          { tag, points: first },
          { tag: 'other', points: other },
        ]
        if (tags > 1) await store.deleteTags(['other'], false, signal)
        await store.write(writeBatch(written, true), signal)
        if (way !== 'memory') await store.flush()
        let points = first
        if (way !== 'blocks') {
          const second = overwrites(first, places)
          points = mergePoints(first, second)
          await store.write(writeBatch([{ tag, points: second }], false), signal)
          if (way === 'rewritten blocks') await store.flush()
        }
        const times = someTimes(points, picked)
        const expected = plainBoundingValues(points, times)
        const shape = { stepped, holdUntil: instantFromUs(points.times.at(-1)! + 2) }
        isResting = tags % 2 === 0
        const [[found], [values], [others]] = await Promise.all([
          store.readBoundingValues([tag], times, signal),
          store.readInterpolated([{ tag, times, ...shape }], signal),
          store.readInterpolated([{ tag: 'other', times, ...shape }], signal),
        ])
        isResting = false
        // Where there is no point, its value says nothing.
        for (const side of ['before', 'after'] as const) {
          assert.deepEqual(found![`${side}Times`], expected[`${side}Times`])
          expected[`${side}Times`].forEach((time, i) => {
            if (!Number.isNaN(time)) assert.equal(found![`${side}Values`][i], expected[`${side}Values`][i])
          })
        }
        assert.deepEqual(values, interpolate(expected, times, shape))
        assert.deepEqual(others, interpolate(plainBoundingValues(other, times), times, shape))
      },
    ),
    { numRuns: 150 },
  )
})

test('a tag without good points, and one that does not exist, have no values', async (t) => {
  const store = await openFileStore(temporaryFolder(t), { historian: 'plant', owner: true })
  t.after(() => store.close())
  const points = makeColumns(40)
  for (let i = 0; i < 40; i++) points.times[i] = i * 10
  points.statuses.fill(1)
  await store.write(writeBatch([{ tag: 'bad', points }], true), signal)
  await store.flush()
  const times = Float64Array.of(-5, 0, 7, 390, 1_000)
  const shape = { stepped: false, holdUntil: instantFromUs(2_000) }
  const queries = ['bad', 'none'].map((tag) => ({ tag, times, ...shape }))
  for (const values of await store.readInterpolated(queries, signal)) {
    assert.deepEqual([...values], Array(5).fill(Number.NaN))
  }
  assert.deepEqual(await store.readInterpolated([{ ...queries[0]!, times: new Float64Array(0) }], signal), [
    new Float64Array(0),
  ])
})

test('values at very many times behind the last point let others in', async (t) => {
  const store = await openFileStore(temporaryFolder(t), { historian: 'plant', owner: true })
  t.after(() => store.close())
  await store.write(writeBatch([{ tag: 'A', points: makeColumns(1) }], true), signal)
  await store.flush()
  let steps = 0
  let longest = 0
  t.mock.method(EngineSnapshot.prototype, 'isDue', () => {
    longest = Math.max(longest, steps)
    return ++steps > 50
  })
  const { pause } = EngineSnapshot.prototype
  t.mock.method(EngineSnapshot.prototype, 'pause', function (this: EngineSnapshot) {
    steps = 0
    return pause.call(this)
  })
  const times = Float64Array.from({ length: 1_000 }, (_, i) => 10 + i)
  const query = { tag: 'A', times, stepped: true, holdUntil: instantFromUs(500) }
  const [values] = await store.readInterpolated([query], signal)
  assert.deepEqual(
    values,
    Float64Array.from(times, (time) => (time <= 500 ? 0 : Number.NaN)),
  )
  assert.equal(longest, 50)
})
