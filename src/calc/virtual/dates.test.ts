import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FIRST_AGGREGATE_NAMES } from '../../series/aggregate-names.ts'
import { concatColumns } from '../../series/columns.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT, US_PER_DAY } from '../../time/instant.ts'
import { parseTimeZone, type TimeZone } from '../../time/zone.ts'
import { emptyContext, NOW, virtualTag } from './virtual.fixture.ts'

/** Zones with every oddity: clocks that go over midnight, days that were left out or came twice, offsets of seconds. */
const ZONES = [
  'UTC',
  'Europe/Oslo',
  'America/Sao_Paulo',
  'America/St_Johns',
  'America/Havana',
  'Asia/Beirut',
  'Pacific/Apia',
  'Pacific/Kwajalein',
  'America/Juneau',
  'Asia/Manila',
  'Africa/Monrovia',
  'Australia/Lord_Howe',
  '+05:45',
].map((id) => parseTimeZone(id)!)

const zones = fc.constantFrom(...ZONES)

/** Any time, and often one within two days of a change of the clocks. */
const times: fc.Arbitrary<readonly [TimeZone, Instant]> = fc
  .tuple(
    zones,
    fc.integer({ min: MIN_INSTANT, max: END_INSTANT - 1 }),
    fc.nat(),
    fc.integer({ min: -48, max: 48 }),
    fc.integer({ min: -2, max: 2 }),
  )
  .map(([zone, any, index, hours, us]) => {
    const change = zone.starts[1 + (index % Math.max(1, zone.starts.length - 1))]
    if (index % 3 === 0 || change === undefined || Math.abs(change) > END_INSTANT - 3 * US_PER_DAY)
      return [zone, instantFromUs(any)]
    return [zone, instantFromUs(change + (hours * US_PER_DAY) / 24 + us)]
  })

function zoned(at: number, zone: TimeZone): Temporal.ZonedDateTime {
  return new Temporal.ZonedDateTime(BigInt(at) * 1000n, zone.id)
}

/** What Temporal says of each name. */
const REFERENCE: Readonly<
  Record<string, (date: Temporal.ZonedDateTime, now: Temporal.ZonedDateTime) => number>
> = {
  DAY: (date) => date.day,
  DAY_OF_MONTH: (date) => date.day,
  DAY_OF_WEEK: (date) => date.dayOfWeek,
  DAY_OF_YEAR: (date) => date.dayOfYear,
  MONTH: (date) => date.month,
  YEAR: (date) => date.year,
  DAYS_IN_MONTH: (date) => date.daysInMonth,
  IS_TODAY: (date, now) => Number(date.toPlainDate().equals(now.toPlainDate())),
  IS_BEFORE_TODAY: (date, now) =>
    Number(Temporal.PlainDate.compare(date.toPlainDate(), now.toPlainDate()) < 0),
}
const WITH_UTC = ['DAY', 'DAY_OF_MONTH', 'DAY_OF_WEEK', 'DAY_OF_YEAR', 'MONTH', 'YEAR']

test('every tag says what Temporal says, at any time in any zone', async () => {
  await fc.assert(
    fc.asyncProperty(times, times, async ([zone, at], [, now]) => {
      const context = emptyContext({ zone, now })
      for (const [name, expected] of Object.entries(REFERENCE)) {
        const [value] = await virtualTag(`dates/${name}`, context).valuesAt(Float64Array.of(at))
        assert.equal(value, expected(zoned(at, zone), zoned(now, zone)), name)
      }
      const utc = zoned(at, ZONES[0]!)
      for (const name of WITH_UTC) {
        const [value] = await virtualTag(`date/${name}_UTC`, context).valuesAt(Float64Array.of(at))
        assert.equal(value, REFERENCE[name]!(utc, utc), `${name}_UTC`)
      }
    }),
    { numRuns: 400 },
  )
})

