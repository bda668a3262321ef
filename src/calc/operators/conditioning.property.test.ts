import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { STATUS_BAD } from '../../series/columns.ts'
import type { FindPoint } from '../../series/reads.ts'
import { instantFromUs } from '../../time/instant.ts'
import { assertWithinLoad } from '../graph/load-margin.fixture.ts'
import {
  assertClose,
  assertEstimated,
  losesBends,
  makeCase,
  ranges,
  SPAN,
  setting,
  shifts,
} from './conditioning-cases.fixture.ts'
import type { Model } from './conditioning-model.fixture.ts'

const RUNS = { numRuns: 100 }

test('values at any times are those of the slow reference', async () => {
  await fc.assert(
    fc.asyncProperty(setting, ranges, fc.integer({ min: 1, max: 7 }), async (setting, range, step) => {
      const one = makeCase(setting, range)
      const times: number[] = []
      for (let t = range.from; t <= range.to; t += step) times.push(t)
      const found = await one.series.valuesAt(Float64Array.from(times))
      times.forEach((time, i) => {
        assertClose(found[i]!, one.slow.valueAt(one.model, time), `${one.text} at ${time}`)
      })
      const [from, to] = [instantFromUs(range.from), instantFromUs(times.at(-1)!)]
      assertEstimated(one, { kind: 'values', key: 1, count: times.length, from, to }, one.source.crossed)
    }),
    RUNS,
  )
})

test('raw points are those of the slow reference, and pages of them join without gap or repeat', async () => {
  await fc.assert(
    fc.asyncProperty(
      setting,
      ranges,
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom('asc' as const, 'desc' as const),
      async (setting, range, limit, order) => {
        const one = makeCase(setting, range)
        const { model, slow, series, text } = one
        const inside = ({ time }: { readonly time: number }) => time >= range.from && time < range.to
        const expected = slow.raws(model).filter(inside)
        if (order === 'desc') expected.reverse()
        let { from, to } = range
        for (let given = 0, more = true; more; ) {
          const before = one.source.crossed
          const ask = { from: instantFromUs(from), to: instantFromUs(to), order, limit }
          const result = await series.rawPoints(ask)
          assertEstimated(
            one,
            { kind: 'raw', ...ask, count: limit, isPage: true },
            one.source.crossed - before,
          )
          const { times, values, statuses } = result.points
          const page = expected.slice(given, given + limit)
          assert.deepEqual(
            [...times],
            page.map(({ time }) => time),
            text,
          )
          page.forEach(({ time, value, bad }, i) => {
            assertClose(values[i]!, value, `${text} raw at ${time}`)
            assert.equal(statuses[i] === STATUS_BAD, bad, `${text} status at ${time}`)
          })
          given += page.length
          more = result.more
          assert.equal(more, given < expected.length)
          if (order === 'asc') from = times.at(-1)! + 1
          else to = times.at(-1)!
        }
      },
    ),
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
        const raws = one.slow.raws(one.model)
        const expected = {
          before: raws.findLast(({ time }) => time < at),
          'before-or-at': raws.findLast(({ time }) => time <= at),
          after: raws.find(({ time }) => time > at),
          'after-or-at': raws.find(({ time }) => time >= at),
        }[find]
        const found = await one.series.rawPoint(find, instantFromUs(at))
        const need = { kind: 'point', find, at: instantFromUs(at) } as const
        assertEstimated(one, need, one.source.crossed)
        assert.equal(found?.time, expected?.time, `${one.text} ${find} ${at}`)
        if (found !== null && expected !== undefined) {
          assertClose(found.value, expected.value, `${one.text} ${find} ${at}`)
          assert.equal(found.bad, expected.bad, one.text)
        }
        const again = makeCase(setting, { from: at, to: at })
        assert.equal(await again.series.rawTime(find, instantFromUs(at)), found?.time ?? null)
        assertEstimated(again, need, again.source.crossed)
      },
    ),
    RUNS,
  )
})

