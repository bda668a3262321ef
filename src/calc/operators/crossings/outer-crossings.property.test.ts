import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseTag } from '../../../grammar/parser.ts'
import type { FindPoint } from '../../../series/reads.ts'
import { END_INSTANT, instantFromUs, MIN_INSTANT, US_PER_MINUTE } from '../../../time/instant.ts'
import { UTC } from '../../../time/zone.ts'
import { SIGNATURES } from '../../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../../graph/array-source.fixture.ts'
import type { SinglePoint } from '../../graph/point-source.ts'
import { seriesOf, type TestSeries } from '../../graph/series.fixture.ts'

/** The first minute of the tags. */
const START = 1_768_478_400_000_000
const SPAN = 120

function minute(at: number): number {
  return START + at * US_PER_MINUTE
}

interface Made {
  readonly series: TestSeries
  readonly source: ArraySource
}

function make(text: string, tags: Readonly<Record<string, readonly Row[]>>, now = 10 * SPAN): Made {
  const columns = Object.entries(tags).map(([name, rows]) => {
    return [name, columnsOf(rows.map(([at, value, bad]) => [minute(at), value, bad === true]))] as const
  })
  const source = new ArraySource(new Map(columns))
  const nowAt = instantFromUs(minute(now))
  const tree = parseTag(`calc/${text}`, {
    ...{ signatures: SIGNATURES, defaultHistorian: null, now: nowAt, zone: UTC },
  })
  const context = { source, now: nowAt, zone: UTC, range: { from: nowAt, to: nowAt } }
  return { series: seriesOf(tree, context, ({ name }) => storedTag(name, name === 'C', 'none')), source }
}

/** The first or last row of RAW_POINTS over all that is left of time. */
async function byRawPoints({ series }: Made, find: FindPoint, at: number): Promise<SinglePoint | null> {
  const isBack = find.startsWith('before')
  const [from, to] = isBack
    ? [MIN_INSTANT, find === 'before' ? at : at + 1]
    : [find === 'after' ? at + 1 : at, END_INSTANT]
  const range = { from: instantFromUs(from), to: instantFromUs(to), limit: 1_000_000, order: 'asc' } as const
  const { points } = await series.rawPoints(range)
  const index = isBack ? points.times.length - 1 : 0
  if (points.times.length === 0) return null
  return {
    time: instantFromUs(points.times[index]!),
    value: points.values[index]!,
    bad: points.statuses[index] !== 0,
  }
}

