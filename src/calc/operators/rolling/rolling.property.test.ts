import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Argument, TagTree } from '../../../grammar/tree.ts'
import { AGGREGATE_NAMES } from '../../../series/aggregate-names.ts'
import { STATUS_BAD } from '../../../series/columns.ts'
import type { FindPoint } from '../../../series/reads.ts'
import { instantFromUs } from '../../../time/instant.ts'
import { UTC } from '../../../time/zone.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../../graph/array-source.fixture.ts'
import type { ChunkRange } from '../../graph/chunk.ts'
import type { Need } from '../../graph/need.ts'
import { seriesOf, type TestSeries } from '../../graph/series.fixture.ts'
import { type Model, Reference } from '../../slow-reference.fixture.ts'
import { type SlowWindows, slowSliding } from '../../window-reference.fixture.ts'
import { SLIDING_OPS, type SlidingOp } from './ops.ts'

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

function makeCase(setting: Setting, op: SlidingOp, { from, to }: Range): Case {
  const { rows, stepped, us, now, pushDowns, page } = setting
  const model = modelOf(setting)
  const source = new ArraySource(new Map(rows.map((rows, i) => [`T${i}`, columnsOf(rows)])))
  const tree: TagTree = {
    kind: 'call',
    name: 'SLIDINGAGG',
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

function assertPlanned({ series, source }: Case, need: Need, crossed: number): void {
  const reads = series.estimate([need])
  const cost = costOf(reads, source)
  assert.ok(
    crossed <= cost,
    `${crossed} points crossed, ${cost} were planned for ${need.kind}: ${reads.map(({ key }) => key).join('; ')}`,
  )
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
    assertPlanned(one, { kind: 'raw', isPage: true, count: limit, ...ask }, one.source.crossed - before)
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

const sliding = fc.constantFrom<SlidingOp>(...(Object.keys(SLIDING_OPS) as SlidingOp[]))

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
        const one = makeCase(setting, op, range)
        const slow = slowOf(one, op, setting)
        const times: number[] = []
        for (let t = range.from; t <= range.to; t += step) times.push(t)
        const found = await one.series.valuesAt(Float64Array.from(times))
        times.forEach((time, i) => {
          closeTo(found[i]!, slow.valueAt(time, 'at'), `at ${time}`)
        })
        const [from, to] = [instantFromUs(range.from), instantFromUs(times.at(-1)!)]
        assertPlanned(one, { kind: 'values', key: 1, count: times.length, from, to }, one.source.crossed)
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
        const one = makeCase(setting, op, range)
        const expected = slowOf(one, op, setting)
          .raw()
          .filter(({ time }) => time >= range.from && time < range.to)
        assertPoints(await readPages(one, range, order, limit), expected)
      },
    ),
    RUNS,
  )
})

test('chunks of SLIDINGAGG give its values at any times inside, and what they come from on the left', async () => {
  await fc.assert(
    fc.asyncProperty(
      setting,
      sliding,
      range,
      fc.constantFrom('asc' as const, 'desc' as const),
      fc.constantFrom('first' as const, 'all' as const),
      fc.integer({ min: 2, max: 6 }),
      async (setting, op, range, order, extent, page) => {
        const one = makeCase(setting, op, range)
        const slow = slowOf(one, op, setting)
        const reach = { from: instantFromUs(range.from), to: instantFromUs(range.to), order, page, extent }
        const stream = one.series.operator.chunks(reach)
        let end = order === 'asc' ? range.from : range.to
        for (let chunk = await stream.next(); chunk !== null; chunk = await stream.next()) {
          assert.equal(order === 'asc' ? chunk.from : chunk.to, end)
          if (extent === 'first' && end === (order === 'asc' ? range.from : range.to)) {
            const isWhole = chunk.from === range.from && chunk.to === range.to
            assert.ok(isWhole || chunk.raw.times.length >= page - 1, 'a first chunk is worth its read')
            assertPlanned(one, needOf(reach), one.source.crossed)
          }
          end = order === 'asc' ? chunk.to : chunk.from
          const times = Float64Array.from({ length: chunk.to - chunk.from + 1 }, (_, i) => chunk.from + i)
          for (const side of ['at', 'before'] as const) {
            const found = chunk.valuesAt(times, side)
            times.forEach((time, i) => {
              closeTo(found[i]!, slow.valueAt(time, side), `${side} ${time}`)
            })
          }
        }
        assert.equal(end, order === 'asc' ? range.to : range.from, 'the range is covered')
        if (extent === 'all') assertPlanned(one, needOf(reach), one.source.crossed)
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
        const one = makeCase(setting, op, { from: at, to: at })
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
        const one = makeCase(setting, op, { from, to })
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
        assertPlanned(one, { kind: 'integrals', key: 1, count: spans, ...reach }, one.source.crossed)
        const before = one.source.crossed
        await one.series.aggregates(edges, AGGREGATE_NAMES)
        const ask = {
          kind: 'aggregates',
          key: 2,
          count: spans,
          names: AGGREGATE_NAMES,
          ...reach,
        } as const
        assertPlanned(one, ask, one.source.crossed - before)
      },
    ),
    RUNS,
  )
})

/** A whole range, or its first page. */
function needOf({ from, to, order, page, extent }: ChunkRange): Need {
  if (extent === 'all') return { kind: 'chunks', from, to, beyond: 0 }
  return { kind: 'raw', from, to, order, count: page }
}
