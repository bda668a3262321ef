import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Anchor, parseAnchor, parseWindow, type TotalWindow } from './anchor.ts'
import { instantFromUs, US_PER_DAY, US_PER_HOUR } from './instant.ts'
import { anyZoneId, instant, shown, zone } from './time.fixture.ts'
import { type AnchoredWindows, makeWindows, type WindowLayout } from './total-windows.ts'
import { ZONE_ABBREVIATIONS } from './zone-abbreviations.ts'

const OSLO = 'Europe/Oslo'
const anchor = (text: string, id = 'UTC'): Anchor => {
  const parsed = parseAnchor(text, zone(id))
  if (parsed === null) throw new Error(`no anchor ${text}`)
  return parsed
}
const window = (text: string): TotalWindow => {
  const parsed = parseWindow(text)
  if (parsed === null) throw new Error(`no window ${text}`)
  return parsed
}
const layout = (windowText: string, anchorText: string, id = 'UTC'): WindowLayout | string =>
  makeWindows(window(windowText), anchor(anchorText, id), zone(id))
const anchored = (windowText: string, anchorText: string, id = 'UTC'): AnchoredWindows => {
  const made = layout(windowText, anchorText, id)
  if (typeof made === 'string' || made.kind !== 'anchored')
    throw new Error(`not anchored: ${windowText}, ${anchorText}`)
  return made
}

test('anchors', () => {
  const reads = (text: string, expected: Anchor): void => assert.deepEqual(anchor(text), expected, text)
  reads('BEGIN_DAY', { kind: 'period', period: 'day' })
  reads('begin_quarter', { kind: 'period', period: 'quarter' })
  reads('00:00:00', { kind: 'utc-clock', us: 0 })
  reads('06:00', { kind: 'utc-clock', us: 6 * US_PER_HOUR })
  reads('-02:00', { kind: 'utc-clock', us: -2 * US_PER_HOUR })
  reads('06:00 local', { kind: 'local-clock', us: 6 * US_PER_HOUR })
  reads('-02:00:00 LOCAL', { kind: 'local-clock', us: -2 * US_PER_HOUR })
  reads('0', { kind: 'dynamic', shift: { kind: 'exact', us: 0 } })
  reads('-10m', { kind: 'dynamic', shift: { kind: 'exact', us: -600_000_000 } })
  reads('3600000', { kind: 'dynamic', shift: { kind: 'exact', us: US_PER_HOUR } })
  const fixed = (text: string, at: string): void => reads(text, { kind: 'fixed', at: instant(at) })
  fixed('2024-04-01T00:00:00Z', '2024-04-01T00:00:00Z')
  fixed('2024-04-01', '2024-04-01T00:00:00Z')
  fixed('2024-04-01T00:00[Europe/Oslo]', '2024-03-31T22:00:00Z')
  fixed('2024-04-01 00:00:00 CEST', '2024-03-31T22:00:00Z')
  fixed('2024-04-01 00:00:00 cet', '2024-03-31T23:00:00Z')
  fixed('2024-04-01T00:00:00UTC', '2024-04-01T00:00:00Z')
  fixed('2024-04-01 EDT', '2024-04-01T04:00:00Z')
  fixed('1711929600000', '2024-04-01T00:00:00Z')
  assert.equal(shown((anchor('2024-04-01', OSLO) as { at: number }).at), '2024-03-31T22:00:00Z')
})

test('what is no anchor or window is null', () => {
  for (const text of [
    '',
    'BEGIN',
    'BEGIN_',
    'BEGIN_MINUTE',
    'BEGIN_CONSTRUCTOR',
    'DAY',
    '6:00',
    '06:00 lokal',
    'local',
    'now',
    'yesterday',
    '2 hours ago',
    '2024-04-01 00:00:00 IST',
    '2024-04-01 00:00:00 XYZ',
    '2024-04-01 00:00:00Z CEST',
    '2024-04-01 00:00:00 CEST CEST',
    'a'.repeat(100_000),
    ' '.repeat(100_000),
  ]) {
    assert.equal(parseAnchor(text, zone('UTC')), null, text.slice(0, 50))
  }
  for (const text of ['', 'MINUTE', 'DAYS', '0', '-1h', 'BEGIN_DAY'])
    assert.equal(parseWindow(text), null, text)
})