describe('a comparison of what moves on with time', () => {
  const A: readonly Row[] = [
    [0, 0],
    [60, 10],
  ]
  const mean = 'SLIDINGAGG(h/A, AVG, 1h)'
  const deviation = 'THRESHOLD(SLIDINGAGG(h/A, STDDEV, 1h), 1, 1, 0)'

  async function timeNextTo(text: string, find: FindPoint, at: number, now?: number): Promise<number | null> {
    const { series } = make(text, { A }, now)
    const point = await series.rawPoint(find, instantFromUs(minute(at)))
    return point === null ? null : (point.time - START) / US_PER_MINUTE
  }

  test('crosses after the last raw point of its input, as the window moves on', async () => {
    // The mean of an hour rises from 5 to 10 within the next hour; 10 - (60 - x)^2 / 720 after x minutes.
    assert.equal(await timeNextTo(`THRESHOLD(${mean}, 8.75, 1, 0)`, 'after', 60), 90)
    assert.equal(await timeNextTo(`THRESHOLD(${mean}, 8.75, 1, 0)`, 'after-or-at', 61), 90)
    assert.equal(await timeNextTo(`THRESHOLD(${mean}, 11, 1, 0)`, 'after', 60), null)
  })

  test('crosses after now too, until it has no value', async () => {
    // Of the hour up to x minutes before minute 60, what lies after minute 80 is left out.
    const x = (15 + Math.sqrt(225 + 1_200)) / 2
    const found = await timeNextTo(`THRESHOLD(${mean}, 8.75, 1, 0)`, 'after', 60, 80)
    assert.ok(Math.abs(found! - (120 - x)) < 1e-6, `${found}`)
  })

  test('crosses before the first raw point of its input, where windows end later than their instant', async () => {
    const total = 'TOTALISE(STEPPED(h/A), 90min, 75min, 1min)'
    // It is 10 for each minute that the window reaches beyond minute 60, where the window of minute -15 ends.
    const found = await timeNextTo(`THRESHOLD(${total}, 50, 1, 0)`, 'before', 0)
    assert.equal(found, -10)
  })

  test('is found whatever the range that holds it, where its value ends after it', async () => {
    const rows = {
      A: [
        [0, 0],
        [10, 10],
        [70, 0],
        [75, 4],
      ] as const,
      B: [],
    }
    for (const to of [132, 500, 5_000, 5_000_000]) {
      const { series } = make(deviation, rows)
      const range = { from: instantFromUs(minute(76)), to: instantFromUs(minute(to)) }
      const { points } = await series.rawPoints({ ...range, order: 'asc', limit: 10 })
      assert.deepEqual(points.times, Float64Array.of(minute(130)), `until minute ${to}`)
    }
    const { series } = make(deviation, rows)
    assert.equal((await series.rawPoint('after', instantFromUs(minute(76))))?.time, minute(130))
  })

  test('passes BAD points beyond the last good one by', async () => {
    const bad = Array.from({ length: 20_000 }, (_, i): Row => [61 + i / 100, 3, true])
    const now = 300
    for (const input of ['NOBAD(h/A)', 'LOWPASS(h/A, 3600)', 'TIMESHIFT(NOBAD(h/A), -1ms)']) {
      const text = `THRESHOLD(SLIDINGAGG(${input}, AVG, 1h), 8.75, 1, 0)`
      const { series, source } = make(text, { A: [...A, ...bad] }, now)
      const place = { find: 'after', at: instantFromUs(minute(60.5)) } as const
      const estimated = costOf(series.estimate([{ kind: 'point', ...place }]), source)
      const point = await series.rawPoint(place.find, place.at)
      assert.ok(Math.abs(point!.time - minute(90)) < US_PER_MINUTE, `${text}: ${point?.time}`)
      assert.ok(
        source.crossed <= estimated && source.crossed < 60,
        `${text}: ${source.crossed}, ${estimated}`,
      )
    }
  })

  test('is not looked for beyond the windows of WINDOWAGG, which are those of the instant', async () => {
    const far: readonly Row[] = [...A, ...A.map(([at, value]): Row => [at + 50_000, value])]
    const text = 'THRESHOLD(SLIDINGAGG(WINDOWAGG(h/A, AVG, 1min), AVG, 1h), 8.75, 1, 0)'
    const { series, source } = make(text, { A: far }, 100_000)
    assert.equal(await series.rawPoint('after', instantFromUs(minute(70))), null)
    assert.ok(source.crossed < 20, `${source.crossed}`)
  })
})

const rows = fc
  .uniqueArray(fc.tuple(fc.nat(SPAN), fc.integer({ min: -8, max: 8 }), fc.nat(5)), {
    maxLength: 8,
    selector: ([at]) => at,
  })
  .map((all) => all.sort(([a], [b]) => a - b).map(([at, value, bad]): Row => [at, value, bad === 0]))

const leaf = fc.constantFrom('h/A', 'h/B', 'h/C', '1.4142')

type Wrap = (x: string, y: string) => string

/** What keeps its value beyond its raw points. */
const STEADY: readonly Wrap[] = [
  (x) => x,
  (x) => `STEPPED(${x})`,
  (x) => `NOBAD(${x})`,
  (x) => `TIMESHIFT(${x}, -30min)`,
  (x, y) => `MEAN(${x}, MAXGAP(${y}, 5min))`,
  (x, y) => `MUL(${x}, ${y})`,
  (x, y) => `THRESHOLD(${x}, 0.577, ${y}, 0)`,
]

