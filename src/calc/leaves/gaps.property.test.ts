import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTag } from '../../grammar/parser.ts'
import { type Instant, instantFromUs } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import { SIGNATURES } from '../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../graph/array-source.fixture.ts'
import type { Need } from '../graph/need.ts'
import { seriesOf, type TestSeries } from '../graph/series.fixture.ts'

/** Signals with gaps against plain loops over their points that share no code with them. */

interface Tag {
  readonly rows: Row[]
  readonly stepped: boolean
  readonly gap: number | null
}

/** On whole tens of microseconds, so that ends of gaps often fall onto points, ends of spans and `now`. */
const tag = fc.record({
  rows: fc
    .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: -5, max: 5 }), fc.nat(4)), {
      maxLength: 14,
      selector: ([time]) => time,
    })
    .map((rows) =>
      rows.sort(([a], [b]) => a - b).map(([time, value, bad]): Row => [10 * time, value, bad === 0]),
    ),
  stepped: fc.boolean(),
  gap: fc.oneof(fc.constantFrom(10, 20, 30, 50, 100), fc.integer({ min: 1, max: 120 }), fc.constant(null)),
})
const setting = fc.record({
  a: tag,
  b: tag,
  now: fc.integer({ min: -2, max: 50 }).map((now) => 10 * now),
  pushDowns: fc.constantFrom('all' as const, 'none' as const),
  page: fc.integer({ min: 1, max: 5 }),
  from: fc.integer({ min: -30, max: 300 }),
  length: fc.integer({ min: 1, max: 300 }),
})

/** What the interface says of a signal at any time, whole or not. */
function signal({ rows, stepped, gap }: Tag, now: number): (t: number) => number | null {
  const good = rows.filter(([, , bad]) => bad !== true)
  const limit = gap ?? Number.POSITIVE_INFINITY
  return (t) => {
    let before: Row | null = null
    let after: Row | null = null
    for (const row of good) {
      if (row[0] <= t) before = row
      else if (after === null) after = row
    }
    if (before === null) return null
    if (before[0] === t) return before[1]
    if (after === null) return t <= now && t < before[0] + limit ? before[1] : null
    const apart = after[0] - before[0]
    if (stepped) return apart <= limit || t < before[0] + limit ? before[1] : null
    if (apart > limit) return null
    return before[1] + ((after[1] - before[1]) * (t - before[0])) / apart
  }
}

/** Every time at which one of the signals can bend, end or begin. */
function bends(tags: readonly Tag[], now: number, edges: readonly number[]): readonly number[] {
  const times = [now, ...edges]
  for (const { rows, gap } of tags) for (const [time] of rows) times.push(time, time + (gap ?? 0))
  return [...new Set(times)].sort((x, y) => x - y)
}

/** Raw points, and where the signal of a tag ends although none stands there. */
function vertices({ rows, stepped, gap }: Tag, now: number): readonly number[] {
  const good = rows.filter(([, , bad]) => bad !== true)
  const times = rows.map(([time]) => time)
  if (gap === null) return times
  const ends = good.filter(([time], i) => {
    const next = good[i + 1]?.[0]
    return next === undefined ? time + gap <= now : stepped && next - time > gap
  })
  return [...times, ...ends.map(([time]) => time + gap)]
}

/**
 * A calculation as integrals take it: where it has a value behind one of its raw points and before the next, it goes on
 * the line between these, whatever `now` ends in between. So MEAN, which leaves out what has ended, goes straight to
 * its value without it, and has no step at `now`.
 */
function integrated(
  f: (t: number) => number | null,
  tags: readonly Tag[],
  now: number,
): (t: number) => number | null {
  const times = tags.flatMap((tag) => vertices(tag, now)).sort((x, y) => x - y)
  const before = times.findLast((time) => time <= now)
  const after = times.find((time) => time > now)
  if (before === undefined || before === now || after === undefined) return f
  const limit = (time: number, step: number): number | null => {
    const [near, far] = [f(time + step), f(time + 2 * step)]
    return near === null || far === null ? null : 2 * near - far
  }
  const [first, last] = [limit(before, 0.25), limit(after, -0.25)]
  if (first === null || last === null) return f
  const slope = (last - first) / (after - before)
  return (t) => (t > before && t < after ? first + slope * (t - before) : f(t))
}

