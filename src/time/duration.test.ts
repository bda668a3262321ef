import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addDuration, type Duration, parseDuration, rateUs } from './duration.ts'
import { US_PER_DAY, US_PER_HOUR, US_PER_MINUTE, US_PER_SECOND } from './instant.ts'
import { anyInstant, anyZoneId, instant, instantOf, shown, zone, zoned } from './time.fixture.ts'

const exact = (us: number): Duration => ({ kind: 'exact', us })
const steps = (parts: Partial<Duration>): Duration =>
  ({ kind: 'calendar', years: 0, months: 0, weeks: 0, days: 0, us: 0, ...parts }) as Duration
const duration = (text: string): Duration => {
  const parsed = parseDuration(text)
  if (parsed === null) throw new Error(`no duration ${text}`)
  return parsed
}

test('durations', () => {
  const reads = (text: string, expected: Duration): void =>
    assert.deepEqual(parseDuration(text), expected, text)
  reads('1s', exact(US_PER_SECOND))
  reads('1m', exact(US_PER_MINUTE))
  reads('1h', exact(US_PER_HOUR))
  reads('1H', exact(US_PER_HOUR))
  reads('250ms', exact(250_000))
  reads('1.5h', exact(1.5 * US_PER_HOUR))
  reads('0.1s', exact(100_000))
  reads('90 minutes', exact(90 * US_PER_MINUTE))
  reads('1d', steps({ days: 1 }))
  reads('1.0d', steps({ days: 1 }))
  reads('1w', steps({ weeks: 1 }))
  reads('1mo', steps({ months: 1 }))
  reads('3MO', steps({ months: 3 }))
  reads('1y', steps({ years: 1 }))
  reads('14mo', steps({ months: 14 }))
  reads('0.5d', exact(US_PER_DAY / 2))
  reads('1.5w', exact(10.5 * US_PER_DAY))
  reads('24h', exact(US_PER_DAY))
  reads('PT1H', exact(US_PER_HOUR))
  reads('pt1h30m', exact(1.5 * US_PER_HOUR))
  reads('PT0,5S', exact(500_000))
  reads('PT1.5H', exact(1.5 * US_PER_HOUR))
  reads('P1D', steps({ days: 1 }))
  reads('P1M', steps({ months: 1 }))
  reads('P1DT6H', steps({ days: 1, us: 6 * US_PER_HOUR }))
  reads('P1Y2M3W4DT5H', steps({ years: 1, months: 2, weeks: 3, days: 4, us: 5 * US_PER_HOUR }))
  reads('2 days and 5 seconds', steps({ days: 2, us: 5 * US_PER_SECOND }))
  reads('1 hour, 30 minutes', exact(1.5 * US_PER_HOUR))
  reads('1y, 2mo, 3w, 4d and 5h', steps({ years: 1, months: 2, weeks: 3, days: 4, us: 5 * US_PER_HOUR }))
  reads('1 Day, and 0.5d', steps({ days: 1, us: US_PER_DAY / 2 }))
  reads('1 quarter and 1 month', steps({ months: 4 }))
  reads('0 days and 1 second', exact(US_PER_SECOND))
  reads('3600000', exact(US_PER_HOUR))
  reads('0.5', exact(500))
  reads(' 1h ', exact(US_PER_HOUR))
})

test('what is no duration above zero is null', () => {
  for (const text of [
    '',
    ' ',
    'h',

    '1M',
    '-1h',
    '+1h',
    '0',
    '0h',
    '0d',
    'P0D',
    'PT0S',
    '0.0000001s',
    '1.5mo',
    '0.5y',
    '1x',
    '1h30m',
    '1 hour and',
    '1 day 2 hours',
    '1h,,1m',
    ', 1h',
    '1 day and 3600',
    '1h and 1M',
    '1h and PT1M',
    '0s and 0d',
    `1h${' and 1h'.repeat(20)}`,
    '1e3',
    '.5h',
    '1.h',
    'P',
    'PT',
    'P1',
    'P1H',
    'P1DT',
    'P1.5D',
    'PT1.5H30M',
    'PT1H1D',
    '-P1D',
    '700y',
    '99999999999d',
    '999999999999999h',
    'P999999Y',
    'Infinity',
    '1h'.repeat(100_000),
    '9'.repeat(100_000),
  ]) {
    assert.equal(parseDuration(text), null, text.slice(0, 50))
  }
})

test('as a rate, days have 24 hours, and months and years no length', () => {
  const rate = (text: string): number | null => rateUs(duration(text))
  assert.equal(rate('1h'), US_PER_HOUR)
  assert.equal(rate('1d'), US_PER_DAY)
  assert.equal(rate('1w'), 168 * US_PER_HOUR)
  assert.equal(rate('P1DT6H'), 30 * US_PER_HOUR)
  assert.equal(rate('1mo'), null)
  assert.equal(rate('1y'), null)
  assert.equal(rate('P1M1D'), null)
})

test('calendar steps keep the wall clock, exact ones do not', () => {
  const adds = (at: string, text: string, times: number, id: string, expected: string): void =>
    assert.equal(
      shown(addDuration(instant(at), duration(text), zone(id), times)),
      expected,
      `${at} ${times} ${text}`,
    )
  adds('2026-03-28T11:00:00Z', '1d', 1, 'Europe/Oslo', '2026-03-29T10:00:00Z')
  adds('2026-03-28T11:00:00Z', '24h', 1, 'Europe/Oslo', '2026-03-29T11:00:00Z')
  adds('2026-03-29T10:00:00Z', '1d', -1, 'Europe/Oslo', '2026-03-28T11:00:00Z')
  adds('2026-03-28T01:30:00Z', '1d', 1, 'Europe/Oslo', '2026-03-29T01:30:00Z')
  adds('2026-03-28T11:00:00Z', 'P1DT6H', 2, 'Europe/Oslo', '2026-03-30T22:00:00Z')
  adds('2026-01-31T00:00:00Z', '1mo', 1, 'UTC', '2026-02-28T00:00:00Z')
  adds('2026-01-31T00:00:00Z', '1mo', 2, 'UTC', '2026-03-31T00:00:00Z')
  adds('2024-02-29T00:00:00Z', '1y', 1, 'UTC', '2025-02-28T00:00:00Z')
  adds('2024-02-29T00:00:00Z', '1y', 4, 'UTC', '2028-02-29T00:00:00Z')
  adds('2026-10-25T01:30:00Z', '1mo', 0, 'Europe/Oslo', '2026-10-25T01:30:00Z')
})

test('calendar steps are those of Temporal', () => {
  const count = fc.integer({ min: 0, max: 30 })
  fc.assert(
    fc.property(anyInstant, anyZoneId, count, count, count, (at, id, months, days, hours) => {
      const us = hours * US_PER_HOUR
      const step = steps({ months, days, us })
      const expected = zoned(at, id).add({ months, days }).add({ hours })
      assert.equal(shown(addDuration(at, step, zone(id))), shown(instantOf(expected)))
    }),
    { numRuns: 1000 },
  )
})

test('no text makes it throw, and what it reads is above zero', () => {
  const unit = fc.constantFrom('s', 'ms', 'h', 'd', 'w', 'mo', 'y', 'M', 'P', 'T', '.', '-', ' ')
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.oneof(unit, fc.nat().map(String)), { maxLength: 8 }).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(text, (each) => {
      const parsed = parseDuration(each)
      if (parsed === null) return
      assert.ok(addDuration(instant('2000-01-01T00:00:00Z'), parsed, zone('UTC')) > 946_684_800_000_000)
    }),
    { numRuns: 2000 },
  )
})
