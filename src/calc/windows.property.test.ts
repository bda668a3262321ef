import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Argument, TagTree } from '../grammar/tree.ts'
import { AGGREGATE_NAMES } from '../series/aggregate-names.ts'
import { STATUS_BAD } from '../series/columns.ts'
import type { FindPoint } from '../series/reads.ts'
import { instantFromUs, US_PER_DAY } from '../time/instant.ts'
import { UTC } from '../time/zone.ts'
import { ArraySource, CostLedger, columnsOf, type Row, storedTag } from './array-source.fixture.ts'
import { compileSeries } from './compile.ts'
import type { Ask, Series } from './series.ts'
import { SLIDING_OPS, type SlidingOp } from './sliding-stretch.ts'
import { type Model, Reference } from './slow-reference.fixture.ts'
import { type SlowWindows, slowSliding, slowWindows, startOf } from './window-reference.fixture.ts'
import { WINDOW_OPS, type WindowOp } from './window-series.ts'

const SPAN = 40
const RUNS = { numRuns: 300 }

const rows: fc.Arbitrary<readonly Row[]> = fc
  .uniqueArray(fc.tuple(fc.nat(SPAN), fc.integer({ min: -8, max: 8 }), fc.nat(4)), {
    maxLength: 14,
    selector: ([time]) => time,
  })
  .map((rows) => rows.sort(([a], [b]) => a - b).map(([time, value, bad]): Row => [time, value, bad === 0]))

type Input = 'tag' | 'ADD' | 'MUL' | 'SUB 1'

const setting = fc.record({
  rows: fc.tuple(rows, rows),
  stepped: fc.tuple(fc.boolean(), fc.boolean()),
  input: fc.oneof(fc.constant<Input>('tag'), fc.constantFrom<Input[]>('ADD', 'MUL', 'SUB 1')),
  us: fc.integer({ min: 1, max: 25 }),
  now: fc.integer({ min: 0, max: SPAN + 10 }),
  pushDowns: fc.constantFrom('all' as const, 'none' as const),
  page: fc.integer({ min: 1, max: 6 }),
})
type Setting = typeof setting extends fc.Arbitrary<infer Value> ? Value : never

const range = fc
  .tuple(fc.integer({ min: -6, max: SPAN + 6 }), fc.integer({ min: 1, max: SPAN + 12 }))
  .map(([from, length]) => ({ from, to: from + length }))
type Range = { readonly from: number; readonly to: number }

const column = 1

function modelOf({ rows, stepped, input }: Setting): Model {
  const [a, b] = rows.map(
    (rows, i): Model => ({ kind: 'tag', name: `T${i}`, stepped: stepped[i as 0 | 1], rows }),
  ) as [Model, Model]
  if (input === 'tag') return a
  if (input === 'SUB 1') return { kind: 'call', name: 'SUB', inputs: [a, { kind: 'constant', value: 1 }] }
  return { kind: 'call', name: input, inputs: [a, b] }
}

function treeOf(model: Model): TagTree {
  if (model.kind === 'tag') return { kind: 'tag', historian: 'h', name: model.name, column }
  if (model.kind === 'constant')
    return { kind: 'tag', historian: 'constants', name: `${model.value}`, column }
  assert.ok(model.kind === 'call')
  const args = model.inputs.map((input): Argument => ({ kind: 'series', tree: treeOf(input), column }))
  return { kind: 'call', name: model.name, args, column }
}

interface Case {
  readonly model: Model
  readonly reference: Reference
  readonly source: ArraySource
  readonly series: Series
}

function makeCase(
  setting: Setting,
  name: 'SLIDINGAGG' | 'WINDOWAGG',
  op: string,
  { from, to }: Range,
  spacingUs?: number,
): Case {
  const { rows, stepped, us, now, pushDowns, page } = setting
  const model = modelOf(setting)
  const source = new ArraySource(new Map(rows.map((rows, i) => [`T${i}`, columnsOf(rows)])))
  const tree: TagTree = {
    kind: 'call',
    name,
    args: [
      { kind: 'series', tree: treeOf(model), column },
      { kind: 'word', word: op, column },
      { kind: 'duration', duration: { kind: 'exact', us }, text: `${us}us`, column },
    ],
    column,
  }
  const context = {
    source,
    now: instantFromUs(now),
    zone: UTC,
    range: { from: instantFromUs(from), to: instantFromUs(to) },
    pagePoints: page,
    ...(spacingUs === undefined ? {} : { spacingUs }),
  }
  const series = compileSeries(tree, context, ({ name }) =>
    storedTag(name, stepped[Number(name.slice(1)) as 0 | 1], pushDowns),
  )
  return { model, reference: new Reference({ now, from, to }), source, series }
}

