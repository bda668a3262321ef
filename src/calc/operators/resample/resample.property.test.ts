import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTag } from '../../../grammar/parser.ts'
import type { Argument, TagTree } from '../../../grammar/tree.ts'
import { STATUS_BAD } from '../../../series/columns.ts'
import type { FindPoint } from '../../../series/reads.ts'
import { instantFromUs, US_PER_DAY } from '../../../time/instant.ts'
import { UTC } from '../../../time/zone.ts'
import { SIGNATURES } from '../../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../../graph/array-source.fixture.ts'
import type { Need } from '../../graph/need.ts'
import { seriesOf, type TestSeries } from '../../graph/series.fixture.ts'
import { type Model, Reference } from '../../slow-reference.fixture.ts'
import { WINDOW_OPS, type WindowOp } from './ops.ts'
import { slowWindows, startOf } from './slow-windows.fixture.ts'

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

/** Of TOTAL. */
const UNIT: Argument = { kind: 'duration', duration: { kind: 'exact', us: 4 }, text: '4us', column }

interface Case {
  readonly model: Model
  readonly reference: Reference
  readonly source: ArraySource
  readonly series: TestSeries
}

function makeCase(setting: Setting, op: string, { from, to }: Range, spacingUs?: number): Case {
  const { rows, stepped, us, now, pushDowns, page } = setting
  const model = modelOf(setting)
  const source = new ArraySource(new Map(rows.map((rows, i) => [`T${i}`, columnsOf(rows)])))
  const tree: TagTree = {
    kind: 'call',
    name: 'WINDOWAGG',
    args: [
      { kind: 'series', tree: treeOf(model), column },
      { kind: 'word', word: op, column },
      { kind: 'duration', duration: { kind: 'exact', us }, text: `${us}us`, column },
      ...(op === 'TOTAL' ? [UNIT] : []),
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
  const series = seriesOf(tree, context, ({ name }) =>
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

/** What was estimated for a need covers what answering it fetched. */
function assertEstimated({ series, source }: Case, need: Need, crossed: number): void {
  const reads = series.estimate([need])
  const cost = costOf(reads, source)
  const what = reads.map(({ key }) => key).join('; ')
  assert.ok(crossed <= cost, `${crossed} points crossed, ${cost} were estimated for ${need.kind}: ${what}`)
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

/** All pages of a range, each within its estimate. */
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
    assertEstimated(one, { kind: 'raw', ...ask, count: limit, isPage: true }, one.source.crossed - before)
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

const windowed = fc.constantFrom(...(Object.keys(WINDOW_OPS) as WindowOp[]))

/** The points that a request for [from, to] sees: those of its windows and of one more on either side. */
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
  if (WINDOW_OPS[op].stepped) return before.value
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
        const one = makeCase(setting, op, range)
        const times: number[] = []
        for (let t = range.from; t <= range.to; t += step) times.push(t)
        const [from, to] = [instantFromUs(range.from), instantFromUs(times.at(-1)!)]
        // The windows of the whole range, whichever of its times are wanted.
        const points = seen(one, op, setting.us, range, range.from)
        const found = await one.series.valuesAt(Float64Array.from(times))
        times.forEach((time, i) => {
          closeTo(found[i]!, interpolateSlow(points, op, setting.now, time), `at ${time}`)
        })
        assertEstimated(one, { kind: 'values', key: 1, count: times.length, from, to }, one.source.crossed)
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
        const one = makeCase(setting, op, range, spacing)
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
        const one = makeCase(setting, op, range)
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
        const one = makeCase(setting, op, { from: at, to: at })
        const expected = nextTo(seen(one, op, setting.us, { from: at, to: at }, at), find, at)
        const found = await one.series.rawPoint(find, instantFromUs(at))
        assert.equal(found?.time, expected?.time)
        if (found !== null) closeTo(found.value, expected!.value, `raw at ${found.time}`)
        assertEstimated(one, { kind: 'point', find, at: instantFromUs(at) }, one.source.crossed)
      },
    ),
    RUNS,
  )
})

