import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { parseTag } from '../../grammar/parser.ts'
import type { AggregateColumns, AggregateName } from '../../series/aggregate-names.ts'
import { type Instant, instantFromUs, US_PER_HOUR, US_PER_MINUTE } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import { SIGNATURES } from '../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from './array-source.fixture.ts'
import { assertWithinLoad } from './load-margin.fixture.ts'
import type { Need } from './need.ts'
import { pointRows } from './point-rows.fixture.ts'
import { seriesOf, type TestSeries } from './series.fixture.ts'

/**
 * Calculations inside each other, 4 to 12 deep, over all functions and with subexpressions that occur more than once.
 * The slow references of single functions are too slow for these; what is compared are the ways in which the same is
 * worked out, which have to agree: pages of every size, push-downs and none, and what was estimated with what was
 * fetched.
 */
const NOW = instantFromUs(1_768_478_400_000_000)
const MINUTES = 600
/** What searches through endless BAD points are cut off at. */
const MAX_EVALUATED = 100_000

const rows = pointRows({ now: NOW, minutes: MINUTES, divisor: 2 })

const leaf = fc.constantFrom('h/A', 'h/B', 'h/C', '3', 'siggen/sin4@7200', 'dates/DAY')

/** Functions around one or several expressions; `x` may stand in them more than once. */
const WRAPS: readonly ((x: string, y: string) => string)[] = [
  (x, y) => `ADD(${x}, ${y})`,
  (x, y) => `SUB(${x}, ${y}, ${x})`,
  (x, y) => `MEAN(${x}, ${y}, 2)`,
  (x) => `ABS(${x})`,
  (x, y) => `MAX(${x}, ${y})`,
  (x) => `MUL(${x}, 0.5)`,
  (x, y) => `THRESHOLD(${x}, 1, ${x}, ${y})`,
  (x, y) => `IFEQUALS(${x}, ${y}, 1, ${x}, 0.5)`,
  (x, y) => `TIME_THRESHOLD(2026-01-15T07:00:00Z, ${x}, ${y})`,
  (x) => `STEPPED(${x})`,
  (x) => `STEPPEDRAW(${x})`,
  (x) => `NOBAD(${x})`,
  (x) => `TIMESHIFT(${x}, -30m)`,
  (x) => `TIMESHIFT(${x}, 1d)`,
  (x, y) => `SUB(${x}, POINTINTIME(${y}, -2h))`,
  (x) => `LOWPASS(${x}, 600)`,
  (x) => `HIGHPASS(${x}, 900)`,
  (x) => `EPOCH_MS(${x})`,
  (x) => `TOTALISE(${x}, 1h, BEGIN_DAY, 1h)`,
  (x) => `TOTALISE(${x}, 2h, 0, 1h)`,
  (x) => `TOTALISERAW(${x}, DAY, BEGIN_DAY, 1d)`,
  (x) => `SLIDINGAGG(${x}, AVG, 1h)`,
  (x) => `SLIDINGAGG(${x}, MAX, 45m)`,
  (x) => `SLIDINGAGG(${x}, DIFF, 1h)`,
  (x) => `SLIDINGAGG(${x}, COUNT, 2h)`,
  (x) => `SLIDINGAGG(${x}, TOTAL, 1h, 1min)`,
  (x) => `WINDOWAGG(${x}, TOTAL, 1h, 1min)`,
  (x) => `WINDOWAGG(${x}, TOTAL, 30m, 1h, 00:10)`,
  (x) => `WINDOWAGG(${x}, AVG, 1h)`,
  (x) => `WINDOWAGG(${x}, MAX, 30m)`,
]

function expressionsOver(leaf: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return (
    fc
      .tuple(leaf, fc.array(fc.tuple(fc.constantFrom(...WRAPS), leaf), { minLength: 4, maxLength: 12 }))
      .map(([first, wraps]) => wraps.reduce<string>((x, [wrap, y]) => wrap(x, y), first))
      // Beyond the grammar's own limit nothing is read.
      .filter((text) => text.length < 5_000)
  )
}

const expression = expressionsOver(leaf)

const from = instantFromUs(NOW - 5 * US_PER_HOUR)
const to = instantFromUs(NOW - US_PER_HOUR)

interface Made {
  readonly series: TestSeries
  readonly source: ArraySource
}

function make(
  text: string,
  tags: readonly (readonly Row[])[],
  pushDowns: 'all' | 'none',
  pagePoints: number,
  range: { readonly from: Instant; readonly to: Instant } = { from, to },
): Made {
  const source = new ArraySource(new Map(tags.map((rows, i) => ['ABC'[i]!, columnsOf(rows)])))
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: NOW, zone: UTC }
  const context = { source, now: NOW, zone: UTC, range, pagePoints, maxEvaluated: MAX_EVALUATED }
  const tree = parseTag(`calc/${text}`, options)
  const series = seriesOf(tree, context, ({ name }) => storedTag(name, name === 'C', pushDowns))
  return { series, source }
}

