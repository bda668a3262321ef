import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTag } from '../../../grammar/parser.ts'
import { STATUS_BAD } from '../../../series/columns.ts'
import type { FindPoint } from '../../../series/reads.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT, US_PER_HOUR } from '../../../time/instant.ts'
import { applyOffset, parseOffset } from '../../../time/offset.ts'
import { isSameTarget, offsetSpanAt, type SpanTarget } from '../../../time/offset-spans.ts'
import { parseTimeZone, type TimeZone, UTC } from '../../../time/zone.ts'
import { SIGNATURES } from '../../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../../graph/array-source.fixture.ts'
import type { Need } from '../../graph/need.ts'
import { seriesOf, type TestSeries } from '../../graph/series.fixture.ts'

const OFFSETS = [
  ...['1d', '-1d', '1w', '1mo', '-1mo', '1y', 'P1DT6H', 'P1M1D', '2 days ago at 02:30'],
  ...['last moment of yesterday', 'yesterday at the same time', 'begin of this hour', 'end of last week'],
]

/** Changes of clocks: in two of them they go back over midnight, so that a day is over twice. */
const PLACES = [
  { id: 'Europe/Oslo', change: '2024-03-31T01:00:00Z' },
  { id: 'UTC', change: '2024-03-31T01:00:00Z' },
  { id: 'Australia/Lord_Howe', change: '2024-03-31T01:00:00Z' },
  { id: 'America/Sao_Paulo', change: '2008-02-17T02:00:00Z' },
  { id: 'Asia/Amman', change: '1987-10-01T21:00:00Z' },
]

/** A point every few hours around a change of clocks and the end of a month; times from that change on. */
const rows = fc
  .uniqueArray(fc.tuple(fc.integer({ min: -900, max: 900 }), fc.integer({ min: -5, max: 5 }), fc.nat(6)), {
    maxLength: 40,
    selector: ([hour]) => hour,
  })
  .map((rows) =>
    rows.sort(([a], [b]) => a - b).map(([hour, value, bad]): Row => [hour * US_PER_HOUR, value, bad === 0]),
  )

const setting = fc.record({
  rows,
  stepped: fc.boolean(),
  offset: fc.constantFrom(...OFFSETS),
  place: fc.constantFrom(...PLACES),
  from: fc.integer({ min: -200, max: 200 }),
  hours: fc.integer({ min: 1, max: 300 }),
  now: fc.integer({ min: -100, max: 900 }),
  pushDowns: fc.constantFrom('all' as const, 'none' as const),
  page: fc.integer({ min: 1, max: 6 }),
})

type Setting = typeof setting extends fc.Arbitrary<infer Made> ? Made : never

interface Case {
  readonly series: TestSeries
  readonly plain: TestSeries
  readonly source: ArraySource
  readonly zone: TimeZone
  readonly from: Instant
  readonly to: Instant
  readonly rows: readonly Row[]
  readonly hourAt: (hour: number) => Instant
  readonly target: (at: number) => Instant | null
  readonly span: (at: number) => SpanTarget
}

function makeCase(setting: Setting): Case {
  const { stepped, offset, place, from, hours, now, pushDowns, page } = setting
  const zone = parseTimeZone(place.id)!
  const change = Date.parse(place.change) * 1000
  const hourAt = (hour: number) => instantFromUs(change + hour * US_PER_HOUR)
  const rows = setting.rows.map(([time, value, bad = false]): Row => [change + time, value, bad])
  const source = new ArraySource(new Map([['T', columnsOf(rows)]]))
  const range = { from: hourAt(from), to: hourAt(from + hours) }
  const context = { source, now: hourAt(now), zone, range, pagePoints: page }
  const make = (text: string) =>
    seriesOf(
      parseTag(text, { signatures: SIGNATURES, defaultHistorian: null, now: context.now, zone }),
      context,
      ({ name }) => storedTag(name, stepped, pushDowns),
    )
  const parsed = parseOffset(offset)!
  return {
    series: make(`calc/TIMESHIFT(h/T, ${offset})`),
    plain: make('h/T'),
    source,
    zone,
    ...range,
    rows,
    hourAt,
    target: (at) => applyOffset(instantFromUs(at), parsed, zone),
    span: (at) => offsetSpanAt(instantFromUs(at), parsed, zone).target,
  }
}

