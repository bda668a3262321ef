import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Argument, TagTree } from '../../grammar/tree.ts'
import { FIRST_AGGREGATE_NAMES } from '../../series/aggregate-names.ts'
import { STATUS_BAD } from '../../series/columns.ts'
import type { FindPoint } from '../../series/reads.ts'
import { instantFromUs } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../graph/array-source.fixture.ts'
import type { Need } from '../graph/need.ts'
import { seriesOf, type TestSeries } from '../graph/series.fixture.ts'
import { SLOW_FUNCTIONS, type SlowFunction, type SlowName, slowValue } from '../slow-functions.fixture.ts'
import { type Model, Reference, type World } from '../slow-reference.fixture.ts'

/** Times of stored points; requests reach a little further on both sides. */
const SPAN = 40

const rows: fc.Arbitrary<readonly Row[]> = fc
  .uniqueArray(fc.tuple(fc.nat(SPAN), fc.integer({ min: -8, max: 8 }), fc.nat(4)), {
    maxLength: 12,
    selector: ([time]) => time,
  })
  .map((rows) => rows.sort(([a], [b]) => a - b).map(([time, value, bad]): Row => [time, value, bad === 0]))

/** At most three tags, so that the same one occurs often. */
const tags = fc.tuple(
  fc.tuple(rows, fc.boolean()),
  fc.tuple(rows, fc.boolean()),
  fc.tuple(rows, fc.boolean()),
)

type Tags = readonly (readonly [rows: readonly Row[], stepped: boolean])[]

const windows = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('laid' as const),
      us: fc.integer({ min: 1, max: 25 }),
      anchor: fc.nat(30),
    }),
  },
  fc.record({
    kind: fc.constant('dynamic' as const),
    us: fc.integer({ min: 1, max: 25 }),
    shift: fc.integer({ min: -9, max: 9 }),
  }),
)

/** Shapes of calculations, over tags by number. */
type Shape =
  | number
  | { readonly constant: number }
  | { readonly call: SlowName; readonly inputs: readonly Shape[] }
  | { readonly total: Shape; readonly window: (Model & { kind: 'total' })['window']; readonly rateUs: number }

const shapes = fc.letrec<{ shape: Shape; call: Shape; total: Shape }>((tie) => ({
  shape: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 3, arbitrary: fc.nat(2) as fc.Arbitrary<Shape> },
    { weight: 1, arbitrary: fc.record({ constant: fc.integer({ min: -3, max: 3 }) }) as fc.Arbitrary<Shape> },
    { weight: 3, arbitrary: tie('call') },
    { weight: 2, arbitrary: tie('total') },
  ),
  call: fc
    .record({
      call: fc.oneof(fc.constantFrom<SlowName[]>('ADD', 'SUB', 'MUL', 'DIV'), {
        weight: 2,
        arbitrary: fc.constantFrom(...(Object.keys(SLOW_FUNCTIONS) as SlowName[])),
      }),
      inputs: fc.array(tie('shape'), { minLength: 1, maxLength: 3 }),
    })
    .map(({ call, inputs }): Shape => {
      const { inputs: most }: SlowFunction = SLOW_FUNCTIONS[call]
      if (most === null) return { call, inputs }
      return { call, inputs: Array.from({ length: most }, (_, i) => inputs[i % inputs.length]!) }
    }),
  total: (
    fc.record({ total: tie('shape'), window: windows, rateUs: fc.constantFrom(1, 4) }) as fc.Arbitrary<
      Shape & { total: Shape }
    >
  ).filter(({ total }) => !movesWithTime(total)),
})).shape

/**
 * A rolling window's total goes on changing beyond its raw points, where nothing says how it runs between them; so none
 * is totalised again here.
 */
function movesWithTime(shape: Shape): boolean {
  if (typeof shape === 'number' || 'constant' in shape) return false
  if ('call' in shape) return shape.inputs.some(movesWithTime)
  return shape.window.kind === 'dynamic' || movesWithTime(shape.total)
}

