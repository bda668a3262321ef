import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timeTicks } from './ticks.ts'
import { addDays, durationText, instantOf, isDoubled, isoText, offsetText, timeText } from './zone.ts'

const OSLO = 'Europe/Oslo'
const at = (text: string) => Date.parse(text)

test('instants are written with the offset of their zone, and can be read back', () => {
  assert.equal(isoText(at('2026-07-01T10:00:00.250Z'), OSLO), '2026-07-01T12:00:00.250+02:00')
  assert.equal(isoText(at('2026-01-01T00:00:00Z'), 'Asia/Kolkata'), '2026-01-01T05:30:00.000+05:30')
  assert.equal(offsetText(0, 'UTC'), 'Z')
})

test('the hour that a clock change doubles is told apart by its offset', () => {
  assert.equal(timeText(at('2026-10-25T00:30:00Z'), OSLO), '2026-10-25 02:30:00 +02:00')
  assert.equal(timeText(at('2026-10-25T01:30:00Z'), OSLO), '2026-10-25 02:30:00 +01:00')
  assert.equal(isDoubled(at('2026-10-25T02:00:00Z'), OSLO), false)
  assert.equal(isDoubled(at('2026-10-24T23:59:00Z'), OSLO), false)
})

test('a wall-clock time is its first instant, and moves on by a gap', () => {
  assert.equal(instantOf(Date.UTC(2026, 9, 25, 2, 30), OSLO), at('2026-10-25T00:30:00Z'))
  assert.equal(instantOf(Date.UTC(2026, 2, 29, 2, 30), OSLO), at('2026-03-29T01:30:00Z'))
})

test('a day earlier is the same time of day, also across a clock change', () => {
  assert.equal(addDays(at('2026-10-25T11:00:00Z'), -1, OSLO), at('2026-10-24T10:00:00Z'))
  assert.equal(addDays(at('2026-03-29T10:00:00Z'), -7, OSLO), at('2026-03-22T11:00:00Z'))
})

test('ticks stand at wall-clock times: hours over a clock change, days, weeks, months and years', () => {
  const labels = (from: string, to: string, width: number) =>
    timeTicks(at(from), at(to), width, OSLO).map(({ label, below }) => `${label} ${below}`.trim())
  assert.deepEqual(labels('2026-03-28T23:00:00Z', '2026-03-29T04:00:00Z', 500), [
    '00:00 Sun 29 Mar',
    '01:00',
    '03:00',
    '04:00',
    '05:00',
    '06:00',
  ])
  assert.deepEqual(labels('2026-10-24T12:00:00Z', '2026-10-26T12:00:00Z', 200), ['25 Oct 2026', '26 Oct'])
  assert.deepEqual(labels('2025-11-15T00:00:00Z', '2026-02-15T00:00:00Z', 400), [
    'Dec 2025',
    'Jan 2026',
    'Feb',
  ])
  assert.deepEqual(labels('2020-06-01T00:00:00Z', '2026-02-15T00:00:00Z', 400), ['2022', '2024', '2026'])
  assert.deepEqual(labels('2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.020Z', 400), [
    '01:00:00.000 Thu 1 Jan',
    '01:00:00.005',
    '01:00:00.010',
    '01:00:00.015',
    '01:00:00.020',
  ])
})

test('durations have their two largest units', () => {
  assert.deepEqual([250, 1_500, 90_000, 28_800_000, 93_600_000, 86_399_999].map(durationText), [
    '250 ms',
    '1.5 s',
    '1 min 30 s',
    '8 h',
    '1 d 2 h',
    '1 d',
  ])
})