/** What varies with time also where its input does not. */
const BENDS: readonly Wrap[] = [
  (x) => x,
  (x) => `SLIDINGAGG(${x}, AVG, 25min)`,
  (x) => `SLIDINGAGG(${x}, MAX, 40min)`,
  (x) => `SLIDINGAGG(${x}, SUM, 30min)`,
  (x) => `SLIDINGAGG(${x}, STDDEV, 1h)`,
  (x) => `SLIDINGAGG(${x}, COUNT, 20min)`,
  (x) => `SLIDINGAGG(${x}, DIFF, 15min)`,
  (x) => `SLIDINGAGG(${x}, TOTAL, 1h, 10min)`,
  (x) => `SLIDINGAGG(${x}, AVG, 1mo)`,
  (x) => `TOTALISE(${x}, 30min, 0, 10min)`,
  (x) => `TOTALISE(${x}, 30min, 20min, 10min)`,
  (x) => `TOTALISE(${x}, 30min, -20min, 10min)`,
  (x) => `TOTALISE(${x}, 1mo, 0, 1d)`,
]

/** Around both. */
const OUTER: readonly Wrap[] = [
  (x) => x,
  (x) => `TIMESHIFT(${x}, -30min)`,
  (x) => `TIMESHIFT(${x}, 1d)`,
  (x, y) => `MEAN(${x}, TIMESHIFT(${y}, -12min))`,
  (x, y) => `MAX(${x}, MAXGAP(${y}, 5min))`,
  (x) => `SQRT(${x})`,
  (x, y) => `MUL(${x}, ${y})`,
  (x) => `NOBAD(${x})`,
  (x) => `STEPPED(${x})`,
  (x, y) => `THRESHOLD(${x}, ${y}, 1, 0)`,
]
const bend = fc
  .tuple(fc.constantFrom(...OUTER), fc.constantFrom(...BENDS), fc.constantFrom(...STEADY), leaf, leaf, leaf)
  .map(([outer, wrap, steady, x, y, z]) => outer(wrap(steady(x, y), z), z))
const comparison = fc
  .tuple(
    bend,
    fc.oneof(
      leaf,
      fc.integer({ min: -3, max: 6 }).map((n) => String(n + 0.0137)),
      bend,
    ),
    fc.boolean(),
  )
  .map(([a, b, isEqual]) => (isEqual ? `IFEQUALS(${a}, ${b}, 1, 0, 0.513)` : `THRESHOLD(${a}, ${b}, 1, 0)`))

for (const find of ['after', 'after-or-at', 'before', 'before-or-at'] as const) {
  test(`the raw point ${find} an instant is that of RAW_POINTS of what is left of time`, async () => {
    await fc.assert(
      fc.asyncProperty(
        comparison,
        fc.tuple(rows, rows, rows),
        fc.oneof(
          fc.integer({ min: -100, max: 3 * SPAN }),
          fc.nat({ max: 10_000 }).map((n) => n * 0.0317),
        ),
        fc.integer({ min: SPAN / 2, max: 2 * SPAN }),
        async (text, [A, B, C], at, now) => {
          const tags = { A, B, C }
          const place = instantFromUs(Math.round(minute(at)))
          const expected = await byRawPoints(make(text, tags, now), find, place)
          const made = make(text, tags, now)
          const estimated = costOf(made.series.estimate([{ kind: 'point', find, at: place }]), made.source)
          const found = await made.series.rawPoint(find, place)
          // Where rounding decides, the last microsecond of what was has the raw point, or the first of what comes.
          const isNear = found !== null && expected !== null && Math.abs(found.time - expected.time) <= 1
          if (!isNear || found.bad) assert.deepEqual(found, expected)
          const { crossed } = made.source
          assert.ok(crossed <= estimated, `${crossed} points crossed, ${estimated} were estimated`)
        },
      ),
      { numRuns: 200 },
    )
  })
}
