import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseTag } from '../../../grammar/parser.ts'
import type { FindPoint } from '../../../series/reads.ts'
import { type Instant, instantFromUs, US_PER_MINUTE } from '../../../time/instant.ts'
import { UTC } from '../../../time/zone.ts'
import { SIGNATURES } from '../../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../../graph/array-source.fixture.ts'
import type { RawRange, SinglePoint } from '../../graph/point-source.ts'
import { seriesOf, type TestSeries } from '../../graph/series.fixture.ts'

/**
 * One crossing for each segment whose ends have different answers, whatever is read: raw points of a range, of parts of
 * it, of pages, and what look-ups find one after the other.
 */
const START = 1_768_478_400_000_000
const SPAN = 200
const NOW = minute(1.5 * SPAN)
const WHOLE = { from: minute(-60), to: minute(2 * SPAN) }
const PAGES = [1, 2, 7, 512]

function minute(at: number): Instant {
  return instantFromUs(Math.round(START + at * US_PER_MINUTE))
}

const rows = fc
  .uniqueArray(fc.tuple(fc.nat(SPAN), fc.integer({ min: -8, max: 8 }), fc.nat(7)), {
    maxLength: 6,
    selector: ([at]) => at,
  })
  .map((all) => all.sort(([a], [b]) => a - b).map(([at, value, bad]): Row => [minute(at), value, bad === 0]))

const leaf = fc.constantFrom('h/A', 'h/B', 'h/C', 'siggen/sin4@90000', '1.4142')

type Wrap = (x: string, y: string) => string

/** What bends between its raw points; the same in all ranges. */
const BENDS: readonly Wrap[] = [
  (x, y) => `MUL(${x}, ${y})`,
  (x, y) => `DIV(${x}, ADD(${y}, 0.377))`,
  (x) => `POW(${x}, 3)`,
  (x, y) => `SUB(MAX(${x}, ${y}), 0.0137)`,
  (x) => `ABS(SUB(${x}, 2.0137))`,
  (x, y) => `STDDEV(${x}, ${y}, 1.31)`,
  (x) => `TIMESHIFT(MUL(${x}, ${x}), -30min)`,
]

/** What also moves on before its first raw point or after its last. */
const WINDOWS: readonly Wrap[] = [
  (x) => `SLIDINGAGG(${x}, AVG, 25min)`,
  (x) => `SLIDINGAGG(${x}, MAX, 40min)`,
  (x) => `SLIDINGAGG(${x}, STDDEV, 1h)`,
  (x) => `SLIDINGAGG(${x}, DIFF, 15min)`,
  (x) => `SLIDINGAGG(${x}, TOTAL, 1h, 10min)`,
]

/** What depends on the range of the request: filters start before it, totals have raw points at its ends. */
const OF_RANGE: readonly Wrap[] = [
  (x, y) => `MUL(LOWPASS(${x}, 1200), ${y})`,
  (x, y) => `MUL(HIGHPASS(${x}, 1200), ${y})`,
  (x) => `TOTALISE(${x}, 30min, 0, 10min)`,
  (x) => `TOTALISE(${x}, 30min, 20min, 10min)`,
  (x) => `TOTALISE(${x}, HOUR, BEGIN_HOUR, 10min)`,
]

function comparisonOver(outermost: readonly Wrap[]): fc.Arbitrary<string> {
  const inner = fc.constantFrom((x: string) => x, ...BENDS)
  const bend = fc
    .tuple(fc.constantFrom(...BENDS, ...outermost), inner, leaf, leaf)
    .map(([outer, inner, x, y]) => outer(inner(x, y), y))
  const number = fc.integer({ min: -3, max: 12 }).map((n) => String(n + 0.0137))
  return fc
    .tuple(bend, fc.oneof(leaf, number, bend), fc.boolean(), fc.boolean())
    .map(([a, b, isEqual, isOuter]) => {
      const first = isEqual ? `IFEQUALS(${a}, ${b}, 1, 0, 0.513)` : `THRESHOLD(${a}, ${b}, 1, 0)`
      return isOuter ? `THRESHOLD(${a}, ADD(${b}, ${first}), 1, 0)` : first
    })
}

interface Made {
  readonly series: TestSeries
  readonly source: ArraySource
}

type Rows = readonly (readonly Row[])[]

function make(text: string, tags: Rows, range: Pick<RawRange, 'from' | 'to'>, pagePoints: number): Made {
  const source = new ArraySource(new Map(tags.map((rows, i) => ['ABC'[i]!, columnsOf(rows)])))
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: NOW, zone: UTC }
  const context = { source, now: NOW, zone: UTC, range, pagePoints }
  const tree = parseTag(`calc/${text}`, options)
  return { series: seriesOf(tree, context, ({ name }) => storedTag(name, name === 'C', 'none')), source }
}

