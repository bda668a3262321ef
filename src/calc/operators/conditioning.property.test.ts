import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTag } from '../../grammar/parser.ts'
import { STATUS_BAD } from '../../series/columns.ts'
import type { FindPoint } from '../../series/reads.ts'
import { instantFromUs } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import { SIGNATURES } from '../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../graph/array-source.fixture.ts'
import type { Need } from '../graph/need.ts'
import { seriesOf, type TestSeries } from '../graph/series.fixture.ts'
import { type Model, modelText } from './conditioning-model.fixture.ts'
import { SlowConditioning, type World } from './slow-conditioning.fixture.ts'

/** Times of stored points; requests reach a little further on both sides. */
const SPAN = 40

type Tag = Model & { readonly kind: 'tag' }

const rows: fc.Arbitrary<readonly Row[]> = fc
  .uniqueArray(fc.tuple(fc.nat(SPAN), fc.integer({ min: -8, max: 8 }), fc.nat(4)), {
    maxLength: 12,
    selector: ([time]) => time,
  })
  .map((rows) => rows.sort(([a], [b]) => a - b).map(([time, value, bad]): Row => [time, value, bad === 0]))

const tags = fc.tuple(...[0, 1, 2].map((i) => tagNamed(`T${i}`)))

function tagNamed(name: string): fc.Arbitrary<Tag> {
  return fc.record({
    kind: fc.constant('tag' as const),
    name: fc.constant(name),
    stepped: fc.boolean(),
    rows,
  })
}

const constants = fc.integer({ min: -6, max: 6 }).map((n): Model => ({ kind: 'constant', value: n / 2 }))
const branches = fc.oneof(constants, fc.constant<Model>({ kind: 'constant', value: Number.NaN }))
const shifts = fc.integer({ min: -15, max: 15 })

/** Calculations over tags; `a` and `b` of comparisons run linear between their raw points. */
function modelsOf(tags: readonly Model[]): fc.Arbitrary<Model> {
  const tag = fc.constantFrom(...tags)
  return fc.letrec<{ linear: Model; any: Model }>((tie) => {
    const linear = tie('linear')
    const any = tie('any')
    return {
      linear: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        { weight: 4, arbitrary: tag },
        { weight: 1, arbitrary: constants },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant('add' as const), a: linear, b: linear }) },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant('nobad' as const), a: tag }) },
        {
          weight: 1,
          arbitrary: fc.record({
            kind: fc.constantFrom('stepped' as const, 'steppedraw' as const),
            a: linear,
          }),
        },
        {
          weight: 1,
          arbitrary: fc.record({ kind: fc.constant('shift' as const), a: linear, us: shifts }),
        },
        { weight: 1, arbitrary: thresholds(linear, fc.oneof(branches, linear)) },
      ),
      any: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        { weight: 3, arbitrary: linear },
        { weight: 2, arbitrary: thresholds(linear, fc.oneof(branches, any)) },
        {
          weight: 2,
          arbitrary: fc.record({
            kind: fc.constant('equals' as const),
            a: linear,
            b: linear,
            yes: fc.oneof(branches, any),
            no: fc.oneof(branches, any),
            precision: fc.constantFrom(0, 0.5, 2, 10, 50, 250),
            percent: fc.boolean(),
          }),
        },
        {
          weight: 1,
          arbitrary: fc.record({
            kind: fc.constant('time' as const),
            at: fc.integer({ min: -5, max: SPAN }),
            before: fc.oneof(branches, any),
            after: fc.oneof(branches, any),
          }),
        },
        {
          weight: 2,
          arbitrary: fc.record({
            kind: fc.constantFrom<('stepped' | 'steppedraw' | 'nobad' | 'epoch')[]>(
              ...(['stepped', 'steppedraw', 'nobad', 'epoch'] as const),
            ),
            a: any,
          }),
        },
        {
          weight: 1,
          arbitrary: fc.record({
            kind: fc.constantFrom('shift' as const, 'point' as const),
            a: any,
            us: shifts,
          }),
        },
        {
          weight: 2,
          arbitrary: fc.record({
            kind: fc.constantFrom('lowpass' as const, 'highpass' as const),
            a: any,
            periodUs: fc.constantFrom(1, 3, 20),
          }),
        },
        {
          weight: 1,
          arbitrary: fc.record({ kind: fc.constantFrom('add' as const, 'mul' as const), a: any, b: any }),
        },
      ),
    }
  }).any
}