test('abbreviations are those of the zones that use them', () => {
  const uses = (text: string, id: string, expected: string): void => {
    const at = (anchor(text) as { at: number }).at
    assert.equal(shown(at), expected)
    assert.equal(
      zone(id).offsetUsAt(at) / 60_000_000,
      (Date.parse(`${text.slice(0, 10)}T00:00Z`) - at / 1000) / 60_000,
    )
  }
  uses('2026-01-01 AEDT', 'Australia/Sydney', '2025-12-31T13:00:00Z')
  uses('2026-07-01 ACST', 'Australia/Adelaide', '2026-06-30T14:30:00Z')
  uses('2026-01-01 NZDT', 'Pacific/Auckland', '2025-12-31T11:00:00Z')
  uses('2026-07-01 NDT', 'America/St_Johns', '2026-07-01T02:30:00Z')
  uses('2026-07-01 AKDT', 'America/Anchorage', '2026-07-01T08:00:00Z')
  uses('2026-07-01 EEST', 'Europe/Helsinki', '2026-06-30T21:00:00Z')
  for (const text of ['AST', 'BST', 'CDT', 'CST', 'IST', 'PST', 'SST'])
    assert.ok(!ZONE_ABBREVIATIONS.includes(text))
})

test('the window that holds t', () => {
  const holds = (of: string, from: string, id: string, t: string, start: string, end: string): void => {
    const windows = anchored(of, from, id)
    assert.equal(shown(windows.startAt(instant(t))), shown(instant(start)), `${of}, ${from}: start`)
    assert.equal(shown(windows.endAt(instant(t))), shown(instant(end)), `${of}, ${from}: end`)
    assert.equal(windows.startAt(instant(start)), instant(start))
    assert.equal(windows.startAt(instantFromUs(instant(end) - 1)), instant(start))
    assert.equal(windows.startAt(instant(end)), instant(end))
  }
  const t = '2026-04-22T10:15:00+02:00'
  // Windows that are periods themselves restart with themselves.
  holds('HOUR', 'BEGIN_HOUR', OSLO, t, '2026-04-22T10:00:00+02:00', '2026-04-22T11:00:00+02:00')
  holds('HOUR', 'BEGIN_DAY', OSLO, t, '2026-04-22T10:00:00+02:00', '2026-04-22T11:00:00+02:00')
  holds('DAY', 'BEGIN_DAY', OSLO, t, '2026-04-22T00:00:00+02:00', '2026-04-23T00:00:00+02:00')
  holds('WEEK', 'BEGIN_WEEK', OSLO, t, '2026-04-20T00:00:00+02:00', '2026-04-27T00:00:00+02:00')
  holds(
    'WEEK',
    'BEGIN_MONTH',
    OSLO,
    '2026-05-02T00:00:00Z',
    '2026-04-27T00:00:00+02:00',
    '2026-05-04T00:00:00+02:00',
  )
  holds('MONTH', 'BEGIN_MONTH', OSLO, t, '2026-04-01T00:00:00+02:00', '2026-05-01T00:00:00+02:00')
  holds(
    'MONTH',
    'BEGIN_YEAR',
    OSLO,
    '2026-03-15T00:00:00Z',
    '2026-03-01T00:00:00+01:00',
    '2026-04-01T00:00:00+02:00',
  )
  holds(
    'QUARTER',
    'BEGIN_QUARTER',
    'UTC',
    '2023-03-15T00:00:00Z',
    '2023-01-01T00:00:00Z',
    '2023-04-01T00:00:00Z',
  )
  holds('YEAR', 'BEGIN_YEAR', OSLO, t, '2026-01-01T00:00:00+01:00', '2027-01-01T00:00:00+01:00')
  // Durations are laid from the anchor's beginning and begin anew at its next.
  holds(
    '15m',
    'BEGIN_HOUR',
    OSLO,
    '2026-04-22T10:20:00+02:00',
    '2026-04-22T10:15:00+02:00',
    '2026-04-22T10:30:00+02:00',
  )
  holds(
    '5h',
    'BEGIN_DAY',
    OSLO,
    '2026-04-22T22:00:00+02:00',
    '2026-04-22T20:00:00+02:00',
    '2026-04-23T00:00:00+02:00',
  )
  holds(
    '1d',
    'BEGIN_MONTH',
    OSLO,
    '2026-03-29T12:00:00+02:00',
    '2026-03-29T00:00:00+01:00',
    '2026-03-30T00:00:00+02:00',
  )
  holds(
    '1w',
    'BEGIN_MONTH',
    OSLO,
    '2026-04-30T12:00:00+02:00',
    '2026-04-29T00:00:00+02:00',
    '2026-05-01T00:00:00+02:00',
  )
  holds('5mo', 'BEGIN_YEAR', 'UTC', '2026-12-15T00:00:00Z', '2026-11-01T00:00:00Z', '2027-01-01T00:00:00Z')
  holds(
    '1d',
    'BEGIN_MONTH',
    'America/Asuncion',
    '2017-10-02T12:00:00Z',
    '2017-10-02T03:00:00Z',
    '2017-10-03T03:00:00Z',
  )
  // From the epoch's 00:00 UTC.
  holds('1d', '00:00:00', OSLO, t, '2026-04-22T00:00:00Z', '2026-04-23T00:00:00Z')
  holds('DAY', '-02:00', OSLO, t, '2026-04-21T22:00:00Z', '2026-04-22T22:00:00Z')
  holds('8h', '06:00', OSLO, t, '2026-04-22T06:00:00Z', '2026-04-22T14:00:00Z')
  holds('7h', '00:00', 'UTC', '1969-12-31T23:00:00Z', '1969-12-31T17:00:00Z', '1970-01-01T00:00:00Z')
  holds('MONTH', '06:00', OSLO, t, '2026-04-01T06:00:00Z', '2026-05-01T06:00:00Z')
  holds('1mo', '-02:00', OSLO, t, '2026-03-31T22:00:00Z', '2026-04-30T22:00:00Z')
  // From that time on the clocks of the zone.
  holds(
    '1d',
    '06:00 local',
    OSLO,
    '2026-03-29T05:00:00+02:00',
    '2026-03-28T06:00:00+01:00',
    '2026-03-29T06:00:00+02:00',
  )
  holds(
    '8h',
    '06:00 local',
    OSLO,
    '2026-03-29T01:00:00+01:00',
    '2026-03-28T22:00:00+01:00',
    '2026-03-29T06:00:00+02:00',
  )
  holds(
    '8h',
    '06:00 local',
    OSLO,
    '2026-07-01T12:00:00+02:00',
    '2026-07-01T06:00:00+02:00',
    '2026-07-01T14:00:00+02:00',
  )
  holds('WEEK', '06:00 local', OSLO, t, '2026-04-20T06:00:00+02:00', '2026-04-27T06:00:00+02:00')
  holds('MONTH', '06:00 local', OSLO, t, '2026-04-01T06:00:00+02:00', '2026-05-01T06:00:00+02:00')
  holds('DAY', '-02:00 local', OSLO, t, '2026-04-21T22:00:00+02:00', '2026-04-22T22:00:00+02:00')
  // From a fixed time, backwards too.
  holds('1d', '2024-04-01T07:00', OSLO, t, '2026-04-22T07:00:00+02:00', '2026-04-23T07:00:00+02:00')
  holds(
    '1d',
    '2027-04-01T07:00',
    OSLO,
    '2026-03-29T06:00:00+02:00',
    '2026-03-28T07:00:00+01:00',
    '2026-03-29T07:00:00+02:00',
  )
  holds('6h', '2024-04-01 00:00:00 CEST', OSLO, t, '2026-04-22T06:00:00+02:00', '2026-04-22T12:00:00+02:00')
  holds('MONTH', '2026-01-31', 'UTC', '2026-03-05T00:00:00Z', '2026-02-28T00:00:00Z', '2026-03-31T00:00:00Z')
  holds('WEEK', '2026-04-01', 'UTC', '2026-03-27T00:00:00Z', '2026-03-25T00:00:00Z', '2026-04-01T00:00:00Z')
})