async function pointsOf(series: TestSeries, range: RawRange): Promise<readonly SinglePoint[]> {
  const { points } = await series.rawPoints(range)
  return [...points.times].map((time, i) => ({
    time: instantFromUs(time),
    value: points.values[i]!,
    bad: points.statuses[i] !== 0,
  }))
}

/**
 * The points, each by itself and in the order of time. Where rounding decides whether a comparison holds at a whole
 * microsecond, the last one of what was has the raw point, or the first of what comes, or both.
 */
function assertSame(actual: readonly SinglePoint[], expected: readonly SinglePoint[], what: string): void {
  const show = (points: readonly SinglePoint[]) =>
    withoutTwins(points).map(({ time, value, bad }) => [time, Number.isNaN(value) ? null : value, bad])
  const [found, wanted] = [show(actual), show(expected)]
  const isNear = found.every(([time], i) => Math.abs(Number(time) - Number(wanted[i]?.[0])) <= 2)
  if (found.length !== wanted.length || !isNear) assert.deepEqual(found, wanted, what)
  assert.deepEqual(
    found.map(([, ...rest]) => rest),
    wanted.map(([, ...rest]) => rest),
    what,
  )
}

/** Of points within a microsecond or two of each other the last one. */
function withoutTwins(points: readonly SinglePoint[]): readonly SinglePoint[] {
  return points.filter(({ time }, i) => !(points[i + 1] !== undefined && points[i + 1]!.time - time <= 2))
}

const all = { order: 'asc', limit: 10_000 } as const
const setting = fc.record({
  tags: fc.tuple(rows, rows, rows),
  from: fc.oneof(
    fc.integer({ min: -10, max: SPAN + 60 }),
    fc.double({ min: -10, max: SPAN + 60, noNaN: true }),
  ),
  minutes: fc.double({ min: 0.001, max: 100, noNaN: true }),
  limit: fc.integer({ min: 1, max: 9 }),
})

function within(points: readonly SinglePoint[], from: Instant, to: Instant): readonly SinglePoint[] {
  return points.filter(({ time }) => time >= from && time < to)
}

/** All raw points of a range by look-ups, each from the one before. */
async function chain(series: TestSeries, find: 'before' | 'after', { from, to }: typeof WHOLE) {
  const found: SinglePoint[] = []
  const isBack = find === 'before'
  let next: FindPoint = isBack ? 'before' : 'after-or-at'
  for (let at = isBack ? to : from; ; next = find) {
    const point = await series.rawPoint(next, at)
    if (point === null || point.time < from || point.time >= to) return isBack ? found.reverse() : found
    found.push(point)
    at = point.time
  }
}

describe('a product of two lines, 25 - (x - 30)^2 / 36 after x minutes', () => {
  const lines: Rows = [
    [
      [minute(0), 0],
      [minute(60), 10],
    ],
    [
      [minute(0), 10],
      [minute(60), 0],
    ],
  ]
  const parts: readonly (readonly [from: number, to: number])[] = [
    [0, 60],
    [1, 59],
    [20, 40],
    [30, 60],
    [45.5, 47],
    [59, 61],
  ]
  /** Minutes of the crossings in (0, 60) that are found in a part of it. */
  async function crossings(text: string, from: number, to: number): Promise<readonly number[]> {
    const range = { from: minute(from), to: minute(to) }
    const points = await pointsOf(make(text, lines, range, 512).series, { ...range, ...all })
    return points.map(({ time }) => (time - START) / US_PER_MINUTE).filter((at) => at > 0 && at < 60)
  }

  for (const [from, to] of parts) {
    test(`has none that is left in its segment, in minutes ${from} to ${to}`, async () => {
      assert.deepEqual(await crossings('THRESHOLD(MUL(h/A, h/B), 20, 1, 0)', from, to), [])
    })
  }

  test('has none by look-ups either', async () => {
    for (const at of [0.5, 20, 30, 47, 59]) {
      const place = minute(at)
      const { series } = make('THRESHOLD(MUL(h/A, h/B), 20, 1, 0)', lines, { from: place, to: place }, 512)
      assert.equal((await series.rawPoint('before', place))?.time, minute(0))
      assert.equal((await series.rawPoint('after', place))?.time, minute(60))
    }
  })
})

