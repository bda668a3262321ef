import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyInstant, anyZoneId, zone, zoned } from './time.fixture.ts'
import { parseTimeZone, systemTimeZone, UTC } from './zone.ts'

test('zones are found by id in any case, and are the same object each time', () => {
  assert.equal(parseTimeZone('Europe/Oslo')?.id, 'Europe/Oslo')
  assert.equal(parseTimeZone('europe/OSLO'), parseTimeZone('Europe/Oslo'))
  assert.equal(parseTimeZone('utc'), UTC)
  assert.equal(parseTimeZone('+0200'), parseTimeZone('+02:00'))
  assert.equal(parseTimeZone('+02')?.id, '+02:00')
})

test('whatever is no zone is null', () => {
  for (const text of [
    '',
    ' ',
    ' UTC',
    'Z',
    'Oslo',
    'Europe/Nowhere',
    '+2',
    '+24:00',
    '+02:60',
    '+02:00:30',
    '2020-01-01T00:00[Europe/Oslo]',
    '[Europe/Oslo]',
    '__proto__',
    'constructor',
    'a'.repeat(10_000),
    'Europe/Oslo\n',
    'Europe/Oslo\0',
  ]) {
    assert.equal(parseTimeZone(text), null, JSON.stringify(text))
  }
})

test('only UTC and its other names are UTC', () => {
  for (const id of ['UTC', 'Etc/UTC', 'Zulu']) assert.equal(zone(id).isUtc, true, id)
  for (const id of ['Europe/London', '+00:00', 'Africa/Abidjan']) assert.equal(zone(id).isUtc, false, id)
})

test('the zone of the system exists', () => {
  assert.equal(parseTimeZone(systemTimeZone().id), systemTimeZone())
})

test('offsets agree with Temporal everywhere', () => {
  fc.assert(
    fc.property(anyInstant, anyZoneId, (at, id) => {
      assert.equal(zone(id).offsetUsAt(at), zoned(at, id).offsetNanoseconds / 1000)
    }),
    { numRuns: 2000 },
  )
})

test('offsets agree with Temporal on both sides of every change', () => {
  for (const id of ['Europe/Oslo', 'Australia/Lord_Howe', 'Pacific/Apia', 'Africa/Casablanca']) {
    const { starts, offsets } = zone(id)
    for (let index = 1; index < starts.length; index++) {
      const at = starts[index]!
      assert.equal(zone(id).offsetUsAt(at), zoned(at, id).offsetNanoseconds / 1000)
      assert.equal(zone(id).offsetUsAt(at - 1), offsets[index - 1])
      assert.equal(zoned(at - 1, id).offsetNanoseconds / 1000, offsets[index - 1])
    }
  }
})