test('integrals and aggregates of WINDOWAGG are over the signal between the points of its windows', async () => {
  await fc.assert(
    fc.asyncProperty(setting, windowed, range, async (setting, op, range) => {
      const one = makeCase(setting, op, range)
      const points = seen(one, op, setting.us, range, range.from)
      const edges = Float64Array.of(range.from, range.to)
      const { integrals } = await one.series.integrals(edges.subarray(0, 1), edges.subarray(1))
      const isStepped = WINDOW_OPS[op].stepped
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
      assertEstimated(one, { kind: 'integrals', key: 1, count: 1, ...reach }, one.source.crossed)
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
      assertEstimated(
        one,
        { kind: 'aggregates', key: 1, count: 1, names, ...reach },
        one.source.crossed - before,
      )
    }),
    RUNS,
  )
})

test('a few points of a long range are estimated as their windows, and read as these', async () => {
  const minute = 60_000_000
  const start = Date.parse('2023-01-01T00:00:00Z') * 1000
  const [from, to] = [instantFromUs(start), instantFromUs(start + 365 * US_PER_DAY)]
  const every = (step: number): readonly Row[] =>
    Array.from({ length: (365 * 1440) / step }, (_, i) => [start + i * step * minute, i % 9])
  const tags = new Map([
    ['MINUTE', columnsOf(every(1))],
    ['DAY', columnsOf(every(1440))],
    ['PAIR', columnsOf([every(1440)[0]!, [to - minute, 5]])],
  ])
  const read = async (tag: string, pushDowns: 'all' | 'none', order: 'asc' | 'desc') => {
    const source = new ArraySource(tags)
    const tree = parseTag(`calc/WINDOWAGG(h/${tag}, MAX, 5m)`, {
      ...{ signatures: SIGNATURES, defaultHistorian: null, now: to, zone: UTC },
    })
    const series = seriesOf(tree, { source, now: to, zone: UTC, range: { from, to } }, ({ name }) =>
      storedTag(name, false, pushDowns),
    )
    const { points } = await series.rawPoints({ from, to, order, limit: 10 })
    const estimated = series.estimate([{ kind: 'raw', from, to, order, count: 10, isPage: true }])
    return { count: points.times.length, crossed: source.crossed, cost: costOf(estimated, source) }
  }
  for (const order of ['asc', 'desc'] as const) {
    for (const pushDowns of ['all', 'none'] as const) {
      const { count, crossed, cost } = await read('MINUTE', pushDowns, order)
      assert.equal(count, 10)
      assert.ok(
        crossed <= cost && cost <= 3 * crossed && crossed < 100,
        `${crossed} crossed, ${cost} estimated`,
      )
      const daily = await read('DAY', pushDowns, order)
      assert.equal(daily.count, 10)
      assert.ok(daily.crossed < 2_000, `${daily.crossed} crossed for a point a day`)
      const pair = await read('PAIR', pushDowns, order)
      assert.equal(pair.count, 2)
      assert.ok(pair.crossed < 200, `${pair.crossed} crossed for two points a year apart`)
    }
  }
})

test('many windows of a calculation are estimated with what stands beside each batch of them', async () => {
  const [from, to] = [instantFromUs(0), instantFromUs(100_000)]
  const rows = Array.from({ length: 400 }, (_, i): Row => [i * 250, i % 9])
  const source = new ArraySource(new Map([['T', columnsOf(rows)]]))
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: to, zone: UTC }
  const tree = parseTag('calc/WINDOWAGG(ADD(h/T, 1), MAX, PT0.000001S)', options)
  const series = seriesOf(tree, { source, now: to, zone: UTC, range: { from, to } }, ({ name }) =>
    storedTag(name, false, 'none'),
  )
  const { count } = await series.aggregates(Float64Array.of(from, to), ['count'])
  assert.equal(count![0], rows.length)
  const need = { kind: 'aggregates', from, to, count: 1, names: ['count'], key: 1 } as const
  const cost = costOf(series.estimate([need]), source)
  assert.ok(
    source.crossed <= cost && cost <= 3 * source.crossed,
    `${source.crossed} crossed, ${cost} estimated`,
  )
})