test('a rolling window ends at t plus its offset', () => {
  const spans = (of: string, from: string, t: string, start: string, end: string): void => {
    const windows = layout(of, from, OSLO)
    if (typeof windows === 'string' || windows.kind !== 'rolling') throw new Error(`not rolling: ${from}`)
    assert.equal(shown(windows.startFor(instant(t))), shown(instant(start)), `${of}, ${from}`)
    assert.equal(shown(windows.endFor(instant(t))), shown(instant(end)), `${of}, ${from}`)
  }
  const t = '2026-03-29T12:00:00+02:00'
  spans('1h', '0', t, '2026-03-29T11:00:00+02:00', t)
  spans('DAY', '0', t, '2026-03-28T12:00:00+01:00', t)
  spans('24h', '0', t, '2026-03-28T11:00:00+01:00', t)
  spans('1h', '-30m', t, '2026-03-29T10:30:00+02:00', '2026-03-29T11:30:00+02:00')
  spans('1h', '1d', t, '2026-03-30T11:00:00+02:00', '2026-03-30T12:00:00+02:00')
  spans('YEAR', '0', t, '2025-03-29T12:00:00+01:00', t)
})

test('a window longer than its calendar anchor is refused, whatever else is set', () => {
  const refused = (of: string, from: string): void =>
    assert.equal(typeof layout(of, from), 'string', `${of}, ${from}`)
  for (const [of, from] of [
    ['DAY', 'BEGIN_HOUR'],
    ['25h', 'BEGIN_DAY'],
    ['WEEK', 'BEGIN_DAY'],
    ['8d', 'BEGIN_WEEK'],
    ['MONTH', 'BEGIN_WEEK'],
    ['32d', 'BEGIN_MONTH'],
    ['QUARTER', 'BEGIN_MONTH'],
    ['4mo', 'BEGIN_QUARTER'],
    ['13mo', 'BEGIN_YEAR'],
    ['P1Y1D', 'BEGIN_YEAR'],
  ] as const) {
    refused(of, from)
  }
  for (const [of, from] of [
    ['1h', 'BEGIN_HOUR'],
    ['24h', 'BEGIN_DAY'],
    ['1w', 'BEGIN_WEEK'],
    ['1mo', 'BEGIN_MONTH'],
    ['31d', 'BEGIN_MONTH'],
    ['3mo', 'BEGIN_QUARTER'],
    ['12mo', 'BEGIN_YEAR'],
    ['1y', 'BEGIN_YEAR'],
    ['100y', '00:00'],
  ] as const) {
    anchored(of, from)
  }
  assert.equal(
    layout('MONTH', 'BEGIN_DAY'),
    'The window MONTH is longer than a DAY, the period of its anchor BEGIN_DAY',
  )
})

