import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createInstantFormatter, formatInstant } from './format.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from './instant.ts'
import { parseTime } from './parse.ts'
import { anyInstant, anyZoneId, instant, ZONE_IDS, zone, zoned } from './time.fixture.ts'

const context = { now: 0 as Instant, zone: zone('UTC') }

test('an instant is printed with three fraction digits, six when there are microseconds, and the offset', () => {
  const prints = (at: Instant, id: string, expected: string): void =>
    assert.equal(formatInstant(at, zone(id)), expected)
  const at = instant('2023-09-25T15:29:04.446Z')
  prints(at, 'Europe/Oslo', '2023-09-25T17:29:04.446+02:00')
  prints(at, 'UTC', '2023-09-25T15:29:04.446Z')
  prints(at, 'Asia/Kolkata', '2023-09-25T20:59:04.446+05:30')
  prints(at, 'America/St_Johns', '2023-09-25T12:59:04.446-02:30')
  prints(at, '-03:30', '2023-09-25T11:59:04.446-03:30')
  prints(instantFromUs(at + 620), 'UTC', '2023-09-25T15:29:04.446620Z')
  prints(instantFromUs(at + 1), 'UTC', '2023-09-25T15:29:04.446001Z')
  prints(instant('2026-01-15T12:00:00Z'), 'Europe/London', '2026-01-15T12:00:00.000+00:00')
  prints(instant('1969-12-31T23:59:59.999999Z'), 'UTC', '1969-12-31T23:59:59.999999Z')
  prints(instant('1850-06-01T00:00:00Z'), 'Europe/Oslo', '1850-06-01T00:53:28.000+00:53:28')
  prints(MIN_INSTANT, 'UTC', '1700-01-01T00:00:00.000Z')
  prints(MIN_INSTANT, 'America/New_York', '1699-12-31T19:03:58.000-04:56:02')
  prints(instantFromUs(END_INSTANT - 1), 'UTC', '2199-12-31T23:59:59.999999Z')
})

test('the offset changes with the clocks', () => {
  const oslo = createInstantFormatter(zone('Europe/Oslo'))
  assert.equal(oslo(instant('2026-10-25T00:59:59.999Z')), '2026-10-25T02:59:59.999+02:00')
  assert.equal(oslo(instant('2026-10-25T01:00:00Z')), '2026-10-25T02:00:00.000+01:00')
  assert.equal(oslo(instant('2026-03-29T00:59:59.999Z')), '2026-03-29T01:59:59.999+01:00')
  assert.equal(oslo(instant('2026-03-29T01:00:00Z')), '2026-03-29T03:00:00.000+02:00')
})

test('every instant is printed as Temporal prints it, in any order', () => {
  const formatters = new Map(ZONE_IDS.map((id) => [id as string, createInstantFormatter(zone(id))]))
  fc.assert(
    fc.property(anyInstant, anyZoneId, fc.integer({ min: -90_000_000, max: 90_000_000 }), (at, id, step) => {
      for (const each of [at, at + step, at + 1, at]) {
        const expected = zoned(each, id).toPlainDateTime().toString({ fractionalSecondDigits: 6 })
        const printed = formatters.get(id)!(each)
        assert.equal(printed.slice(0, 23), expected.slice(0, 23))
        assert.equal(/^[+Z-]/.test(printed.slice(23)) ? '000' : printed.slice(23, 26), expected.slice(23))
      }
    }),
    { numRuns: 1000 },
  )
})

test('what is printed is read back to the microsecond', () => {
  fc.assert(
    fc.property(anyInstant, anyZoneId, (at, id) => {
      assert.equal(parseTime(formatInstant(at, zone(id)), context), at)
      if (!id.startsWith('+') && !id.startsWith('-')) {
        assert.equal(parseTime(`${formatInstant(at, zone(id))}[${id}]`, context), at)
      }
    }),
    { numRuns: 3000 },
  )
})
