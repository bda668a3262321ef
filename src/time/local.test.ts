import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { US_PER_DAY } from './instant.ts'
import { addCalendar, instantOfLocal, startOfDay } from './local.ts'
import { anyInstant, anyZoneId, instant, instantOf, shown, zone, zoned } from './time.fixture.ts'

const localOf = (text: string): number => instant(`${text}Z`)

test('a local time in a gap moves forward by it, in an overlap the first is meant', () => {
  const meant = (local: string, id: string, utc: string): void =>
    assert.equal(shown(instantOfLocal(localOf(local), zone(id))), utc, `${local} ${id}`)
  meant('2026-01-15T12:00', 'Europe/Oslo', '2026-01-15T11:00:00Z')
  meant('2026-07-15T12:00', 'Europe/Oslo', '2026-07-15T10:00:00Z')
  meant('2026-03-29T02:00', 'Europe/Oslo', '2026-03-29T01:00:00Z')
  meant('2026-03-29T02:30', 'Europe/Oslo', '2026-03-29T01:30:00Z')
  meant('2026-03-29T03:00', 'Europe/Oslo', '2026-03-29T01:00:00Z')
  meant('2026-10-25T02:30', 'Europe/Oslo', '2026-10-25T00:30:00Z')
  meant('2026-10-25T03:00', 'Europe/Oslo', '2026-10-25T02:00:00Z')
  meant('2026-10-04T02:15', 'Australia/Lord_Howe', '2026-10-03T15:45:00Z')
  meant('2026-04-05T01:45', 'Australia/Lord_Howe', '2026-04-04T14:45:00Z')
  meant('2018-11-04T00:00', 'America/Sao_Paulo', '2018-11-04T03:00:00Z')
  meant('2018-11-04T00:30', 'America/Sao_Paulo', '2018-11-04T03:30:00Z')
  meant('2023-04-28T00:00', 'Africa/Cairo', '2023-04-27T22:00:00Z')
  meant('2011-12-30T10:00', 'Pacific/Apia', '2011-12-30T20:00:00Z')
  meant('2026-01-15T12:00', 'Asia/Kolkata', '2026-01-15T06:30:00Z')
  meant('2026-01-15T12:00', '+02:00', '2026-01-15T10:00:00Z')
})

test('a local time is the instant that Temporal takes it for', () => {
  fc.assert(
    fc.property(anyInstant, anyZoneId, (local, id) => {
      const plain = zoned(local, 'UTC').toPlainDateTime()
      assert.equal(shown(instantOfLocal(local, zone(id))), shown(instantOf(plain.toZonedDateTime(id))))
    }),
    { numRuns: 2000 },
  )
})

test('around every change of the clocks too', () => {
  for (const id of [
    'Europe/Oslo',
    'America/St_Johns',
    'America/Toronto',
    'Pacific/Apia',
    'Asia/Manila',
    'America/Juneau',
  ]) {
    const { starts, offsets } = zone(id)
    for (let index = 1; index < Math.min(starts.length, 200); index++) {
      for (const minutes of [-1500, -61, -60, -31, -1, 0, 1, 15, 45, 60, 90, 1500]) {
        const local = starts[index]! + offsets[index]! + minutes * 60_000_000
        const plain = zoned(local, 'UTC').toPlainDateTime()
        assert.equal(instantOfLocal(local, zone(id)), instantOf(plain.toZonedDateTime(id)), `${id} ${plain}`)
        const day = Math.floor(local / US_PER_DAY)
        const start = plain.toPlainDate().toZonedDateTime(id)
        assert.equal(startOfDay(day, zone(id)), instantOf(start), `${id} ${plain.toPlainDate()}`)
      }
    }
  }
})

test('months and days are added as Temporal does', () => {
  const count = fc.integer({ min: -400, max: 400 })
  fc.assert(
    fc.property(anyInstant, anyZoneId, count, count, (at, id, months, days) => {
      // Temporal takes no amounts of two signs; one after the other differs in gaps.
      fc.pre(months * days >= 0)
      const expected = zoned(at, id).add({ months, days })
      assert.equal(shown(addCalendar(at, months, days, zone(id))), shown(instantOf(expected)))
    }),
    { numRuns: 1000 },
  )
})
