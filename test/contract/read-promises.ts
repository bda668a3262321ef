import assert from 'node:assert/strict'
import type { FindPoint } from '../../src/historian/contract.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import {
  concatColumns,
  makeColumns,
  type PointColumns,
  reverseColumns,
  sliceColumns,
} from '../../src/series/columns.ts'
import { END_INSTANT, MIN_INSTANT } from '../../src/time/instant.ts'
import { assertPoints, at, EVER, points, type Row, ramp, rows } from './points.ts'
import type { Bench, Promised } from './subject.ts'

const BAD = 1

/** Writes points and gives the tag. */
async function stored({ historian, context, tag }: Bench, ...batches: PointColumns[]): Promise<string> {
  const name = tag()
  for (const batch of batches) {
    await historian.write(writeBatch([{ tag: name, points: batch }], true), context)
  }
  return name
}

async function readAll({ historian, context }: Bench, tag: string): Promise<PointColumns> {
  const [result] = await historian.readRanges([{ tag, ...EVER, order: 'asc', limit: 1_000_000 }], context)
  assert.equal(result!.more, false)
  return result!.points
}

export function declareReadPromises(promised: Promised): void {
  promised('points come in time order, however they were written', async (bench) => {
    const tag = await stored(bench, points([30, 3], [10, 1]), points([20, 2]), points([5, 0], [40, 4]))
    assertPoints(await readAll(bench, tag), points([5, 0], [10, 1], [20, 2], [30, 3], [40, 4]))
  })

  promised(
    'there is one point per timestamp and the last write wins, inside one batch too',
    async (bench) => {
      const tag = await stored(
        bench,
        points([10, 1], [20, 2]),
        points([20, 7], [10, 5], [20, 8, BAD]),
        points([10, 6]),
      )
      assertPoints(await readAll(bench, tag), points([10, 6], [20, 8, BAD]))
    },
  )

  promised('the last write wins inside one batch when a tag is named twice in it', async (bench) => {
    const { historian, context } = bench
    const tag = bench.tag()
    const twice = [
      { tag, points: points([10, 1], [20, 1]) },
      { tag, points: points([20, 2], [30, 2]) },
    ]
    await historian.write(writeBatch(twice, true), context)
    assertPoints(await readAll(bench, tag), points([10, 1], [20, 2], [30, 2]))
  })

  promised('a range holds its first instant and not its last', async (bench) => {
    const { historian, context } = bench
    const tag = await stored(bench, points([10, 1], [20, 2], [30, 3]))
    const read = async (from: number, to: number) => {
      const [result] = await historian.readRanges(
        [{ tag, from: at(from), to: at(to), order: 'asc', limit: 10 }],
        context,
      )
      return [...result!.points.times]
    }
    assert.deepEqual(await read(10, 30), [10, 20])
    assert.deepEqual(await read(11, 31), [20, 30])
    assert.deepEqual(await read(9, 10), [])
    assert.deepEqual(await read(30, 31), [30])
    assert.deepEqual(await read(31, 99), [])
    assert.deepEqual(await read(20, 20), [])
  })

  promised('a limit cuts off at the far end of the order, and more tells whether it did', async (bench) => {
    const { historian, context } = bench
    const tag = await stored(bench, points([10, 1], [20, 2], [30, 3]))
    const read = async (order: 'asc' | 'desc', limit: number) => {
      const [result] = await historian.readRanges([{ tag, from: at(10), to: at(31), order, limit }], context)
      return { times: [...result!.points.times], more: result!.more }
    }
    assert.deepEqual(await read('asc', 2), { times: [10, 20], more: true })
    assert.deepEqual(await read('asc', 3), { times: [10, 20, 30], more: false })
    assert.deepEqual(await read('desc', 1), { times: [30], more: true })
    assert.deepEqual(await read('desc', 2), { times: [30, 20], more: true })
    assert.deepEqual(await read('desc', 3), { times: [30, 20, 10], more: false })
    assert.deepEqual(await read('desc', 99), { times: [30, 20, 10], more: false })
  })

  promised(
    'pages join without gap or repeat in both orders, over more points than any block',
    async (bench) => {
      const { historian, context } = bench
      const all = concatColumns([ramp(9_000, 1_000, 7), ramp(5_000, 900_000, 13)])
      const tag = await stored(bench, sliceColumns(all, 0, 6_000), sliceColumns(all, 6_000, 14_000))
      for (const order of ['asc', 'desc'] as const) {
        const pages: PointColumns[] = []
        let { from, to } = EVER
        for (let more = true; more; ) {
          const [page] = await historian.readRanges([{ tag, from, to, order, limit: 1_111 }], context)
          pages.push(page!.points)
          more = page!.more
          const last = page!.points.times.at(-1)!
          if (order === 'asc') from = at(last + 1)
          else to = at(last)
        }
        assertPoints(concatColumns(pages), order === 'asc' ? all : reverseColumns(all), order)
      }
    },
  )

  promised('values, statuses and microseconds survive the round trip', async (bench) => {
    const values = [
      0,
      -0,
      5e-324,
      -5e-324,
      2.2250738585072014e-308,
      Number.MAX_VALUE,
      -Number.MAX_VALUE,
      Number.EPSILON,
      0.1 + 0.2,
      Number.MAX_SAFE_INTEGER + 2,
      1 / 3,
      -273.15,
    ]
    const times = [
      MIN_INSTANT,
      MIN_INSTANT + 1,
      -1,
      0,
      1,
      1_700_000_000_123_456,
      1_700_000_000_123_457,
      END_INSTANT - 1,
    ]
    const expected = points(
      ...times.map((time, index): Row => [time, values[index % values.length]!, index % 2]),
      ...values.map((value, index): Row => [2_000_000_000_000_000 + index, value, 1 - (index % 2)]),
    )
    const tag = await stored(bench, expected)
    const sorted = points(...rows(expected).toSorted((a, b) => a[0] - b[0]))
    assertPoints(await readAll(bench, tag), sorted)
  })

  promised('a tag that does not exist, or has no points, gives none', async (bench) => {
    const { historian, context } = bench
    const empty = bench.tag()
    await historian.write(writeBatch([{ tag: empty, points: points() }], true), context)
    for (const tag of [empty, bench.tag()]) {
      assertPoints(await readAll(bench, tag), points())
      const found = await historian.readPoints([{ tag, find: 'before', at: at(0) }], context)
      assert.ok(Number.isNaN(found.times[0]))
      const [boundingValues] = await historian.readBoundingValues([tag], Float64Array.of(0, 1), context)
      assert.deepEqual(
        [...boundingValues!.beforeTimes, ...boundingValues!.afterTimes],
        Array(4).fill(Number.NaN),
      )
      assert.deepEqual(await historian.estimatePoints([{ tag, ...EVER }], 10, context), [0])
    }
  })

  promised('each way to find a point finds the nearest on its side, BAD ones too', async (bench) => {
    const { historian, context } = bench
    const tag = await stored(bench, points([10, 1], [20, 2, BAD], [30, 3]))
    const find = async (how: FindPoint, time: number) => {
      const found = await historian.readPoints([{ tag, find: how, at: at(time) }], context)
      return Number.isNaN(found.times[0]) ? null : rows(found)[0]
    }
    assert.equal(await find('before', 10), null)
    assert.deepEqual(await find('before', 11), [10, 1, 0])
    assert.deepEqual(await find('before', 20), [10, 1, 0])
    assert.deepEqual(await find('before', 99), [30, 3, 0])
    assert.equal(await find('before-or-at', 9), null)
    assert.deepEqual(await find('before-or-at', 10), [10, 1, 0])
    assert.deepEqual(await find('before-or-at', 20), [20, 2, 1])
    assert.deepEqual(await find('after', 9), [10, 1, 0])
    assert.deepEqual(await find('after', 10), [20, 2, 1])
    assert.deepEqual(await find('after', 20), [30, 3, 0])
    assert.equal(await find('after', 30), null)
    assert.deepEqual(await find('after-or-at', 20), [20, 2, 1])
    assert.deepEqual(await find('after-or-at', 30), [30, 3, 0])
    assert.equal(await find('after-or-at', 31), null)
  })

  promised(
    'answers come in the order of the queries, and the same tag may be asked for twice',
    async (bench) => {
      const { historian, context } = bench
      const one = await stored(bench, points([10, 1], [20, 1]))
      const two = await stored(bench, points([15, 2]))
      const found = await historian.readPoints(
        [
          { tag: two, find: 'before', at: at(99) },
          { tag: one, find: 'after', at: at(0) },
          { tag: bench.tag(), find: 'after', at: at(0) },
          { tag: one, find: 'before', at: at(99) },
        ],
        context,
      )
      assert.deepEqual([...found.times], [15, 10, Number.NaN, 20])
      const ranges = await historian.readRanges(
        [
          { tag: two, ...EVER, order: 'asc', limit: 9 },
          { tag: one, ...EVER, order: 'desc', limit: 9 },
          { tag: one, ...EVER, order: 'asc', limit: 1 },
        ],
        context,
      )
      assert.deepEqual(
        ranges.map((range) => [...range.points.times]),
        [[15], [20, 10], [10]],
      )
    },
  )

  promised('bounding values are the good points at or beside each time', async (bench) => {
    const { historian, context } = bench
    const tag = await stored(bench, points([10, 1], [20, 2, BAD], [30, 3], [40, 4, BAD], [50, 5, BAD]))
    const times = Float64Array.of(9, 10, 15, 20, 25, 30, 31, 45, 60)
    const [found] = await historian.readBoundingValues([tag], times, context)
    const none = Number.NaN
    assert.deepEqual([...found!.beforeTimes], [none, 10, 10, 10, 10, 30, 30, 30, 30])
    assert.deepEqual([...found!.afterTimes], [10, 10, 30, 30, 30, 30, none, none, none])
    assert.deepEqual([...found!.beforeValues].slice(1, 6), [1, 1, 1, 1, 3])
    assert.deepEqual([...found!.afterValues].slice(0, 6), [1, 1, 3, 3, 3, 3])
  })

  promised('bounding values skip long runs of BAD points', async (bench) => {
    const { historian, context } = bench
    const bad = ramp(10_000, 1_000, 1)
    bad.statuses.fill(BAD)
    const tag = await stored(bench, concatColumns([points([5, 1], [6, 2]), bad, points([90_000, 3])]))
    const times = Float64Array.from({ length: 300 }, (_, index) => 7 + index * 40)
    const [found] = await historian.readBoundingValues([tag], times, context)
    assert.ok(found!.beforeTimes.every((time) => time === 6))
    assert.ok(found!.afterTimes.every((time) => time === 90_000))
  })

  promised(
    'an estimate is never below what is there and never more than four times as much',
    async (bench) => {
      const { historian, context } = bench
      const all = ramp(12_345, 0, 10)
      const tag = await stored(bench, all, points([3, 3], [13, 3]))
      const edges = [0, 1, 9, 10, 3_000, 40_960, 70_000, 123_440, 123_441, 500_000]
      for (const from of edges) {
        for (const to of edges.filter((edge) => edge > from)) {
          const range = { tag, from: at(from), to: at(to) }
          const [read] = await historian.readRanges([{ ...range, order: 'asc', limit: 20_000 }], context)
          const count = read!.points.times.length
          const [estimate] = await historian.estimatePoints([range], 1_000_000, context)
          assert.ok(estimate! >= count, `${estimate} of ${count} in ${from} .. ${to}`)
          assert.ok(estimate! <= 4 * count, `${estimate} of ${count} in ${from} .. ${to}`)
          const [capped] = await historian.estimatePoints([range], 100, context)
          assert.ok(count >= 100 ? capped! >= 100 : capped! >= count)
        }
      }
    },
  )

  promised('every method rejects with the reason of a signal that is aborted', async ({ historian }) => {
    const reason = new Error('enough')
    const context = { signal: AbortSignal.abort(reason) }
    const tag = 'x'
    const calls = [
      () => historian.checkHealth(context),
      () => historian.findTags([tag], context),
      () => historian.searchTags({ pattern: null, after: null, limit: 1 }, context),
      () => historian.readPoints([{ tag, find: 'after', at: at(0) }], context),
      () => historian.readRanges([{ tag, ...EVER, order: 'asc', limit: 1 }], context),
      () => historian.readBoundingValues([tag], Float64Array.of(1), context),
      () => historian.estimatePoints([{ tag, ...EVER }], 1, context),
      () => historian.write(writeBatch([{ tag, points: points([1, 1]) }], true), context),
    ]
    for (const call of calls) await assert.rejects(Promise.resolve(call()), (error) => error === reason)
  })

  promised('a read under way stops soon after it is aborted', async (bench) => {
    const tag = await stored(bench, ramp(10_000, 0, 1))
    const controller = new AbortController()
    const reason = new Error('enough')
    const ranges = Array.from({ length: 200_000 }, () => ({ tag, from: at(10), to: at(9_000) }))
    const reading = bench.historian.estimatePoints(ranges, 1_000_000, { signal: controller.signal })
    setTimeout(() => controller.abort(reason), 1)
    await assert.rejects(reading, (error) => error === reason)
  })

  promised('a read that may leave out what is damaged is like any other where nothing is', async (bench) => {
    const tag = await stored(bench, ramp(50, 0, 1))
    const range = { tag, from: at(3), to: at(40), limit: 20 } as const
    for (const order of ['asc', 'desc'] as const) {
      const queries = [{ ...range, order }, { ...range, order, partial: true } as const]
      const [whole, partial] = await bench.historian.readRanges(queries, bench.context)
      assert.deepEqual(partial, whole)
      assert.equal(whole!.points.times.length, 20)
      assert.equal(partial!.missing, undefined)
    }
  })

  promised('a healthy historian says so', async ({ historian, context }) => {
    await historian.checkHealth(context)
  })

  promised('columns that a caller keeps do not change under later reads', async (bench) => {
    const tag = await stored(bench, ramp(5_000, 0, 1))
    const other = await stored(bench, ramp(5_000, 1_000_000, 3))
    const kept = await readAll(bench, tag)
    const copy = makeColumns(5_000)
    copy.times.set(kept.times)
    copy.values.set(kept.values)
    await readAll(bench, other)
    await stored(bench, ramp(100, 5, 5))
    assertPoints(kept, copy)
  })
}
