import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTag } from '../../grammar/parser.ts'
import { AGGREGATE_NAMES, type AggregateName, FIRST_AGGREGATE_NAMES } from '../../series/aggregate-names.ts'
import { type Slow, slowAggregates, slowTag } from '../../series/slow-aggregates.fixture.ts'
import { instantFromUs } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import { SIGNATURES } from '../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../graph/array-source.fixture.ts'
import type { StoredTag } from '../graph/point-source.ts'
import { seriesOf } from '../graph/series.fixture.ts'

/** The aggregates beyond the first fourteen, against loops over arrays that share no code with the engine. */

const SPAN = 40
const FURTHER = AGGREGATE_NAMES.filter((name) => !(FIRST_AGGREGATE_NAMES as readonly string[]).includes(name))

const rows: fc.Arbitrary<readonly Row[]> = fc
  .uniqueArray(fc.tuple(fc.nat(SPAN), fc.constantFrom(0, 0, 0, 1, 2, 5, -3), fc.nat(4)), {
    maxLength: 14,
    selector: ([time]) => time,
  })
  .map((rows) => rows.sort(([a], [b]) => a - b).map(([time, value, bad]): Row => [time, value, bad === 0]))

/** How long a good point is good for; 0 for no limit. */
const gap = fc.constantFrom(0, 0, 3, 7)

const setting = fc.record({
  rows: fc.tuple(rows, rows),
  stepped: fc.tuple(fc.boolean(), fc.boolean()),
  now: fc.integer({ min: -3, max: SPAN + 10 }),
  gaps: fc.tuple(gap, gap),
  pushDowns: fc.constantFrom('all' as const, 'none' as const),
  page: fc.integer({ min: 1, max: 6 }),
  edges: fc
    .uniqueArray(fc.integer({ min: -8, max: SPAN + 12 }), { minLength: 2, maxLength: 6 })
    .map((edges) => edges.sort((a, b) => a - b)),
})
type Setting = typeof setting extends fc.Arbitrary<infer Value> ? Value : never

function slowMap(inputs: readonly Slow[], map: (...values: number[]) => number): Slow {
  const times = [...new Set(inputs.flatMap(({ points }) => points.map(({ time }) => time)))].sort(
    (a, b) => a - b,
  )
  const all = (values: readonly (number | null)[]): number | null =>
    values.includes(null) ? null : map(...(values as number[]))
  return {
    stepped: inputs.every(({ stepped }) => stepped),
    points: times.map((time) => {
      const own = inputs.map(({ points }) => points.find((point) => point.time === time))
      const value = all(inputs.map(({ at }, i) => own[i]?.value ?? at(time)))
      return { time, value: value ?? 0, bad: value === null || own.some((point) => point?.bad === true) }
    }),
    at: (t) => all(inputs.map(({ at }) => at(t))),
    before: (t) => all(inputs.map(({ before }) => before(t))),
  }
}

function withGap(tag: StoredTag, gap: number): StoredTag {
  return gap === 0 ? tag : { ...tag, maxGapUs: gap }
}

const context = { signatures: SIGNATURES, defaultHistorian: null, now: instantFromUs(0), zone: UTC }

