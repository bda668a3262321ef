import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FIRST_AGGREGATE_NAMES } from '../../series/aggregate-names.ts'
import { STATUS_BAD } from '../../series/columns.ts'
import type { FindPoint } from '../../series/reads.ts'
import { instantFromUs } from '../../time/instant.ts'
import { costOf } from '../graph/array-source.fixture.ts'
import { assertWithinLoad } from '../graph/load-margin.fixture.ts'
import type { Need } from '../graph/need.ts'
import { SLOW_FUNCTIONS, type SlowFunction, slowValue } from '../slow-functions.fixture.ts'
import type { Model, Reference } from '../slow-reference.fixture.ts'
import {
  assertClose,
  assertPlanned,
  isTame,
  makeCase,
  ranges,
  type Shape,
  SPAN,
  setting,
  shapes,
} from './calculations-model.fixture.ts'

const RUNS = { numRuns: 150 }

test('values at any times are those of the slow reference', async () => {
  await fc.assert(
    fc.asyncProperty(setting, ranges, fc.integer({ min: 1, max: 7 }), async (setting, range, step) => {
      const one = makeCase(setting, range)
      const times: number[] = []
      for (let t = range.from; t <= range.to; t += step) times.push(t)
      fc.pre(isTame(one, times))
      const found = await one.series.valuesAt(Float64Array.from(times))
      times.forEach((time, i) => {
        assertClose(found[i]!, one.reference.valueAt(one.model, time), `at ${time}`)
      })
      const [from, to] = [instantFromUs(range.from), instantFromUs(times.at(-1)!)]
      assertPlanned(one, [{ kind: 'values', key: 1, count: times.length, from, to }], one.source.crossed)
    }),
    RUNS,
  )
})

/** A window that is a little longer than the last one ends between two microseconds. */
const TOTALS_OF_TOTALS: Parameters<typeof makeCase>[0] = {
  tags: [
    [[], false],
    [[], false],
    [[], false],
  ],
  shape: totalOf(totalOf(totalOf(0))),
  now: 0,
  pushDowns: 'all',
  page: 1,
}

function totalOf(total: Shape): Shape {
  return { total, window: { kind: 'laid', us: 1, anchor: 0 }, rateUs: 1 }
}

test('raw points are those of the slow reference, and pages of them join without gap or repeat', async () => {
  await fc.assert(
    fc.asyncProperty(
      setting,
      ranges,
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom('asc' as const, 'desc' as const),
      async (setting, range, limit, order) => {
        const one = makeCase(setting, range)
        const { model, reference, series } = one
        const expected = reference
          .rawTimes(model)
          .filter((time) => time >= range.from && time < range.to)
          .map((time) => reference.rawPoint(model, time))
        fc.pre(
          isTame(
            one,
            expected.map(({ time }) => time),
          ),
        )
        if (order === 'desc') expected.reverse()
        let { from, to } = range
        for (let given = 0, more = true; more; ) {
          const before = one.source.crossed
          const ask = { from: instantFromUs(from), to: instantFromUs(to), order, limit }
          const result = await series.rawPoints(ask)
          assertPlanned(
            one,
            [{ kind: 'raw', isPage: true, count: limit, ...ask }],
            one.source.crossed - before,
          )
          const { times, values, statuses } = result.points
          const page = expected.slice(given, given + limit)
          assert.deepEqual(
            [...times],
            page.map(({ time }) => time),
          )
          page.forEach(({ time, value, bad }, i) => {
            assertClose(values[i]!, value, `raw at ${time}`)
            assert.equal(statuses[i] === STATUS_BAD, bad, `status at ${time}`)
          })
          given += page.length
          more = result.more
          assert.equal(more, given < expected.length)
          if (order === 'asc') from = times.at(-1)! + 1
          else to = times.at(-1)!
        }
      },
    ),
    { ...RUNS, examples: [[TOTALS_OF_TOTALS, { from: instantFromUs(0), to: instantFromUs(9) }, 1, 'asc']] },
  )
})

test('values at good raw timestamps up to now are those of the raw points', async () => {
  await fc.assert(
    fc.asyncProperty(setting, ranges, async (setting, range) => {
      const one = makeCase(setting, range)
      const [from, to] = [instantFromUs(range.from), instantFromUs(range.to)]
      const { points } = await one.series.rawPoints({ from, to, order: 'asc', limit: 1000 })
      fc.pre(isTame(one, [...points.times]))
      const values = await one.series.valuesAt(points.times)
      points.times.forEach((time, i) => {
        if (time > setting.now || points.statuses[i] === STATUS_BAD) return
        assertClose(values[i]!, points.values[i]!, `at the raw point of ${time}`)
      })
    }),
    RUNS,
  )
})