/** Integral and covered time of what is linear between the times. */
function integral(f: (t: number) => number | null, times: readonly number[], from: number, to: number) {
  let sum = 0
  let covered = 0
  for (let i = 1; i < times.length; i++) {
    const [start, end] = [times[i - 1]!, times[i]!]
    if (start < from || end > to) continue
    const third = (end - start) / 3
    const [first, last] = [f(start + third), f(end - third)]
    if (first === null || last === null) continue
    sum += ((first + last) / 2) * (end - start)
    covered += end - start
  }
  return { sum, covered }
}

type Setting = typeof setting extends fc.Arbitrary<infer Made> ? Made : never

function open(text: string, { a, b, now, pushDowns, page, from, length }: Setting) {
  const source = new ArraySource(
    new Map([
      ['A', columnsOf(a.rows)],
      ['B', columnsOf(b.rows)],
    ]),
  )
  const range = { from: at(from), to: at(from + length) }
  const context = { source, now: at(now), zone: UTC, range, pagePoints: page }
  const tree = parseTag(text, { signatures: SIGNATURES, defaultHistorian: null, now: context.now, zone: UTC })
  const series = seriesOf(tree, context, ({ name }) => {
    const { stepped, gap } = name === 'A' ? a : b
    return { ...storedTag(name, stepped, pushDowns), ...(gap !== null && { maxGapUs: gap }) }
  })
  return { series, source, range }
}

const at = (us: number): Instant => instantFromUs(us + 1_000_000)
/** Settings count from 0, instants of the source from there. */
const shifted = (tag: Tag): Tag => ({ ...tag, rows: tag.rows.map(([t, v, bad]) => [t + 1_000_000, v, bad!]) })

function assertNear(found: number, expected: number | null, what: string): void {
  if (expected === null) assert.ok(Number.isNaN(found), `${what}: ${found}, not null`)
  else
    assert.ok(
      Math.abs(found - expected) <= 1e-9 * (1 + Math.abs(expected)),
      `${what}: ${found}, not ${expected}`,
    )
}

function assertEstimated(series: TestSeries, source: ArraySource, need: Need): void {
  const cost = costOf(series.estimate([need]), source)
  assert.ok(source.crossed <= cost, `${source.crossed} crossed, ${cost} estimated`)
}

/** Calculations with what they are of the two signals; the values of all are linear between the bends of these. */
const CALCULATIONS: readonly (readonly [string, (a: number | null, b: number | null) => number | null])[] = [
  ['h/A', (a) => a],
  ['calc/MUL(h/A, 2)', (a) => (a === null ? null : 2 * a)],
  ['calc/ADD(h/A, h/B)', (a, b) => (a === null || b === null ? null : a + b)],
  ['calc/MEAN(h/A, h/B)', (a, b) => (a === null ? b : b === null ? a : (a + b) / 2)],
  ['calc/NOBAD(calc/ADD(h/A, 1))', (a) => (a === null ? null : a + 1)],
  ['calc/TIMESHIFT(calc/TIMESHIFT(calc/MUL(h/A, 3), 1h), -1h)', (a) => (a === null ? null : 3 * a)],
]