const closeTo = (actual: number, expected: number, what: string): void => {
  if (Number.isNaN(expected)) assert.ok(Number.isNaN(actual), `${what}: ${actual}, and there is no value`)
  else
    assert.ok(
      Math.abs(actual - expected) <= 1e-6 * Math.max(1, Math.abs(expected)),
      `${what}: ${actual}, and it is ${expected}`,
    )
}

function assertPlanned({ series, source }: Case, ask: Ask, crossed: number): void {
  const ledger = new CostLedger()
  series.plan(ask, ledger)
  const cost = ledger.cost(source)
  const reads = [...ledger.reads.keys()].join('; ')
  assert.ok(crossed <= cost, `${crossed} points crossed, ${cost} were planned for ${ask.kind}: ${reads}`)
}

const finds = fc.constantFrom<FindPoint>('before', 'before-or-at', 'after', 'after-or-at')

function nextTo<Point extends { readonly time: number }>(
  points: readonly Point[],
  find: FindPoint,
  at: number,
): Point | undefined {
  return {
    before: () => points.findLast(({ time }) => time < at),
    'before-or-at': () => points.findLast(({ time }) => time <= at),
    after: () => points.find(({ time }) => time > at),
    'after-or-at': () => points.find(({ time }) => time >= at),
  }[find]()
}

/** All pages of a range, each within its plan. */
async function readPages(
  one: Case,
  { from, to }: Range,
  order: 'asc' | 'desc',
  limit: number,
): Promise<{ time: number; value: number; bad: boolean }[]> {
  const read: { time: number; value: number; bad: boolean }[] = []
  let [start, end] = [from, to]
  for (let more = true; more; ) {
    const before = one.source.crossed
    const ask = { from: instantFromUs(start), to: instantFromUs(end), order, limit }
    const result = await one.series.rawPoints(ask)
    assertPlanned(one, { kind: 'raw', ...ask }, one.source.crossed - before)
    const { times, values, statuses } = result.points
    assert.ok(times.length <= limit)
    times.forEach((time, i) => {
      read.push({ time, value: values[i]!, bad: statuses[i] === STATUS_BAD })
    })
    more = result.more
    assert.ok(!more || times.length === limit, 'a page that is cut is full')
    if (order === 'asc') start = times.at(-1)! + 1
    else end = times.at(-1)!
  }
  return order === 'asc' ? read : read.reverse()
}

function assertPoints(
  found: readonly { time: number; value: number; bad: boolean }[],
  expected: readonly { time: number; value: number; bad: boolean }[],
): void {
  assert.deepEqual(
    found.map(({ time }) => time),
    expected.map(({ time }) => time),
  )
  found.forEach(({ time, value, bad }, i) => {
    closeTo(value, expected[i]!.value, `raw at ${time}`)
    assert.equal(bad, expected[i]!.bad, `status at ${time}`)
  })
}

const sliding = fc.constantFrom<SlidingOp>(...SLIDING_OPS)
const windowed = fc.constantFrom<WindowOp>(...WINDOW_OPS)

const slowOf = ({ model, reference }: Case, op: SlidingOp, { us, now }: Setting): SlowWindows =>
  slowSliding(model, op, us, reference, now)

test('SLIDINGAGG at any times is its window worked out anew', async () => {
  await fc.assert(
    fc.asyncProperty(
      setting,
      sliding,
      range,
      fc.integer({ min: 1, max: 7 }),
      async (setting, op, range, step) => {
        const one = makeCase(setting, 'SLIDINGAGG', op, range)
        const slow = slowOf(one, op, setting)
        const times: number[] = []
        for (let t = range.from; t <= range.to; t += step) times.push(t)
        const found = await one.series.valuesAt(Float64Array.from(times))
        times.forEach((time, i) => {
          closeTo(found[i]!, slow.valueAt(time, 'at'), `at ${time}`)
        })
        const [from, to] = [instantFromUs(range.from), instantFromUs(times.at(-1)!)]
        assertPlanned(one, { kind: 'values', grid: 'g', count: times.length, from, to }, one.source.crossed)
      },
    ),
    RUNS,
  )
})

