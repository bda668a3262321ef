import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseDuration } from '../../../time/duration.ts'
import { instantFromUs, MIN_INSTANT, US_PER_HOUR } from '../../../time/instant.ts'
import { parseTime } from '../../../time/parse.ts'
import { parseTimeZone } from '../../../time/zone.ts'
import { RollingWindow } from './window.ts'

const OSLO = parseTimeZone('Europe/Oslo')!
const at = (text: string): number => parseTime(text, { now: instantFromUs(0), zone: OSLO })!
const window = (text: string): RollingWindow => RollingWindow.trailing(parseDuration(text)!, text, OSLO)

test('days and months are steps on the calendar', () => {
  const starts = (text: string, t: string, start: string): void =>
    assert.equal(window(text).startFor(at(t)), at(start), `${t} minus ${text}`)
  starts('1d', '2023-03-26T12:00', '2023-03-25T12:00')
  assert.equal(at('2023-03-26T12:00') - at('2023-03-25T12:00'), 23 * US_PER_HOUR)
  starts('PT24H', '2023-03-26T12:00', '2023-03-25T11:00')
  starts('1mo', '2024-03-31T06:00', '2024-02-29T06:00')
  starts('1mo', '2023-03-31T06:00', '2023-02-28T06:00')
  starts('1y', '2024-02-29T06:00', '2023-02-28T06:00')
  starts('1w', '2023-10-30T12:00', '2023-10-23T12:00')
})

test('no later window starts before the earliest start', () => {
  const spring = at('2023-03-20')
  const autumn = at('2023-10-20')
  fc.assert(
    fc.property(
      fc.constantFrom('1d', '1mo', '1y', 'P1M1D', '1w', '90m', 'P1DT6H'),
      fc.constantFrom(spring, autumn),
      fc.nat(20 * 24 * 60),
      fc.nat(20 * 24 * 60),
      (text, base, a, b) => {
        const one = window(text)
        const [earlier, later] = [base + Math.min(a, b) * 60e6, base + Math.max(a, b) * 60e6]
        assert.ok(one.earliestStart(earlier) <= one.startFor(later))
      },
    ),
    { numRuns: 2000 },
  )
})

test('a window is cut at the first accepted instant', () => {
  assert.equal(window('400y').startFor(at('2000-01-01')), MIN_INSTANT)
  const times = Float64Array.of(at('2000-01-01'))
  const { starts, ends } = window('400y').boundsAt(times, 'before')
  assert.deepEqual({ starts, ends }, { starts: Float64Array.of(MIN_INSTANT), ends: times })
})