test('the raw point next to an instant is that of the slow reference', async () => {
  await fc.assert(
    fc.asyncProperty(
      setting,
      fc.integer({ min: -3, max: SPAN + 3 }),
      fc.constantFrom<FindPoint>('before', 'before-or-at', 'after', 'after-or-at'),
      async (setting, at, find) => {
        const one = makeCase(setting, { from: at, to: at })
        const times = one.reference.rawTimes(one.model)
        const expected = {
          before: times.findLast((time) => time < at),
          'before-or-at': times.findLast((time) => time <= at),
          after: times.find((time) => time > at),
          'after-or-at': times.find((time) => time >= at),
        }[find]
        const found = await one.series.rawPoint(find, instantFromUs(at))
        if (expected === undefined) assert.equal(found, null)
        else {
          const point = one.reference.rawPoint(one.model, expected)
          fc.pre(isTame(one, [expected]))
          assert.equal(found?.time, expected)
          assertClose(found.value, point.value, `raw at ${expected}`)
          assert.equal(found.bad, point.bad)
        }
        assertPlanned(one, [{ kind: 'point', find, at: instantFromUs(at) }], one.source.crossed)
      },
    ),
    RUNS,
  )
})

test('integrals are those of the slow reference, whatever the spans', async () => {
  await fc.assert(
    fc.asyncProperty(
      setting,
      fc.uniqueArray(fc.integer({ min: -5, max: SPAN + 8 }), { minLength: 2, maxLength: 8 }),
      async (setting, edges) => {
        edges.sort((a, b) => a - b)
        const range = { from: edges[0]!, to: edges.at(-1)! }
        const one = makeCase(setting, range)
        const { reference, model } = one
        fc.pre(isTame(one, reference.rawTimes(model)))
        const spans = edges.slice(1).map((end, i) => [edges[i]!, end] as const)
        const kept = spans.filter((_, i) => i % 3 !== 1 || i === spans.length - 1)
        const { integrals, coveredUs } = await one.series.integrals(
          Float64Array.from(kept, ([start]) => start),
          Float64Array.from(kept, ([, end]) => end),
        )
        kept.forEach(([start, end], i) => {
          assertClose(integrals[i]!, reference.integral(model, start, end), `integral ${start} to ${end}`)
          assertClose(coveredUs[i]!, reference.covered(model, start, end), `covered ${start} to ${end}`)
        })
        const ask = { from: instantFromUs(range.from), to: instantFromUs(range.to), count: kept.length }
        assertPlanned(one, [{ kind: 'integrals', key: 1, ...ask }], one.source.crossed)
      },
    ),
    RUNS,
  )
})

test('aggregates are over the raw points of each window, timeAvg over its signal', async () => {
  await fc.assert(
    fc.asyncProperty(
      setting,
      fc.uniqueArray(fc.integer({ min: -5, max: SPAN + 8 }), { minLength: 2, maxLength: 5 }),
      fc.subarray([...FIRST_AGGREGATE_NAMES], { minLength: 1 }),
      async (setting, edges, names) => {
        edges.sort((a, b) => a - b)
        const range = { from: edges[0]!, to: edges.at(-1)! }
        const one = makeCase(setting, range)
        const { reference, model } = one
        fc.pre(isTame(one, reference.rawTimes(model)))
        const found = await one.series.aggregates(Float64Array.from(edges), names)
        for (let w = 0; w + 1 < edges.length; w++) {
          const [start, end] = [edges[w]!, edges[w + 1]!]
          const points = reference
            .rawTimes(model)
            .filter((time) => time >= start && time < end)
            .map((time) => reference.rawPoint(model, time))
          const good = points.filter(({ bad }) => !bad).map(({ value }) => value)
          const sorted = good.toSorted((a, b) => a - b)
          const n = good.length
          const mean = good.reduce((sum, value) => sum + value, 0) / n
          const squares = good.reduce((sum, value) => sum + (value - mean) ** 2, 0)
          const variance = n === 1 ? 0 : n === 0 ? Number.NaN : squares / (n - 1)
          const covered = reference.covered(model, start, end)
          const expected = {
            min: sorted[0] ?? Number.NaN,
            max: sorted.at(-1) ?? Number.NaN,
            avg: mean,
            median: n === 0 ? Number.NaN : (sorted[(n - 1) >> 1]! + sorted[n >> 1]!) / 2,
            variance,
            stdDev: Math.sqrt(variance),
            first: good[0] ?? Number.NaN,
            last: good.at(-1) ?? Number.NaN,
            sum: n === 0 ? Number.NaN : mean * n,
            range: sorted.at(-1)! - sorted[0]!,
            count: points.length,
            numGood: n,
            numBad: points.length - n,
            timeAvg: covered === 0 ? Number.NaN : reference.integral(model, start, end) / covered,
          }
          for (const name of names)
            assertClose(found[name]![w]!, expected[name], `${name} ${start} to ${end}`)
        }
        assert.deepEqual(Object.keys(found).sort(), [...names].sort())
        const ask = {
          from: instantFromUs(range.from),
          to: instantFromUs(range.to),
          count: edges.length - 1,
        }
        assertPlanned(one, [{ kind: 'aggregates', key: 1, names, ...ask }], one.source.crossed)
      },
    ),
    RUNS,
  )
})