test('raw points stand just where the date changes, and hold its value until the next', async () => {
  const date = (at: number, zone: TimeZone) => zoned(at, zone).toPlainDate().toString()
  await fc.assert(
    fc.asyncProperty(times, async ([zone, at]) => {
      const series = virtualTag('dates/DAY', emptyContext({ zone }))
      const before = await series.rawPoint('before-or-at', at)
      const after = await series.rawPoint('after', at)
      if (before !== null) {
        assert.notEqual(date(before.time, zone), date(before.time - 1, zone))
        assert.equal(date(before.time, zone), date(at, zone))
        assert.equal(before.value, zoned(at, zone).day)
        assert.ok(at - before.time < 2.1 * US_PER_DAY)
      } else assert.ok(at < MIN_INSTANT + 2 * US_PER_DAY)
      if (after !== null) {
        assert.ok(after.time > at)
        assert.notEqual(date(after.time, zone), date(after.time - 1, zone))
        // The whole way between them is one date.
        for (const part of [0.2, 0.5, 0.8, 1]) {
          assert.equal(date(Math.ceil(at + part * (after.time - 1 - at)), zone), date(at, zone))
        }
        assert.equal(await series.rawTime('after-or-at', after.time), after.time)
      } else assert.ok(at > END_INSTANT - 2 * US_PER_DAY)
    }),
    { numRuns: 800 },
  )
})

test('raw points of a range are the same in both orders, in chunks, and one by one', async () => {
  await fc.assert(
    fc.asyncProperty(times, fc.integer({ min: 1, max: 40 * US_PER_DAY }), async ([zone, from], length) => {
      const series = virtualTag('dates/DAY', emptyContext({ zone }))
      const to = instantFromUs(Math.min(from + length, END_INSTANT))
      if (from >= to) return
      const range = { from, to, limit: 1000 }
      const { points } = await series.rawPoints({ ...range, order: 'asc' })
      const descending = (await series.rawPoints({ ...range, order: 'desc' })).points
      assert.deepEqual(Array.from(descending.times).reverse(), Array.from(points.times))
      const oneByOne: number[] = []
      for (let at = await series.rawTime('after-or-at', from); at !== null && at < to; ) {
        oneByOne.push(at)
        at = await series.rawTime('after', at)
      }
      assert.deepEqual(Array.from(points.times), oneByOne)
      const stream = series.chunks({ from, to, order: 'asc', page: 3, extent: 'all' })
      const raw = []
      for (let chunk = await stream.next(); chunk !== null; chunk = await stream.next()) raw.push(chunk.raw)
      assert.deepEqual(concatColumns(raw), points)
    }),
    { numRuns: 200 },
  )
})

test('five centuries have 182,621 midnights', async () => {
  const series = virtualTag('dates/YEAR_UTC')
  const found = await series.aggregates(Float64Array.of(MIN_INSTANT, END_INSTANT), FIRST_AGGREGATE_NAMES)
  assert.deepEqual(
    [found.count![0], found.min![0], found.max![0], found.first![0], found.last![0]],
    [182_621, 1700, 2199, 1700, 2199],
  )
  const mean = Temporal.PlainDate.from('1700-01-01').until('2200-01-01', { largestUnit: 'day' }).days
  assert.equal(mean, 182_621)
})

test('CURRENT_EPOCH_MS is the call, not the time asked for', async () => {
  const now = instantFromUs(NOW + 250)
  for (const name of ['CURRENT_EPOCH_MS', 'current_epoch_ms_utc']) {
    const series = virtualTag(`dates/${name}`, emptyContext({ now }))
    assert.equal(series.varies, 'nothing')
    assert.deepEqual(
      await series.valuesAt(Float64Array.of(0, NOW)),
      Float64Array.of(NOW / 1000 + 0.25, NOW / 1000 + 0.25),
    )
  }
})

for (const name of [
  'DAYS_IN_MONTH_UTC',
  'IS_TODAY_UTC',
  'IS_BEFORE_TODAY_UTC',
  '_UTC',
  'HOUR',
  'DAY_UTC_UTC',
  'constructor',
  'DAY ',
]) {
  test(`there is no dates/${name}`, () => {
    assert.throws(() => virtualTag(`dates/${name}`), {
      code: 'TAG_NOT_FOUND',
      message: `Tag dates/${name} does not exist`,
    })
  })
}