test('raw points of what bends are those of the whole range, whatever the pages, the order and the look-ups', async () => {
  await fc.assert(
    fc.asyncProperty(comparisonOver([...WINDOWS, ...OF_RANGE]), setting, async (text, { tags, limit }) => {
      const whole = await pointsOf(make(text, tags, WHOLE, 512).series, { ...WHOLE, ...all })
      for (const page of PAGES) {
        const { series } = make(text, tags, WHOLE, page)
        assertSame(await pointsOf(series, { ...WHOLE, ...all }), whole, `pages of ${page}`)
        const back = await pointsOf(series, { ...WHOLE, ...all, order: 'desc' })
        assertSame(back.toReversed(), whole, `backwards, pages of ${page}`)
      }
      const { series } = make(text, tags, WHOLE, 512)
      const first = await pointsOf(series, { ...WHOLE, order: 'asc', limit })
      assertSame(first.slice(0, -2), whole.slice(0, Math.max(0, first.length - 2)), 'a page of few')
      const last = await pointsOf(series, { ...WHOLE, order: 'desc', limit })
      assertSame(last.toReversed().slice(2), whole.slice(whole.length - last.length).slice(2), 'the last few')
      assertSame(await chain(series, 'after', WHOLE), whole, 'POINT_AFTER')
      assertSame(await chain(make(text, tags, WHOLE, 2).series, 'before', WHOLE), whole, 'POINT_BEFORE')
    }),
    { numRuns: 60 },
  )
})

test('raw points of what bends are those of any longer range', async () => {
  await fc.assert(
    fc.asyncProperty(comparisonOver(WINDOWS), setting, async (text, { tags, from, minutes, limit }) => {
      const whole = await pointsOf(make(text, tags, WHOLE, 512).series, { ...WHOLE, ...all })
      const part = { from: minute(from), to: minute(Math.min(from + minutes, 2 * SPAN)) }
      const expected = within(whole, part.from, part.to)
      const made = make(text, tags, part, 512)
      const need = { kind: 'raw', ...part, order: 'asc', count: all.limit, isPage: true } as const
      const estimated = costOf(made.series.estimate([need]), made.source)
      assertSame(await pointsOf(made.series, { ...part, ...all }), expected, 'as a whole')
      const { crossed } = made.source
      assert.ok(crossed <= estimated, `${crossed} points crossed, ${estimated} were estimated`)
      const paged = make(text, tags, part, limit).series
      assertSame(await pointsOf(paged, { ...part, ...all }), expected, `pages of ${limit}`)
      const back = await pointsOf(paged, { ...part, ...all, order: 'desc' })
      assertSame(back.toReversed(), expected, 'backwards')
      const at = { from: part.from, to: part.from }
      const instant = make(text, tags, at, 512)
      const place = { kind: 'point', find: 'after-or-at', at: part.from } as const
      const costOfPoint = costOf(instant.series.estimate([place]), instant.source)
      const after = await instant.series.rawPoint('after-or-at', part.from)
      const first = expected[0] ?? null
      if (first !== null) assertSame(after === null ? [] : [after], [first], 'the first by a look-up')
      assert.ok(instant.source.crossed <= costOfPoint, `${instant.source.crossed}, ${costOfPoint} estimated`)
      const before = await make(text, tags, at, 512).series.rawPoint('before', part.from)
      const last = within(whole, WHOLE.from, part.from).at(-1)
      if (last !== undefined) assertSame(before === null ? [] : [before], [last], 'the last one before')
    }),
    { numRuns: 500 },
  )
})

test('a comparison over WINDOWAGG is the same beside its windows, too, whatever the pages', async () => {
  const windows = 'WINDOWAGG(WINDOWAGG(dates/DAY, MAX, 30m), TOTAL, 30m, 1h, 00:10)'
  const total = `SLIDINGAGG(EPOCH_MS(TOTALISERAW(${windows}, DAY, BEGIN_DAY, 1d)), TOTAL, 1h, 1min)`
  const first = `THRESHOLD(${total}, 1, ${total}, h/B)`
  const second = `THRESHOLD(${first}, 1, ${first}, dates/DAY)`
  const text = `TOTALISE(LOWPASS(SLIDINGAGG(${second}, COUNT, 2h), 600), 2h, 0, 1h)`
  const range = { from: minute(19 * 60), to: minute(23 * 60) }
  const after = Float64Array.of(minute(24 * 60))
  const found = await Promise.all(
    PAGES.map((page) => make(text, [[], [], []], range, page).series.valuesAt(after)),
  )
  for (const values of found) assert.deepEqual(values, found[0])
})