test('raw points of SLIDINGAGG are its windows at the raw points of its input, in pages of either order', async () => {
  await fc.assert(
    fc.asyncProperty(
      setting,
      sliding,
      range,
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom('asc' as const, 'desc' as const),
      async (setting, op, range, limit, order) => {
        const one = makeCase(setting, 'SLIDINGAGG', op, range)
        const expected = slowOf(one, op, setting)
          .raw()
          .filter(({ time }) => time >= range.from && time < range.to)
        assertPoints(await readPages(one, range, order, limit), expected)
      },
    ),
    RUNS,
  )
})

test('pieces of SLIDINGAGG give its values at any times inside, and what they come from on the left', async () => {
  await fc.assert(
    fc.asyncProperty(
      setting,
      sliding,
      range,
      fc.constantFrom('asc' as const, 'desc' as const),
      fc.constantFrom('first' as const, 'all' as const),
      fc.integer({ min: 2, max: 6 }),
      async (setting, op, range, order, extent, page) => {
        const one = makeCase(setting, 'SLIDINGAGG', op, range)
        const slow = slowOf(one, op, setting)
        const reach = { from: instantFromUs(range.from), to: instantFromUs(range.to), order, page, extent }
        const stream = one.series.pieces(reach)
        let end = order === 'asc' ? range.from : range.to
        for (let piece = await stream.next(); piece !== null; piece = await stream.next()) {
          assert.equal(order === 'asc' ? piece.from : piece.to, end)
          if (extent === 'first' && end === (order === 'asc' ? range.from : range.to)) {
            const isWhole = piece.from === range.from && piece.to === range.to
            assert.ok(isWhole || piece.raw.times.length >= page - 1, 'a first piece is worth its read')
            assertPlanned(one, { kind: 'pieces', ...reach, widened: null }, one.source.crossed)
          }
          end = order === 'asc' ? piece.to : piece.from
          const times = Float64Array.from({ length: piece.to - piece.from + 1 }, (_, i) => piece.from + i)
          for (const side of ['at', 'before'] as const) {
            const found = piece.valuesAt(times, side)
            times.forEach((time, i) => {
              closeTo(found[i]!, slow.valueAt(time, side), `${side} ${time}`)
            })
          }
        }
        assert.equal(end, order === 'asc' ? range.to : range.from, 'the range is covered')
        if (extent === 'all')
          assertPlanned(one, { kind: 'pieces', ...reach, widened: null }, one.source.crossed)
      },
    ),
    RUNS,
  )
})

test('the raw point of SLIDINGAGG next to an instant', async () => {
  await fc.assert(
    fc.asyncProperty(
      setting,
      sliding,
      fc.integer({ min: -3, max: SPAN + 30 }),
      finds,
      async (setting, op, at, find) => {
        const one = makeCase(setting, 'SLIDINGAGG', op, { from: at, to: at })
        const expected = nextTo(slowOf(one, op, setting).raw(), find, at)
        const found = await one.series.rawPoint(find, instantFromUs(at))
        assert.equal(found?.time, expected?.time)
        if (found !== null) {
          closeTo(found.value, expected!.value, `raw at ${found.time}`)
          assert.equal(found.bad, expected!.bad)
        }
        assertPlanned(one, { kind: 'point', find, at: instantFromUs(at) }, one.source.crossed)
      },
    ),
    RUNS,
  )
})