for (const [text, combine] of CALCULATIONS) {
  test(`${text} has a value as long as its points are good for`, async () => {
    await fc.assert(
      fc.asyncProperty(setting, async (drawn) => {
        const own = { ...drawn, a: shifted(drawn.a), b: shifted(drawn.b) }
        const { series, source, range } = open(text, own)
        const [a, b] = [signal(own.a, at(drawn.now)), signal(own.b, at(drawn.now))]
        const value = (t: number) => combine(a(t), b(t))
        const times = Float64Array.from({ length: 25 }, (_, i) => range.from + i * 7)
        const found = await series.valuesAt(times)
        for (const [i, t] of times.entries()) assertNear(found[i]!, value(t), `${text} at ${t}`)
        assertEstimated(series, source, {
          kind: 'values',
          from: range.from,
          to: at(drawn.from + 168),
          count: 25,
          key: 1,
        })
      }),
      { numRuns: 60 },
    )
  })

  test(`integrals and time averages of ${text} leave out where it has no value`, async () => {
    await fc.assert(
      fc.asyncProperty(setting, fc.nat(300), async (drawn, cut) => {
        const own = { ...drawn, a: shifted(drawn.a), b: shifted(drawn.b) }
        const [a, b] = [signal(own.a, at(drawn.now)), signal(own.b, at(drawn.now))]
        const { range } = open(text, own)
        const middle = Math.min(range.from + cut, range.to)
        const times = bends([own.a, own.b], at(drawn.now), [range.from, middle, range.to])
        const value = integrated((t) => combine(a(t), b(t)), [own.a, own.b], at(drawn.now))
        const spans = [
          [range.from, middle],
          [middle, range.to],
        ] as const
        const integrals = open(text, own)
        const found = await integrals.series.integrals(
          Float64Array.from(spans, ([start]) => start),
          Float64Array.from(spans, ([, end]) => end),
        )
        spans.forEach(([start, end], i) => {
          const { sum, covered } = integral(value, times, start, end)
          assertNear(found.coveredUs[i]!, covered, `covered of ${start} to ${end}`)
          assertNear(found.integrals[i]!, sum, `integral of ${start} to ${end}`)
        })
        assertEstimated(integrals.series, integrals.source, { kind: 'integrals', ...range, count: 2, key: 1 })
        if (middle === range.from || middle === range.to) return
        const aggregates = open(text, own)
        const edges = Float64Array.of(range.from, middle, range.to)
        const { timeAvg } = await aggregates.series.aggregates(edges, ['timeAvg', 'count'])
        spans.forEach(([start, end], i) => {
          const { sum, covered } = integral(value, times, start, end)
          assertNear(timeAvg![i]!, covered === 0 ? null : sum / covered, `mean of ${start} to ${end}`)
        })
      }),
      { numRuns: 80 },
    )
  })
}

test('a comparison counts the time in which it holds, and none where its input has no value', async () => {
  const text = 'calc/THRESHOLD(h/A, 0.3, 1, 0)'
  await fc.assert(
    fc.asyncProperty(setting, async (drawn) => {
      const own = { ...drawn, a: shifted(drawn.a), b: shifted(drawn.b) }
      const a = signal(own.a, at(drawn.now))
      const { series, range } = open(text, own)
      const times = bends([own.a], at(drawn.now), [range.from, range.to])
      let expected = 0
      let covered = 0
      for (let i = 1; i < times.length; i++) {
        const [start, end] = [times[i - 1]!, times[i]!]
        if (start < range.from || end > range.to) continue
        const third = (end - start) / 3
        const [first, last] = [a(start + third), a(end - third)]
        if (first === null || last === null) continue
        covered += end - start
        // The line through both, at both ends.
        const [low, high] = [2 * first - last, 2 * last - first]
        if (low >= 0.3 && high >= 0.3) expected += end - start
        else if (low >= 0.3 || high >= 0.3) {
          const share = (0.3 - low) / (high - low)
          expected += (end - start) * (low >= 0.3 ? share : 1 - share)
        }
      }
      const { integrals, coveredUs } = await series.integrals(
        Float64Array.of(range.from),
        Float64Array.of(range.to),
      )
      assert.ok(Math.abs(coveredUs[0]! - covered) <= 1e-6, `${coveredUs[0]} covered, not ${covered}`)
      // Each crossing is exact to half a microsecond.
      assert.ok(
        Math.abs(integrals[0]! - expected) <= 0.5 * own.a.rows.length + 1e-6,
        `${integrals[0]}, not ${expected}`,
      )
    }),
    { numRuns: 100 },
  )
})