/** Raw times between two instants, found by looking at every half hour: all changes and all points lie on these. */
function rawTimes({ target, span, rows }: Case, from: number, to: number): readonly number[] {
  const stored = new Set(rows.map(([time]) => time))
  const times: number[] = []
  for (let t = from; t < to; t += US_PER_HOUR / 2) {
    const isBreak = !isSameTarget(span(t - 1), span(t))
    const isStored = span(t).kind === 'moved' && stored.has(target(t)!)
    if (isBreak || isStored) times.push(t)
  }
  return times
}

/** What was estimated for a need covers what answering it fetched. */
function assertEstimated({ source, series }: Case, need: Need, crossed: number): void {
  const reads = series.estimate([need])
  const cost = costOf(reads, source)
  assert.ok(
    crossed <= cost,
    `${crossed} crossed, ${cost} estimated: ${reads.map(({ key }) => key).join('; ')}`,
  )
}

const RUNS = { numRuns: 60 }

test('at each time the value is the one where the offset leads', async () => {
  await fc.assert(
    fc.asyncProperty(setting, fc.integer({ min: 1, max: 20 }), async (setting, step) => {
      const one = makeCase(setting)
      const times: number[] = []
      for (let t: number = one.from; t <= one.to; t += (step * US_PER_HOUR) / 4) times.push(t)
      const need = { kind: 'values', key: 1, count: times.length, from: one.from, to: one.to } as const
      const found = await one.series.valuesAt(Float64Array.from(times))
      assertEstimated(one, need, one.source.crossed)
      for (const [i, time] of times.entries()) {
        const [expected] = await one.plain.valuesAt(Float64Array.of(one.target(time)!))
        assert.equal(found[i], expected)
      }
    }),
    { numRuns: 40 },
  )
})

test('raw points stand where those of the input come to, and where the offset changes; pages join', async () => {
  await fc.assert(
    fc.asyncProperty(
      setting,
      fc.integer({ min: 1, max: 30 }),
      fc.constantFrom('asc' as const, 'desc' as const),
      async (setting, limit, order) => {
        const one = makeCase(setting)
        const expected = [...rawTimes(one, one.from, one.to)]
        if (order === 'desc') expected.reverse()
        const found: number[] = []
        let { from, to } = one
        for (let more = true; more; ) {
          const before = one.source.crossed
          const result = await one.series.rawPoints({ from, to, order, limit })
          const need = { kind: 'raw', from, to, order, count: limit, isPage: true } as const
          assertEstimated(one, need, one.source.crossed - before)
          const { times, values, statuses } = result.points
          found.push(...times)
          const signal = await one.series.valuesAt(times.toSorted())
          if (order === 'desc') signal.reverse()
          times.forEach((time, i) => {
            if (statuses[i] !== STATUS_BAD && time <= one.hourAt(setting.now))
              assert.equal(values[i], signal[i])
          })
          more = result.more
          if (order === 'asc') from = instantFromUs(times.at(-1)! + 1)
          else to = instantFromUs(times.at(-1)!)
        }
        assert.deepEqual(found, expected)
      },
    ),
    RUNS,
  )
})

test('the raw point next to an instant is one of the raw points', async () => {
  await fc.assert(
    fc.asyncProperty(
      setting,
      fc.constantFrom<FindPoint>('before', 'before-or-at', 'after', 'after-or-at'),
      async (setting, find) => {
        const one = makeCase(setting)
        const [first, last] = [one.hourAt(setting.from - 1500), one.hourAt(setting.from + 1500)]
        const all = rawTimes(one, first, last)
        const at = one.from
        const expected = {
          before: all.findLast((time) => time < at),
          'before-or-at': all.findLast((time) => time <= at),
          after: all.find((time) => time > at),
          'after-or-at': all.find((time) => time >= at),
        }[find]
        fc.pre(expected !== undefined)
        const found = await one.series.rawPoint(find, at)
        assertEstimated(one, { kind: 'point', find, at }, one.source.crossed)
        assert.equal(found?.time, expected)
        assert.equal(await one.series.rawTime(find, at), expected)
      },
    ),
    RUNS,
  )
})