test('integrals are those of the slow reference, without ramps where a signal switches', async () => {
  await fc.assert(
    fc.asyncProperty(
      setting,
      fc.uniqueArray(fc.integer({ min: -5, max: SPAN + 8 }), { minLength: 2, maxLength: 8 }),
      async (setting, edges) => {
        edges.sort((a, b) => a - b)
        const range = { from: edges[0]!, to: edges.at(-1)! }
        const one = makeCase(setting, range)
        fc.pre(!losesBends(one.model, one.slow))
        const spans = edges.slice(1).map((end, i) => [edges[i]!, end] as const)
        const { integrals, coveredUs } = await one.series.integrals(
          Float64Array.from(spans, ([start]) => start),
          Float64Array.from(spans, ([, end]) => end),
        )
        spans.forEach(([start, end], i) => {
          const { sum, covered } = one.slow.integral(one.model, start, end)
          assertClose(integrals[i]!, sum, `${one.text} integral ${start} to ${end}`)
          assertClose(coveredUs[i]!, covered, `${one.text} covered ${start} to ${end}`)
        })
        const ask = { from: instantFromUs(range.from), to: instantFromUs(range.to), count: spans.length }
        assertEstimated(one, { kind: 'integrals', key: 1, ...ask }, one.source.crossed)
      },
    ),
    RUNS,
  )
})

test('aggregates count the raw points of each window', async () => {
  await fc.assert(
    fc.asyncProperty(
      setting,
      fc.uniqueArray(fc.integer({ min: -5, max: SPAN + 8 }), { minLength: 2, maxLength: 5 }),
      async (setting, edges) => {
        edges.sort((a, b) => a - b)
        const range = { from: edges[0]!, to: edges.at(-1)! }
        const one = makeCase(setting, range)
        fc.pre(!losesBends(one.model, one.slow))
        const names = ['count', 'numGood', 'numBad', 'max', 'sum', 'timeAvg'] as const
        const found = await one.series.aggregates(Float64Array.from(edges), names)
        for (let w = 0; w + 1 < edges.length; w++) {
          const [start, end] = [edges[w]!, edges[w + 1]!]
          const points = one.slow.raws(one.model).filter(({ time }) => time >= start && time < end)
          const good = points.filter(({ bad }) => !bad).map(({ value }) => value)
          const { sum, covered } = one.slow.integral(one.model, start, end)
          const expected = {
            count: points.length,
            numGood: good.length,
            numBad: points.length - good.length,
            max: good.length === 0 ? Number.NaN : Math.max(...good),
            sum: good.length === 0 ? Number.NaN : good.reduce((a, b) => a + b),
            timeAvg: covered === 0 ? Number.NaN : sum / covered,
          }
          for (const name of names) {
            assertClose(found[name]![w]!, expected[name], `${one.text} ${name} ${start} to ${end}`)
          }
        }
        const [from, to] = [instantFromUs(range.from), instantFromUs(range.to)]
        const need = { kind: 'aggregates', key: 1, count: edges.length - 1, from, to, names } as const
        assertEstimated(one, need, one.source.crossed)
      },
    ),
    RUNS,
  )
})

test('values at good raw timestamps up to now are those of the raw points', async () => {
  await fc.assert(
    fc.asyncProperty(setting, ranges, async (setting, range) => {
      const { series, text } = makeCase(setting, range)
      const [from, to] = [instantFromUs(range.from), instantFromUs(range.to)]
      const { points } = await series.rawPoints({ from, to, order: 'asc', limit: 1000 })
      const values = await series.valuesAt(points.times)
      points.times.forEach((time, i) => {
        if (time > setting.now || points.statuses[i] === STATUS_BAD) return
        assertClose(values[i]!, points.values[i]!, `${text} at the raw point of ${time}`)
      })
    }),
    RUNS,
  )
})

test('moved forth and back a series is itself', async () => {
  await fc.assert(
    fc.asyncProperty(setting, ranges, shifts, async (setting, range, us) => {
      const plain = makeCase(setting, range)
      const back: Model = { kind: 'shift', a: { kind: 'shift', a: setting.model, us }, us: 0 - us }
      const moved = makeCase({ ...setting, model: back }, range)
      const [from, to] = [instantFromUs(range.from), instantFromUs(range.to)]
      const times = Float64Array.of(from, to)
      const ask = { from, to, order: 'asc', limit: 1000 } as const
      assert.deepEqual(await moved.series.rawPoints(ask), await plain.series.rawPoints(ask))
      assert.deepEqual(await moved.series.valuesAt(times), await plain.series.valuesAt(times))
      assert.deepEqual(
        await moved.series.currentPoint('before', to),
        await plain.series.currentPoint('before', to),
      )
      // What is shared depends on what is read at the same time.
      assertWithinLoad(moved.source.crossed, plain.source.crossed, moved.text)
    }),
    { numRuns: 100 },
  )
})