test('starts in a range include both its ends, and are refused beyond the limit', () => {
  const windows = anchored('1d', 'BEGIN_DAY', OSLO)
  const starts = (from: string, to: string, limit: number): (string | null)[] | null => {
    const made = windows.startsIn(instant(from), instant(to), limit)
    return made === null ? null : [...made].map(shown)
  }
  const [first, second] = ['2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z']
  assert.deepEqual(starts(first, second, 2), [first, second])
  assert.deepEqual(starts('2026-03-28T23:00:00.000001Z', second, 1), [second])
  assert.deepEqual(starts(first, '2026-03-29T21:59:59.999999Z', 1), [first])
  assert.deepEqual(starts('2026-03-29T10:00:00Z', '2026-03-29T11:00:00Z', 0), [])
  assert.equal(starts(first, second, 1), null)
})

test('windows meet end to end, whichever t is asked for first', () => {
  const any = fc.constantFrom(
    ...['HOUR', 'DAY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR'].map((of) => [of, 'BEGIN_YEAR'] as const),
    ...['15m', '7h', '24h', '1d', '3d', '1w'].map((of) => [of, 'BEGIN_MONTH'] as const),
    ...['13m', '8h', '1d', 'WEEK', 'MONTH', '36h'].map((of) => [of, '-06:30:15 local'] as const),
    ...['13m', '8h', '1d', 'WEEK', 'MONTH'].map((of) => [of, '06:00'] as const),
    ...['13m', '8h', '1d', 'WEEK', 'MONTH', 'YEAR'].map((of) => [of, '2024-02-29T02:30'] as const),
  )
  const seconds = fc.integer({ min: -2_500_000_000, max: 4_000_000_000 })
  fc.assert(
    fc.property(any, anyZoneId, seconds, seconds, ([of, from], id, second, other) => {
      const windows = anchored(of, from, id)
      windows.startAt(instantFromUs(other * 1_000_000))
      const t = instantFromUs(second * 1_000_000 + 5)
      const [start, end] = [windows.startAt(t), windows.endAt(t)]
      assert.ok(start <= t && t < end, `${of} ${from} ${id} ${shown(t)} in ${shown(start)} ${shown(end)}`)
      const fresh = anchored(of, from, id)
      assert.equal(fresh.startAt(instantFromUs(end - 1)), start)
      assert.equal(fresh.endAt(start), end)
      assert.equal(anchored(of, from, id).startAt(end), end)
      assert.equal(anchored(of, from, id).endAt(instantFromUs(start - 1)), start)
      const until = instantFromUs(t + 40 * US_PER_DAY)
      const starts = [...(windows.startsIn(start, until, 10_000) ?? [])]
      assert.equal(starts[0], start)
      assert.equal(starts.at(-1), fresh.startAt(until))
    }),
    { numRuns: 1000 },
  )
})