function thresholds(compared: fc.Arbitrary<Model>, chosen: fc.Arbitrary<Model>): fc.Arbitrary<Model> {
  return fc.record({
    kind: fc.constant('threshold' as const),
    a: compared,
    b: compared,
    yes: chosen,
    no: chosen,
  })
}

const setting = tags.chain((tags) =>
  fc.record({
    tags: fc.constant(tags),
    model: modelsOf(tags),
    now: fc.integer({ min: 0, max: SPAN + 10 }),
    pushDowns: fc.constantFrom('all' as const, 'none' as const),
    page: fc.integer({ min: 1, max: 6 }),
  }),
)

type Setting = typeof setting extends fc.Arbitrary<infer Made> ? Made : never

interface Case {
  readonly model: Model
  readonly slow: SlowConditioning
  readonly source: ArraySource
  readonly series: TestSeries
  readonly text: string
}

function makeCase({ tags, model, now, pushDowns, page }: Setting, { from, to }: Omit<World, 'now'>): Case {
  const source = new ArraySource(new Map(tags.map(({ name, rows }) => [name, columnsOf(rows)])))
  const range = { from: instantFromUs(from), to: instantFromUs(to) }
  const context = { source, now: instantFromUs(now), zone: UTC, range, pagePoints: page }
  const body = modelText(model)
  const text = body.includes('(') ? `calc/${body}` : body
  const tree = parseTag(text, { signatures: SIGNATURES, defaultHistorian: null, now: context.now, zone: UTC })
  // Whether two values are equal that differ by a rounding, nobody can say.
  fc.pre(isTame(model, new SlowConditioning({ now, from, to })))
  const series = seriesOf(tree, context, ({ name }) =>
    storedTag(name, tags.find((tag) => tag.name === name)!.stepped, pushDowns),
  )
  return { model, slow: new SlowConditioning({ now, from, to }), source, series, text }
}

const ranges = fc
  .tuple(fc.integer({ min: -6, max: SPAN + 6 }), fc.integer({ min: 1, max: SPAN + 12 }))
  .map(([from, length]) => ({ from, to: from + length }))

const RUNS = { numRuns: 100 }

function assertClose(actual: number, expected: number, what: string): void {
  if (Number.isNaN(expected)) assert.ok(Number.isNaN(actual), `${what}: ${actual}, and there is no value`)
  else {
    const off = Math.abs(actual - expected)
    assert.ok(off <= 1e-9 * Math.max(1, Math.abs(expected)), `${what}: ${actual}, and it is ${expected}`)
  }
}

/**
 * Whether NOBAD takes away raw points at which its input ceases to have a value, or at which EPOCH_MS switches: nothing
 * says then any more where that is.
 */
function losesBends(model: Model, slow: SlowConditioning): boolean {
  if (model.kind === 'nobad') {
    const bad = slow.raws(model.a).filter((raw) => raw.bad)
    if (bad.some(({ value }) => Number.isNaN(value))) return true
    if (bad.length > 0 && modelText(model).includes('EPOCH_MS')) return true
  }
  return Object.values(model).some(
    (part) => typeof part === 'object' && 'kind' in part && losesBends(part, slow),
  )
}

/** Whether no comparison depends on the last digits of what it compares. */
function isTame(model: Model, slow: SlowConditioning): boolean {
  if (model.kind === 'threshold' || model.kind === 'equals') {
    for (let t = -60; t < 2 * SPAN; t++) {
      const gaps = (['at', 'before'] as const).flatMap((side) => slow.gaps(model, t, side))
      if (gaps.some((gap) => gap !== 0 && Math.abs(gap) < 1e-9)) return false
    }
  }
  return Object.values(model).every(
    (part) => typeof part !== 'object' || !('kind' in part) || isTame(part, slow),
  )
}

/** What was estimated for a need covers what answering it fetched. */
function assertEstimated({ series, source, text }: Case, need: Need, crossed: number): void {
  const reads = series.estimate([need])
  // What lies next to a point that is found is estimated as if it lay at the instant: a call may fetch twice as much.
  const cost = costOf(reads, source) * (need.kind === 'point' ? 2 : 1)
  const what = reads.map(({ key }) => key).join('; ')
  assert.ok(crossed <= cost, `${text}: ${crossed} points crossed, ${cost} were estimated: ${what}`)
}

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
      assert.equal(moved.source.crossed, plain.source.crossed)
    }),
    { numRuns: 100 },
  )
})