test('the integral is that of the spans of the input that an offset leads to, one after the other', async () => {
  await fc.assert(
    fc.asyncProperty(setting, async (setting) => {
      const one = makeCase(setting)
      const { from, to } = one
      let expected = 0
      // Hold ends, raw points and changes all lie on half hours, so that each of them is one straight line.
      for (let t: number = from; t < to; t += US_PER_HOUR / 2) {
        const target = one.span(t)
        if (target.kind === 'moved') {
          const start = t + target.us
          const spans = [Float64Array.of(start), Float64Array.of(start + US_PER_HOUR / 2)] as const
          expected += (await one.plain.integrals(...spans)).integrals[0]!
        } else if (target.kind === 'fixed') {
          const [value] = await one.plain.valuesAt(Float64Array.of(target.at))
          expected += Number.isNaN(value) ? 0 : (value! * US_PER_HOUR) / 2
        }
      }
      const again = makeCase(setting)
      const spans = [Float64Array.of(from), Float64Array.of(to)] as const
      const found = (await again.series.integrals(...spans)).integrals[0]!
      assert.ok(Math.abs(found - expected) <= 1e-9 * US_PER_HOUR * setting.hours, `${found}, not ${expected}`)
      const need = { kind: 'integrals', key: 1, count: 1, from, to } as const
      assertEstimated(again, need, again.source.crossed)
    }),
    { numRuns: 30 },
  )
})

test('a year in many spans is estimated at what it fetches or more, up to three times', async () => {
  const day = (n: number) => instantFromUs(Date.parse('2023-03-01T00:00:00Z') * 1000 + n * 24 * US_PER_HOUR)
  const hourly = Array.from({ length: 440 * 24 }, (_, i): Row => [day(-40) + i * US_PER_HOUR, i % 7])
  const [from, to] = [day(0), day(365)]
  const ends = Float64Array.of(from, to)
  const grid = Float64Array.from({ length: 501 }, (_, i) => from + ((to - from) / 500) * i)
  const page = { from, to, order: 'asc', limit: 700 } as const
  const reads: readonly (readonly [Need, (series: TestSeries) => Promise<unknown>])[] = [
    [{ kind: 'values', from, to, count: 501, key: 1 }, (series) => series.valuesAt(grid)],
    [{ kind: 'raw', ...page, count: 700, isPage: true }, (series) => series.rawPoints(page)],
    [
      { kind: 'integrals', from, to, count: 1, key: 1 },
      (series) => series.integrals(ends.subarray(0, 1), ends.subarray(1)),
    ],
    [
      { kind: 'aggregates', from, to, count: 1, names: ['first'], key: 1 },
      (series) => series.aggregates(ends, ['first']),
    ],
  ]
  const offsets = ['-1mo', 'P1M1D', '1d', 'begin of this hour', 'yesterday', '36:00']
  const zone = parseTimeZone('Europe/Oslo')!
  for (const offset of offsets) {
    for (const pushDowns of ['all', 'none'] as const) {
      for (const [need, read] of reads) {
        const source = new ArraySource(new Map([['T', columnsOf(hourly)]]))
        const context = { source, now: to, zone, range: { from, to } }
        const options = { signatures: SIGNATURES, defaultHistorian: null, now: to, zone }
        const tree = parseTag(`calc/TIMESHIFT(h/T, ${offset})`, options)
        const series = seriesOf(tree, context, ({ name }) => storedTag(name, false, pushDowns))
        await read(series)
        const cost = costOf(series.estimate([need]), source)
        const what = `${offset} ${need.kind} ${pushDowns}: ${source.crossed} crossed, ${cost} estimated`
        assert.ok(source.crossed <= cost && cost <= 3 * source.crossed, what)
      }
    }
  }
})