const grid = Float64Array.from({ length: 13 }, (_, i) => from + i * 20 * US_PER_MINUTE)
const edges = Float64Array.from({ length: 5 }, (_, i) => from + i * US_PER_HOUR)
const NAMES: readonly AggregateName[] = ['min', 'avg', 'count', 'numBad', 'timeAvg']

/** Everything that request types ask, as plain data; `null` when a limit ends it. */
async function everything(made: Made): Promise<object | null> {
  try {
    return await answersOf(made)
  } catch (error) {
    if (error instanceof TidemarkError && error.kind === 'limit') return null
    throw error
  }
}

async function answersOf({ series }: Made): Promise<object> {
  const page = { from, to, limit: 7 } as const
  return {
    values: [...(await series.valuesAt(grid))],
    first: await series.rawPoints({ ...page, order: 'asc' }),
    last: await series.rawPoints({ ...page, order: 'desc' }),
    all: await series.rawPoints({ ...page, order: 'asc', limit: 100_000 }),
    aggregates: await series.aggregates(edges, NAMES),
    before: await series.rawPoint('before', to),
    after: await series.rawPoint('after-or-at', from),
    current: await series.currentPoint('before-or-at', NOW),
  }
}

const RUNS = { numRuns: 50 }
const tags = fc.tuple(rows, rows, rows)

describe('nested calculations', () => {
  test('give the same whatever the size of a page', async () => {
    await fc.assert(
      fc.asyncProperty(expression, tags, async (text, tags) => {
        const [first, ...others] = await Promise.all(
          [512, 7, 2].map((page) => everything(make(text, tags, 'none', page))),
        )
        for (const other of others) if (first !== null && other !== null) assertClose(other, first, '')
      }),
      RUNS,
    )
  })

  test('give the same with push-downs and without', async () => {
    await fc.assert(
      fc.asyncProperty(expression, tags, async (text, tags) => {
        const pushed = await everything(make(text, tags, 'all', 512))
        const own = await everything(make(text, tags, 'none', 512))
        if (pushed !== null && own !== null) assertClose(pushed, own, '')
      }),
      RUNS,
    )
  })

  test('fetch no more than was estimated', async () => {
    const asks: readonly [need: Need, ask: (series: TestSeries) => Promise<unknown>][] = [
      [{ kind: 'values', from, to, count: grid.length, key: 0 }, (series) => series.valuesAt(grid)],
      [
        { kind: 'raw', from, to, order: 'asc', count: 7, isPage: true },
        (series) => series.rawPoints({ from, to, order: 'asc', limit: 7 }),
      ],
      [
        { kind: 'aggregates', from, to, count: edges.length - 1, names: NAMES, key: 0 },
        (series): Promise<AggregateColumns> => series.aggregates(edges, NAMES),
      ],
    ]
    await fc.assert(
      fc.asyncProperty(
        // Signals have raw points for ever, which may all be BAD: a search for a good one ends by the budget alone.
        expressionsOver(fc.constantFrom('h/A', 'h/B', 'h/C', '3')),
        tags,
        fc.constantFrom('all' as const, 'none' as const),
        fc.nat(asks.length - 1),
        async (text, tags, pushDowns, which) => {
          const made = make(text, tags, pushDowns, 512)
          const [need, ask] = asks[which]!
          const estimated = costOf(made.series.estimate([need]), made.source)
          await ask(made.series).catch(ignoreLimits)
          const { crossed } = made.source
          assertWithinLoad(crossed, estimated, text)
        },
      ),
      RUNS,
    )
  })
})

function ignoreLimits(error: unknown): void {
  if (!(error instanceof TidemarkError) || error.kind !== 'limit') throw error
}

/** Numbers agree to a relative 1e-6 of what is large among them, everything else exactly. */
function assertClose(actual: unknown, expected: unknown, path: string): void {
  if (typeof expected === 'number' && typeof actual === 'number') {
    if (Number.isNaN(expected) || Number.isNaN(actual)) assert.equal(actual, expected, path)
    else
      assert.ok(
        Math.abs(actual - expected) <= 1e-6 * Math.max(1, Math.abs(expected)),
        `${path}: ${actual}, ${expected}`,
      )
  } else if (expected !== null && typeof expected === 'object') {
    assert.ok(actual !== null && typeof actual === 'object', path)
    assert.deepEqual(Object.keys(actual), Object.keys(expected), path)
    for (const [key, value] of Object.entries(expected))
      assertClose((actual as Readonly<Record<string, unknown>>)[key], value, `${path}.${key}`)
  } else assert.equal(actual, expected, path)
}