test("the current point is made of the inputs' current points, or is the value now", async () => {
  const current = (
    model: Model,
    reference: Reference,
    at: number,
  ): { time: number | null; value: number; bad: boolean } | null => {
    switch (model.kind) {
      case 'constant':
        return { time: null, value: model.value, bad: false }
      case 'tag': {
        const row = model.rows.findLast(([time]) => time <= at)
        return row === undefined ? null : { time: row[0], value: row[1], bad: row[2] ?? false }
      }
      case 'total': {
        const value = reference.valueAt(model, at)
        return { time: at, value, bad: Number.isNaN(value) }
      }
      case 'call': {
        const points = model.inputs.map((input) => current(input, reference, at))
        const found = points.filter((point) => point !== null)
        const { leavesNullsOut }: SlowFunction = SLOW_FUNCTIONS[model.name]
        if (found.length === 0 || (found.length < points.length && leavesNullsOut !== true)) return null
        const value = slowValue(
          model.name,
          points.map((point) => point?.value ?? Number.NaN),
        )
        const times = found.flatMap((point) => (point.time === null ? [] : [point.time]))
        const isBad = (point: { time: number | null; bad: boolean }): boolean =>
          point.bad && (leavesNullsOut !== true || point.time !== null)
        const bad = Number.isNaN(value) || found.some(isBad)
        return { time: times.length === 0 ? null : Math.max(...times), value, bad }
      }
    }
  }
  await fc.assert(
    fc.asyncProperty(setting, async (setting) => {
      const one = makeCase(setting, { from: setting.now, to: setting.now })
      const expected = current(one.model, one.reference, setting.now)
      fc.pre(!(Math.abs(expected?.value ?? 0) > 1e9) && isTame(one, [setting.now]))
      const at = instantFromUs(setting.now)
      const found = await one.series.currentPoint('before-or-at', at)
      if (expected === null) assert.equal(found, null)
      else {
        assert.equal(found?.time, expected.time)
        assertClose(found.value, expected.value, 'current')
        assert.equal(found.bad, expected.bad)
      }
      assertPlanned(one, [{ kind: 'current', find: 'before-or-at', at }], one.source.crossed)
    }),
    RUNS,
  )
})

test('calculations of one call share their reads, and what was planned together covers what they fetch together', async () => {
  await fc.assert(
    fc.asyncProperty(
      setting,
      fc.array(shapes, { minLength: 1, maxLength: 3 }),
      ranges,
      fc.array(fc.nat(5), { minLength: 4, maxLength: 4 }),
      async (setting, shapes, range, kinds) => {
        const first = makeCase(setting, range)
        const cases = [first, ...shapes.map((shape) => makeCase({ ...setting, shape }, range, first.source))]
        const [from, to] = [instantFromUs(range.from), instantFromUs(range.to)]
        const times = Float64Array.of(from, to)
        const needs: readonly Need[] = [
          { kind: 'values', key: 1, count: 2, from, to },
          { kind: 'raw', isPage: true, from, to, order: 'asc', count: 3 },
          { kind: 'raw', isPage: true, from, to, order: 'desc', count: 3 },
          { kind: 'point', find: 'before', at: to },
          { kind: 'integrals', key: 2, count: 1, from, to },
          { kind: 'aggregates', key: 2, count: 1, from, to, names: FIRST_AGGREGATE_NAMES },
        ]
        const [starts, ends] = [times.subarray(0, 1), times.subarray(1)]
        const reads = cases.flatMap(({ series }, i) => series.estimate([needs[kinds[i]!]!]))
        await Promise.all(
          cases.map(({ series }, i) => {
            const ask = needs[kinds[i]!]!
            switch (ask.kind) {
              case 'values':
                return series.valuesAt(times)
              case 'raw':
                return series.rawPoints({ ...ask, limit: ask.count })
              case 'point':
                return series.rawPoint(ask.find, ask.at)
              case 'integrals':
                return series.integrals(starts, ends)
              default:
                return series.aggregates(times, FIRST_AGGREGATE_NAMES)
            }
          }),
        )
        const what = reads.map(({ key }) => key).join('; ')
        assertWithinLoad(first.source.crossed, costOf(reads, first.source), what, cases.length)
      },
    ),
    RUNS,
  )
})