test('integrals and time averages of SLIDINGAGG go straight between its raw points', async () => {
  await fc.assert(
    fc.asyncProperty(
      setting,
      sliding,
      fc.uniqueArray(fc.integer({ min: 0, max: SPAN + 8 }), { minLength: 2, maxLength: 6 }),
      async (setting, op, instants) => {
        const edges = Float64Array.from(instants).sort()
        const [from, to] = [edges[0]!, edges.at(-1)!]
        const one = makeCase(setting, 'SLIDINGAGG', op, { from, to })
        const raw = one.reference.rawTimes(one.model)
        // Beyond the outermost raw points nothing says how it runs.
        fc.pre(raw.length > 0 && raw[0]! <= from && raw.at(-1)! >= to)
        const slow = slowOf(one, op, setting)
        const area = (t: number): number => {
          const [a, b] = [raw.findLast((time) => time <= t)!, raw.find((time) => time > t)!]
          const [value1, value2] = [slow.valueAt(a, 'at'), slow.valueAt(b, 'before')]
          const { now } = setting
          if (Number.isNaN(value2) && a < now && now < b) {
            // A hold ended in between.
            const end = slow.valueAt(now, 'before')
            return t < now ? value1 + ((end - value1) * (t + 0.5 - a)) / (now - a) : Number.NaN
          }
          return value1 + ((value2 - value1) * (t + 0.5 - a)) / (b - a)
        }
        const { integrals, coveredUs } = await one.series.integrals(edges.subarray(0, -1), edges.subarray(1))
        integrals.forEach((integral, i) => {
          const areas = Array.from({ length: edges[i + 1]! - edges[i]! }, (_, k) =>
            area(edges[i]! + k),
          ).filter((one) => !Number.isNaN(one))
          closeTo(coveredUs[i]!, areas.length, `covered from ${edges[i]}`)
          closeTo(
            integral,
            areas.reduce((sum, one) => sum + one, 0),
            `integral from ${edges[i]}`,
          )
        })
        const reach = { from: instantFromUs(from), to: instantFromUs(to) }
        const spans = edges.length - 1
        assertPlanned(one, { kind: 'integrals', grid: 'g', spans, ...reach }, one.source.crossed)
        const before = one.source.crossed
        await one.series.aggregates(edges, AGGREGATE_NAMES)
        const ask = {
          kind: 'aggregates',
          grid: 'g',
          windows: spans,
          names: AGGREGATE_NAMES,
          ...reach,
        } as const
        assertPlanned(one, ask, one.source.crossed - before)
      },
    ),
    RUNS,
  )
})

/** The points that an ask over [from, to] sees: those of its windows and of one more on either side. */
function seen(
  { model, reference }: Case,
  op: WindowOp,
  us: number,
  { from, to }: Range,
  rangeFrom: number,
): readonly { time: number; value: number }[] {
  const origin = Math.floor(rangeFrom / US_PER_DAY) * US_PER_DAY
  const reach = { first: startOf(from, us, origin) - us, last: startOf(to, us, origin) + us }
  return slowWindows(model, op, us, origin, reach, reference)
}

function interpolateSlow(
  points: readonly { time: number; value: number }[],
  op: WindowOp,
  now: number,
  at: number,
): number {
  const before = points.findLast(({ time }) => time <= at)
  const after = points.find(({ time }) => time > at)
  if (before === undefined) return Number.NaN
  if (before.time === at) return before.value
  if (after === undefined) return at <= now ? before.value : Number.NaN
  if (op === 'MIN' || op === 'MAX' || op === 'COUNT' || op === 'SUM') return before.value
  return before.value + ((after.value - before.value) * (at - before.time)) / (after.time - before.time)
}

test('WINDOWAGG at any times lies between the points of its windows, each worked out anew', async () => {
  await fc.assert(
    fc.asyncProperty(
      setting,
      windowed,
      range,
      fc.integer({ min: 1, max: 7 }),
      async (setting, op, range, step) => {
        const one = makeCase(setting, 'WINDOWAGG', op, range)
        const times: number[] = []
        for (let t = range.from; t <= range.to; t += step) times.push(t)
        const [from, to] = [instantFromUs(range.from), instantFromUs(times.at(-1)!)]
        const points = seen(one, op, setting.us, { from, to }, range.from)
        const found = await one.series.valuesAt(Float64Array.from(times))
        times.forEach((time, i) => {
          closeTo(found[i]!, interpolateSlow(points, op, setting.now, time), `at ${time}`)
        })
        assertPlanned(one, { kind: 'values', grid: 'g', count: times.length, from, to }, one.source.crossed)
      },
    ),
    RUNS,
  )
})