test('on each of the days that lead to the last day of a month, a hold ends where now comes to', async () => {
  const day = (text: string) => instantFromUs(Date.parse(`${text}Z`) * 1000)
  const now = day('2024-02-29T12:00:00')
  const context = { now, zone: UTC, range: { from: now, to: now } }
  const tree = parseTag('calc/TIMESHIFT(h/T, -1mo)', {
    ...{ signatures: SIGNATURES, defaultHistorian: null, now, zone: UTC },
  })
  for (const [date, hours] of [
    ['2024-03-28', 24],
    ['2024-03-29', 12],
    ['2024-03-30', 12],
    ['2024-03-31', 12],
    ['2024-04-01', 0],
  ] as const) {
    const source = new ArraySource(new Map([['T', columnsOf([[day('2024-02-01T00:00:00'), 1]])]]))
    const series = seriesOf(tree, { ...context, source }, ({ name }) => storedTag(name, false, 'all'))
    const from = day(`${date}T00:00:00`)
    const { integrals } = await series.integrals(
      Float64Array.of(from),
      Float64Array.of(from + 24 * US_PER_HOUR),
    )
    assert.equal(integrals[0]! / US_PER_HOUR, hours, date)
  }
})

test('a raw point that would lie before the first accepted instant, or behind the last one, is none', async () => {
  const noon = Date.parse('2024-03-31T12:00:00Z') * 1000
  const [from, to, now] = [0, 1, 100].map((hour) => instantFromUs(noon + hour * US_PER_HOUR)) as [
    ...[Instant, Instant, Instant],
  ]
  for (const [offset, time, find] of [
    ['1d', MIN_INSTANT + US_PER_HOUR, 'before'],
    ['-1d', END_INSTANT - US_PER_HOUR, 'after'],
  ] as const) {
    const source = new ArraySource(new Map([['T', columnsOf([[time, 4]])]]))
    const context = { source, now, zone: UTC, range: { from, to } }
    const options = { signatures: SIGNATURES, defaultHistorian: null, now, zone: UTC }
    const tree = parseTag(`calc/TIMESHIFT(MUL(h/T, h/T), ${offset})`, options)
    const series = seriesOf(tree, context, ({ name }) => storedTag(name, false, 'none'))
    assert.equal(await series.rawTime(find, from), null)
    assert.equal(await series.rawPoint(find, from), null)
    const { integrals } = await series.integrals(Float64Array.of(from), Float64Array.of(to))
    assert.deepEqual([...integrals], [offset === '1d' ? 16 * US_PER_HOUR : 0])
  }
})

/** A shifted tag with one point, near an end of the accepted range. */
function edgeCase(offset: string, zone: TimeZone, time: Instant, now: Instant) {
  const source = new ArraySource(new Map([['T', columnsOf([[time, 4]])]]))
  const context = { source, now, zone, range: { from: now, to: now } }
  const options = { signatures: SIGNATURES, defaultHistorian: null, now, zone }
  const tree = parseTag(`calc/TIMESHIFT(h/T, ${offset})`, options)
  return { source, series: seriesOf(tree, context, ({ name }) => storedTag(name, false, 'none')) }
}

test('there is no current point where it would lie before the first accepted instant', async () => {
  const now = instantFromUs(MIN_INSTANT + 12 * US_PER_HOUR)
  for (const id of ['UTC', 'Europe/Oslo']) {
    for (const offset of ['1', '1h', '1d', 'in 1 day', '1mo']) {
      const { series } = edgeCase(offset, parseTimeZone(id)!, MIN_INSTANT, now)
      const found = await series.currentPoint('before-or-at', now)
      assert.ok(found === null || found.bad, `${offset} in ${id}`)
      const { time = null } = found ?? {}
      assert.ok(time === null || time >= MIN_INSTANT, `${offset} in ${id}`)
    }
  }
})

test('a raw point is found from instants that lead nowhere', async () => {
  const day = 24 * US_PER_HOUR
  for (const id of ['UTC', 'Europe/Oslo']) {
    const zone = parseTimeZone(id)!
    const first = edgeCase('-1d', zone, MIN_INSTANT, instantFromUs(0))
    assert.equal((await first.series.rawPoint('after-or-at', MIN_INSTANT))?.time, MIN_INSTANT + day)
    const estimated = first.series.estimate([{ kind: 'point', find: 'after-or-at', at: MIN_INSTANT }])
    assert.ok(first.source.crossed <= costOf(estimated, first.source), id)
    const stored = instantFromUs(END_INSTANT - US_PER_HOUR)
    const last = edgeCase('1d', zone, stored, instantFromUs(0))
    const at = instantFromUs(END_INSTANT - 1)
    assert.equal((await last.series.rawPoint('before-or-at', at))?.time, stored - day)
  }
})