async function compare(setting: Setting, tag: string, slow: Slow, leaveOut: readonly AggregateName[] = []) {
  const { rows, stepped, gaps, now, pushDowns, page, edges } = setting
  const source = new ArraySource(new Map(rows.map((rows, i) => [`T${i}`, columnsOf(rows)])))
  const range = { from: instantFromUs(edges[0]!), to: instantFromUs(edges.at(-1)!) }
  const names = FURTHER.filter((name) => !leaveOut.includes(name))
  const tree = parseTag(tag, context)
  const one = seriesOf(
    tree,
    { source, now: instantFromUs(now), zone: UTC, range, pagePoints: page },
    ({ name }) => {
      const index = Number(name.slice(1)) as 0 | 1
      return withGap(storedTag(name, stepped[index], pushDowns), gaps[index])
    },
  )
  // Raw points without a value, which the search for the last good one before passes by: docs/deviations.md, limits.
  const passedBy = slow.points.filter(({ time, bad }) => bad && time < edges[0]!).length
  const asks = [names, ...names.map((name) => [name])]
  for (const ask of asks) {
    const crossed = source.crossed
    const found = await one.aggregates(Float64Array.from(edges), ask)
    const need = { kind: 'aggregates', key: 1, names: ask, count: edges.length - 1, ...range } as const
    const cost = costOf(one.estimate([need]), source) + passedBy
    assert.ok(
      source.crossed - crossed <= cost,
      `${source.crossed - crossed} crossed, ${cost} estimated for ${ask} of ${tag}`,
    )
    for (let i = 0; i + 1 < edges.length; i++) {
      const [from, to] = [edges[i]!, edges[i + 1]!]
      const expected = slowAggregates(slow, from, to, now)
      for (const name of ask) {
        const value = found[name]![i]!
        const wanted = expected[name as keyof typeof expected] ?? Number.NaN
        const isSame = Number.isNaN(wanted) ? Number.isNaN(value) : Math.abs(value - wanted) <= 1e-9
        assert.ok(isSame, `${name} of ${tag} in [${from}, ${to}) is ${value}, not ${wanted}`)
      }
    }
  }
}

const RUNS = { numRuns: 400 }

/**
 * What the engine and the reference may answer otherwise where two values differ by a rounding alone, since they work
 * sums and products out in another way: one value has fallen, which is a restart of a counter, or is the least, and the
 * other not.
 */
function decidedByRounding(
  { points, at, before }: Slow,
  { rows, stepped, edges }: Setting,
): readonly AggregateName[] {
  // Made of stored values alone, and so the same for both.
  const isExact = (time: number) =>
    rows.every((rows, i) => stepped[i] === true || rows.some(([own, , bad]) => own === time && !bad))
  const values = [
    ...points.filter(({ bad }) => !bad),
    ...edges.flatMap((time) => [before(time), at(time)].map((value) => ({ time, value }))),
  ]
    .flatMap(({ time, value }) => (value === null ? [] : [{ value, exact: isExact(time) }]))
    .sort((a, b) => a.value - b.value)
  const isRounded = values.some(({ value, exact }, i) => {
    const last = values[i - 1]
    return last !== undefined && value - last.value < 1e-9 && !(exact && last.exact)
  })
  return isRounded ? ['increase', 'minTime', 'maxTime'] : []
}

test('further aggregates of a stored tag are those of its points and its signal', async () => {
  await fc.assert(
    fc.asyncProperty(setting, (setting) =>
      compare(setting, 'h/T0', slowTag(setting.rows[0], setting.stepped[0], setting.now, setting.gaps[0])),
    ),
    RUNS,
  )
})

test('further aggregates of calculations are those of their raw points and signals', async () => {
  const tagsOf = ({ rows, stepped, now, gaps }: Setting) =>
    rows.map((rows, i) => slowTag(rows, stepped[i]!, now, gaps[i]!))
  await fc.assert(
    fc.asyncProperty(setting, fc.boolean(), (setting, isProduct) => {
      const tags = tagsOf(setting)
      if (!isProduct) {
        const sum = slowMap(tags, (a, b) => a + b)
        return compare(setting, 'calc/ADD(h/T0, h/T1)', sum, decidedByRounding(sum, setting))
      }
      // Integrals of a product are those of the lines between its raw points; the others are the product's own.
      const ofLines = ['total', 'durationZero', 'durationNonZero', 'coverage'] as const
      const product = slowMap(tags, (a, b) => a * b)
      const leaveOut = [...ofLines, ...decidedByRounding(product, setting)]
      return compare(setting, 'calc/MUL(h/T0, h/T1)', product, leaveOut)
    }),
    RUNS,
  )
})