function modelOf(shape: Shape, tags: Tags): Model {
  const made = new Map<number, Model>()
  const build = (shape: Shape): Model => {
    if (typeof shape === 'number') {
      const [rows, stepped] = tags[shape]!
      return made.getOrInsertComputed(shape, () => ({ kind: 'tag', name: `T${shape}`, stepped, rows }))
    }
    if ('constant' in shape) return { kind: 'constant', value: shape.constant }
    if ('call' in shape) return { kind: 'call', name: shape.call, inputs: shape.inputs.map(build) }
    return { kind: 'total', input: build(shape.total), window: shape.window, rateUs: shape.rateUs }
  }
  return build(shape)
}

function treeOf(model: Model): TagTree {
  const column = 1
  const series = (input: Model): Argument => ({ kind: 'series', tree: treeOf(input), column })
  switch (model.kind) {
    case 'tag':
      return { kind: 'tag', historian: 'h', name: model.name, column }
    case 'constant':
      return { kind: 'tag', historian: 'constants', name: String(model.value), column }
    case 'call':
      return { kind: 'call', name: model.name, args: model.inputs.map(series), column }
    case 'total': {
      const { window, rateUs } = model
      const length = { kind: 'exact', us: window.us } as const
      return {
        kind: 'call',
        name: 'TOTALISE',
        args: [
          series(model.input),
          {
            kind: 'window',
            window: { kind: 'duration', duration: length, text: '' },
            text: `${window.us}us`,
            column,
          },
          window.kind === 'laid'
            ? {
                kind: 'anchor',
                anchor: { kind: 'fixed', at: instantFromUs(window.anchor) },
                text: `at ${window.anchor}`,
                column,
              }
            : {
                kind: 'anchor',
                anchor: { kind: 'dynamic', shift: { kind: 'exact', us: window.shift } },
                text: `${window.shift}us`,
                column,
              },
          { kind: 'duration', duration: { kind: 'exact', us: rateUs }, text: `${rateUs}us`, column },
        ],
        column,
      }
    }
  }
}

interface Case {
  readonly model: Model
  readonly reference: Reference
  readonly source: ArraySource
  readonly series: TestSeries
}

const setting = fc.record({
  tags,
  shape: shapes,
  now: fc.integer({ min: 0, max: SPAN + 10 }),
  pushDowns: fc.constantFrom('all' as const, 'none' as const, 'no median' as const),
  page: fc.integer({ min: 1, max: 6 }),
})

function makeCase(
  { tags, shape, now, pushDowns, page }: typeof setting extends fc.Arbitrary<infer Setting> ? Setting : never,
  range: Pick<World, 'from' | 'to'>,
  source = new ArraySource(new Map(tags.map(([rows], i) => [`T${i}`, columnsOf(rows)]))),
): Case {
  const model = modelOf(shape, tags)
  const context = {
    source,
    now: instantFromUs(now),
    zone: UTC,
    range: { from: instantFromUs(range.from), to: instantFromUs(range.to) },
    pagePoints: page,
  }
  const series = seriesOf(treeOf(model), context, ({ name }) =>
    storedTag(name, tags[Number(name.slice(1))]![1], pushDowns),
  )
  return { model, reference: new Reference({ now, ...range }), source, series }
}

const RUNS = { numRuns: 150 }

function assertClose(actual: number, expected: number, what: string): void {
  if (Number.isNaN(expected)) assert.ok(Number.isNaN(actual), `${what}: ${actual}, and there is no value`)
  else {
    // Cancelled digits of the reference itself are not held against the engine.
    const off = Math.abs(actual - expected)
    assert.ok(off <= 1e-6 * Math.max(1, Math.abs(expected)), `${what}: ${actual}, and it is ${expected}`)
  }
}