test('windows of WINDOWAGG are widened where two of them would fall between the points asked for', async () => {
  await fc.assert(
    fc.asyncProperty(
      setting,
      windowed,
      range,
      fc.integer({ min: 2, max: 9 }),
      async (setting, op, range, count) => {
        const spacing = (range.to - range.from) / (count - 1)
        const one = makeCase(setting, 'WINDOWAGG', op, range, spacing)
        const us = spacing >= 2 * setting.us ? Math.floor(spacing) : setting.us
        const points = seen(one, op, us, range, range.from)
        const found = await one.series.valuesAt(Float64Array.of(range.from, range.to))
        closeTo(found[0]!, interpolateSlow(points, op, setting.now, range.from), 'first')
        closeTo(found[1]!, interpolateSlow(points, op, setting.now, range.to), 'last')
      },
    ),
    RUNS,
  )
})

test('raw points of WINDOWAGG are those of its windows, in pages of either order', async () => {
  await fc.assert(
    fc.asyncProperty(
      setting,
      windowed,
      range,
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom('asc' as const, 'desc' as const),
      async (setting, op, range, limit, order) => {
        const one = makeCase(setting, 'WINDOWAGG', op, range)
        const expected = seen(one, op, setting.us, range, range.from)
          .filter(({ time }) => time >= range.from && time < range.to)
          .map((point) => ({ ...point, bad: false }))
        assertPoints(await readPages(one, range, order, limit), expected)
      },
    ),
    RUNS,
  )
})

test('the raw point of WINDOWAGG next to an instant is looked for in its window and those beside it', async () => {
  await fc.assert(
    fc.asyncProperty(
      setting,
      windowed,
      fc.integer({ min: -3, max: SPAN + 3 }),
      finds,
      async (setting, op, at, find) => {
        const one = makeCase(setting, 'WINDOWAGG', op, { from: at, to: at })
        const expected = nextTo(seen(one, op, setting.us, { from: at, to: at }, at), find, at)
        const found = await one.series.rawPoint(find, instantFromUs(at))
        assert.equal(found?.time, expected?.time)
        if (found !== null) closeTo(found.value, expected!.value, `raw at ${found.time}`)
        assertPlanned(one, { kind: 'point', find, at: instantFromUs(at) }, one.source.crossed)
      },
    ),
    RUNS,
  )
})

test('integrals and aggregates of WINDOWAGG are over the signal between the points of its windows', async () => {
  await fc.assert(
    fc.asyncProperty(setting, windowed, range, async (setting, op, range) => {
      const one = makeCase(setting, 'WINDOWAGG', op, range)
      const points = seen(one, op, setting.us, range, range.from)
      const edges = Float64Array.of(range.from, range.to)
      const { integrals } = await one.series.integrals(edges.subarray(0, 1), edges.subarray(1))
      const isStepped = op === 'MIN' || op === 'MAX' || op === 'COUNT' || op === 'SUM'
      let integral = 0
      for (let t = range.from; t < range.to; t++) {
        const value1 = interpolateSlow(points, op, setting.now, t)
        const value2 = isStepped ? value1 : interpolateSlow(points, op, setting.now, t + 1)
        const isHeld = points.every(({ time }) => time <= t) && t >= setting.now
        if (!Number.isNaN(value1) && !isHeld)
          integral += (value1 + (Number.isNaN(value2) ? value1 : value2)) / 2
      }
      closeTo(integrals[0]!, integral, 'integral')
      const reach = { from: instantFromUs(range.from), to: instantFromUs(range.to) }
      assertPlanned(one, { kind: 'integrals', grid: 'g', spans: 1, ...reach }, one.source.crossed)
      const before = one.source.crossed
      const found = await one.series.aggregates(edges, ['count', 'max', 'timeAvg'])
      const inside = points.filter(({ time }) => time >= range.from && time < range.to)
      assert.equal(found.count![0], inside.length)
      closeTo(
        found.max![0]!,
        inside.length === 0 ? Number.NaN : Math.max(...inside.map(({ value }) => value)),
        'max',
      )
      const names = ['count', 'max', 'timeAvg'] as const
      assertPlanned(
        one,
        { kind: 'aggregates', grid: 'g', windows: 1, names, ...reach },
        one.source.crossed - before,
      )
    }),
    RUNS,
  )
})
