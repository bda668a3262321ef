import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instantFromUs, US_PER_MINUTE } from './instant.ts'
import { type ClockPeriod, startOfNextPeriod, startOfPeriod } from './periods.ts'
import { parseTimeZone } from './zone.ts'

const at = (text: string) => instantFromUs(Date.parse(text) * 1000)

test('hours and minutes follow each other without a gap, whatever the clocks do', () => {
  const changes: readonly (readonly [id: string, change: string, period: ClockPeriod])[] = [
    ['Europe/Oslo', '2024-03-31T01:00:00Z', 'hour'],
    ['Europe/Oslo', '2024-10-27T01:00:00Z', 'hour'],
    ['Australia/Lord_Howe', '2024-04-06T15:00:00Z', 'hour'],
    ['Australia/Lord_Howe', '2024-10-05T15:30:00Z', 'hour'],
    ['America/St_Johns', '1987-04-05T03:31:00Z', 'hour'],
    ['America/St_Johns', '1987-10-25T02:31:00Z', 'hour'],
    ['America/St_Johns', '1988-10-30T01:31:00Z', 'hour'],
    ['Europe/Paris', '1911-03-10T23:50:39Z', 'minute'],
  ]
  for (const [id, change, period] of changes) {
    const zone = parseTimeZone(id)!
    for (let minutes = -240; minutes < 240; minutes++) {
      const time = instantFromUs(at(change) + minutes * US_PER_MINUTE + 7_000_000)
      const what = `${period} of ${new Date(time / 1000).toISOString()} in ${id}`
      const [start, end] = [startOfPeriod(time, period, zone), startOfNextPeriod(time, period, zone)]
      assert.ok(start <= time && time < end, what)
      assert.equal(startOfPeriod(instantFromUs(end - 1), period, zone), start, what)
      assert.equal(startOfPeriod(end, period, zone), end, what)
      assert.equal(startOfPeriod(time, period, zone, 1), end, what)
    }
  }
})

test('clocks that go back a minute after midnight show the hour before once more, and then midnight again', () => {
  const zone = parseTimeZone('America/St_Johns')!
  const hours = ['1987-10-25T02:30Z', '1987-10-25T02:31Z', '1987-10-25T03:30Z', '1987-10-25T04:30Z'].map(at)
  let start = hours[0]!
  for (const hour of hours) {
    assert.equal(start, hour)
    start = startOfNextPeriod(start, 'hour', zone)
  }
})