/** The estimate of a need covers what answering it fetched. @param margin points that no estimate can know of */
function assertPlanned({ series, source }: Case, needs: readonly Need[], crossed: number, margin = 0): void {
  const reads = series.estimate(needs)
  const cost = costOf(reads, source) + margin
  assert.ok(
    crossed <= cost,
    `${crossed} points crossed, ${cost} were planned: ${reads.map(({ key }) => key).join('; ')}`,
  )
}

/**
 * Points of windows that no estimate can place: those at a raw point next to an instant, and those before a page that
 * is read backwards, which are known only when they were found. They are estimated as if they lay at the instant or at
 * the range's end.
 */
function unplaced({ model, source }: Case): number {
  const all = [instantFromUs(-SPAN), instantFromUs(2 * SPAN)] as const
  const points = ['T0', 'T1', 'T2'].reduce((sum, tag) => sum + source.countWithin(tag, ...all), 0)
  return points * countTotals(model)
}

function countTotals(model: Model): number {
  if (model.kind === 'call') return model.inputs.reduce((sum, input) => sum + countTotals(input), 0)
  return model.kind === 'total' ? 1 + countTotals(model.input) : 0
}

const ranges = fc
  .tuple(fc.integer({ min: -6, max: SPAN + 6 }), fc.integer({ min: 1, max: SPAN + 12 }))
  .map(([from, length]) => ({ from, to: from + length }))

/**
 * Whether no roundings decide: a divisor that is 0 in one of the two and 1e-17 in the other, a number at the edge of
 * being rounded up, or results so large that their digits differ.
 */
function isTame({ reference, model }: Case, times: readonly number[]): boolean {
  /** Whether both are sure to have the same whole number. */
  const isWhole = (part: Model, at: number): boolean => {
    switch (part.kind) {
      case 'constant':
        return true
      case 'tag':
        return part.stepped || part.rows.some(([time, , bad]) => time === at && !bad)
      case 'total':
        return false
      case 'call': {
        const { keepsWhole }: SlowFunction = SLOW_FUNCTIONS[part.name]
        return keepsWhole === true && part.inputs.every((input) => isWhole(input, at))
      }
    }
  }
  const isSteady = (part: Model & { readonly kind: 'call' }, at: number): boolean =>
    [
      part.inputs.map((input) => reference.valueAt(input, at)),
      part.inputs.map((input) => reference.valueAt(input, at, 'before')),
      part.inputs.map((input) => reference.rawPoint(input, at).value),
    ].every((inputs) => {
      const value = slowValue(part.name, inputs)
      return inputs.every((input, i) => {
        if (isWhole(part.inputs[i]!, at)) return true
        return [-1e-9, 1e-9].every((off) => {
          const near = slowValue(part.name, inputs.with(i, input + off * Math.max(1, Math.abs(input))))
          return Object.is(near, value) || Math.abs(near - value) <= 1e-6 * Math.max(1, Math.abs(value))
        })
      })
    })
  const tame = (part: Model, at: readonly number[]): boolean => {
    if (at.some((time) => Math.abs(reference.valueAt(part, time)) > 1e9)) return false
    switch (part.kind) {
      case 'tag':
      case 'constant':
        return true
      case 'total':
        return tame(part.input, reference.rawTimes(part.input))
      case 'call':
        return at.every((time) => isSteady(part, time)) && part.inputs.every((input) => tame(input, at))
    }
  }
  return tame(model, times)
}

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
            order === 'desc' ? unplaced(one) : 0,
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
    RUNS,
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
        assertPlanned(
          one,
          [{ kind: 'point', find, at: instantFromUs(at) }],
          one.source.crossed,
          unplaced(one),
        )
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
        const isUnplaced = (i: number): boolean => kinds[i] === 2 || kinds[i] === 3
        const margin = cases.reduce((sum, one, i) => sum + (isUnplaced(i) ? unplaced(one) : 0), 0)
        const cost = costOf(reads, first.source) + margin
        assert.ok(
          first.source.crossed <= cost,
          `${first.source.crossed} crossed, ${cost} were planned: ${reads.map(({ key }) => key).join('; ')}`,
        )
      },
    ),
    RUNS,
  )
})