test('further aggregates without BAD points are those of the good ones', async () => {
  await fc.assert(
    fc.asyncProperty(setting, (setting) => {
      const good = setting.rows[0].filter(([, , bad]) => !bad)
      return compare(
        setting,
        'calc/NOBAD(h/T0)',
        slowTag(good, setting.stepped[0], setting.now, setting.gaps[0]),
      )
    }),
    RUNS,
  )
})

test('further aggregates of moved data end at now, while the hold moved with them', async () => {
  await fc.assert(
    fc.asyncProperty(setting, fc.constantFrom(-1000, 1000), (setting, us) => {
      const moved = { ...setting, edges: setting.edges.map((edge) => edge - us) }
      const rows = setting.rows[0].map(([time, value, bad]): Row => [time - us, value, bad ?? false])
      const slow = slowTag(rows, setting.stepped[0], setting.now - us, setting.gaps[0])
      return compare(moved, `calc/TIMESHIFT(h/T0, ${us / 1000}ms)`, slow)
    }),
    RUNS,
  )
})

test('windows of a counter add up to the increase of the whole', async () => {
  await fc.assert(
    fc.asyncProperty(setting, async (setting) => {
      const { rows, now, pushDowns, edges } = setting
      const counter = rows[0].map(([time, value, bad]): Row => [time, Math.abs(value), bad ?? false])
      const source = new ArraySource(new Map([['T0', columnsOf(counter)]]))
      const range = { from: instantFromUs(edges[0]!), to: instantFromUs(edges.at(-1)!) }
      const given = { source, now: instantFromUs(now), zone: UTC, range }
      const one = seriesOf(parseTag('h/T0', context), given, () =>
        withGap(storedTag('T0', setting.stepped[0], pushDowns), setting.gaps[0]),
      )
      const parts = (await one.aggregates(Float64Array.from(edges), ['increase'])).increase!
      const whole = (await one.aggregates(Float64Array.of(range.from, range.to), ['increase'])).increase!
      const sum = parts.reduce((sum, part) => sum + (Number.isNaN(part) ? 0 : part), 0)
      assert.ok(Math.abs(sum - (Number.isNaN(whole[0]!) ? 0 : whole[0]!)) < 1e-9, `${parts} and ${whole}`)
    }),
    RUNS,
  )
})

test('a constant has a value at every time, no points, and is good up to now', async () => {
  await fc.assert(
    fc.asyncProperty(setting, fc.constantFrom(0, 3), async (setting, value) => {
      const { edges, now } = setting
      const source = new ArraySource(new Map())
      const range = { from: instantFromUs(edges[0]!), to: instantFromUs(edges.at(-1)!) }
      const given = { source, now: instantFromUs(now), zone: UTC, range }
      for (const tag of [`constants/${value}`, `calc/ADD(${value}, 0)`]) {
        const one = seriesOf(parseTag(tag, context), given, () => assert.fail('no tag is read'))
        const found = await one.aggregates(Float64Array.from(edges), FURTHER)
        for (let i = 0; i + 1 < edges.length; i++) {
          const [from, to] = [edges[i]!, edges[i + 1]!]
          const seconds = (to - from) / 1e6
          const toNow = Math.max(0, Math.min(to, now) - from) / 1e6
          const expected = {
            total: value * (to - from),
            increase: 0,
            startBound: value,
            endBound: value,
            deltaBounds: 0,
            durationGood: toNow,
            durationBad: 0,
            coverage: toNow > 0 ? 100 : Number.NaN,
            numTransitions: 0,
            durationZero: value === 0 ? seconds : 0,
            durationNonZero: value === 0 ? 0 : seconds,
          }
          for (const name of FURTHER) {
            assert.equal(
              found[name]![i],
              expected[name as keyof typeof expected] ?? Number.NaN,
              `${name} of ${tag}`,
            )
          }
        }
      }
    }),
    { numRuns: 100 },
  )
})
