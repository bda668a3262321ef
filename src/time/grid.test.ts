import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Duration, parseDuration } from './duration.ts'
import {
  countSteps,
  countWindows,
  evenEdges,
  evenGrid,
  intervalWindows,
  stepGrid,
  windowEdges,
} from './grid.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from './instant.ts'
import { anyInstant, anyZoneId, instant, instantOf, shown, zone, zoned } from './time.fixture.ts'
import { parseWindowAnchor } from './window-anchor.ts'

const duration = (text: string): Duration => {
  const parsed = parseDuration(text)
  if (parsed === null) throw new Error(`no duration ${text}`)
  return parsed
}
const us = instantFromUs

/** round(from + i (to - from) / parts), halves up, in whole numbers of any size. */
function evenReference(from: number, to: number, parts: number): number[] {
  const [first, span, count] = [BigInt(from), BigInt(to) - BigInt(from), BigInt(parts)]
  return Array.from({ length: parts + 1 }, (_, i) =>
    Number(first + (2n * BigInt(i) * span + count) / (2n * count)),
  )
}

test('an even grid has its points at from, to, and evenly between', () => {
  assert.deepEqual([...evenGrid(us(0), us(10), 3)], [0, 5, 10])
  assert.deepEqual([...evenGrid(us(0), us(10), 4)], [0, 3, 7, 10])
  assert.deepEqual([...evenGrid(us(0), us(1), 3)], [0, 1, 1])
  assert.deepEqual([...evenGrid(us(-10), us(-9), 3)], [-10, -9, -9])
  assert.deepEqual([...evenGrid(us(7), us(9), 2)], [7, 9])
  assert.deepEqual([...evenGrid(us(7), us(7), 1)], [7])
  assert.deepEqual([...evenEdges(us(0), us(10), 3)], [0, 3, 7, 10])
  assert.deepEqual([...evenEdges(us(0), us(10), 1)], [0, 10])
})

test('an even grid is exact, over the whole accepted range too', () => {
  const last = us(END_INSTANT - 1)
  for (const [from, to] of [
    [MIN_INSTANT, last],
    [us(MIN_INSTANT + 1), last],
    [us(MIN_INSTANT + 2), us(END_INSTANT - 4)],
  ] as const) {
    for (const parts of [1, 2, 3, 7, 999, 10_007]) {
      assert.deepEqual([...evenEdges(from, to, parts)], evenReference(from, to, parts))
    }
  }
  fc.assert(
    fc.property(anyInstant, anyInstant, fc.integer({ min: 1, max: 300 }), (a, b, parts) => {
      const [from, to] = a <= b ? [a, b] : [b, a]
      assert.deepEqual([...evenEdges(from, to, parts)], evenReference(from, to, parts))
      assert.deepEqual([...evenGrid(from, to, parts + 1)], evenReference(from, to, parts))
    }),
  )
})

test('steps begin at from and end at or before to', () => {
  const steps = (from: string, to: string, step: string, id: string, expected: string[]): void => {
    const times = stepGrid(instant(from), instant(to), duration(step), zone(id), 1000)
    assert.deepEqual(
      [...(times ?? [])].map(shown),
      expected.map((text) => shown(instant(text))),
    )
  }
  steps('2026-01-01T00:10:00Z', '2026-01-01T02:10:00Z', '1h', 'UTC', [
    '2026-01-01T00:10:00Z',
    '2026-01-01T01:10:00Z',
    '2026-01-01T02:10:00Z',
  ])
  steps('2026-01-01T00:00:00Z', '2026-01-01T00:59:59Z', '1h', 'UTC', ['2026-01-01T00:00:00Z'])
  steps('2026-01-31T12:00:00Z', '2026-05-31T12:00:00Z', '1mo', 'UTC', [
    '2026-01-31T12:00:00Z',
    '2026-02-28T12:00:00Z',
    '2026-03-31T12:00:00Z',
    '2026-04-30T12:00:00Z',
    '2026-05-31T12:00:00Z',
  ])
  steps('2026-03-28T06:00:00+01:00', '2026-03-30T06:00:00+02:00', '1d', 'Europe/Oslo', [
    '2026-03-28T06:00:00+01:00',
    '2026-03-29T06:00:00+02:00',
    '2026-03-30T06:00:00+02:00',
  ])
  // 30 December 2011 was left out there.
  steps('2011-12-29T10:00:00-10:00', '2012-01-01T10:00:00+14:00', '1d', 'Pacific/Apia', [
    '2011-12-29T10:00:00-10:00',
    '2011-12-31T10:00:00+14:00',
    '2012-01-01T10:00:00+14:00',
  ])
})

test('steps beyond the limit are not made', () => {
  assert.equal(stepGrid(us(0), us(10), { kind: 'exact', us: 1 }, zone('UTC'), 10), null)
  assert.equal(stepGrid(us(0), us(10), { kind: 'exact', us: 1 }, zone('UTC'), 11)?.length, 11)
  assert.equal(stepGrid(MIN_INSTANT, us(END_INSTANT - 1), { kind: 'exact', us: 1 }, zone('UTC'), 1e6), null)
  const [from, to] = [instant('2026-01-01T00:00:00Z'), instant('2026-12-31T00:00:00Z')]
  assert.equal(stepGrid(from, to, duration('1d'), zone('Europe/Oslo'), 364), null)
  assert.equal(stepGrid(from, to, duration('1d'), zone('Europe/Oslo'), 365)?.length, 365)
})

const INTERVALS = [
  '7m',
  '15m',
  '1h',
  '5h',
  '24h',
  '36h',
  '1d',
  '3d',
  '1w',
  '2w',
  '1mo',
  '5mo',
  '1y',
  'P1M1D',
  'P1DT6H',
]
const HOUR_US = 3_600_000_000
const anyInterval = fc.constantFrom(...INTERVALS)
const anyRange = fc
  .tuple(
    fc.integer({ min: -2_000_000_000, max: 4_000_000_000 }),
    fc.integer({ min: 1, max: 2_000 * HOUR_US }),
  )
  .map(([seconds, length]) => [us(seconds * 1_000_000 + 17), us(seconds * 1_000_000 + 17 + length)] as const)

test('steps are counted without making them', () => {
  fc.assert(
    fc.property(anyRange, anyInterval, anyZoneId, ([from, to], text, id) => {
      const step = duration(text)
      const made = stepGrid(from, to, step, zone(id), 1e6)!.length
      const counted = countSteps(from, to, step)
      if (step.kind === 'exact') assert.equal(counted, made)
      else assert.ok(counted >= made && counted <= made + 4, `${counted} for ${made}`)
    }),
    { numRuns: 500 },
  )
})

test('boundaries of intervals are local', () => {
  const edges = (from: string, to: string, interval: string, id: string, between: string[]): void => {
    const made = windowEdges(
      instant(from),
      instant(to),
      intervalWindows(duration(interval), null, zone(id)),
      1000,
    )
    assert.deepEqual(
      [...(made ?? [])].map(shown),
      [from, ...between, to].map((text) => shown(instant(text))),
      interval,
    )
  }
  const oslo = 'Europe/Oslo'
  edges('2026-01-01T00:10:00Z', '2026-01-01T02:10:00Z', '1h', 'UTC', [
    '2026-01-01T01:00:00Z',
    '2026-01-01T02:00:00Z',
  ])
  edges('2026-01-01T00:00:00Z', '2026-01-01T02:00:00Z', '1h', 'UTC', ['2026-01-01T01:00:00Z'])
  edges('2026-01-01T00:10:00Z', '2026-01-01T00:20:00Z', '1h', 'UTC', [])
  edges('2026-01-01T00:00:00Z', '2026-01-01T02:00:00Z', '1h', 'Asia/Kolkata', [
    '2026-01-01T00:30:00Z',
    '2026-01-01T01:30:00Z',
  ])
  // Five hours begin anew at midnight.
  edges('2026-01-01T14:00:00+01:00', '2026-01-02T06:00:00+01:00', '5h', oslo, [
    '2026-01-01T15:00:00+01:00',
    '2026-01-01T20:00:00+01:00',
    '2026-01-02T00:00:00+01:00',
    '2026-01-02T05:00:00+01:00',
  ])
  // And count exactly, so a day of 23 hours shifts them on the clock.
  edges('2026-03-29T00:00:00+01:00', '2026-03-30T00:00:00+02:00', '6h', oslo, [
    '2026-03-29T07:00:00+02:00',
    '2026-03-29T13:00:00+02:00',
    '2026-03-29T19:00:00+02:00',
  ])
  edges('2026-10-25T00:00:00+02:00', '2026-10-26T00:00:00+01:00', '12h', oslo, [
    '2026-10-25T11:00:00+01:00',
    '2026-10-25T23:00:00+01:00',
  ])
  edges('2026-03-28T12:00:00+01:00', '2026-03-30T12:00:00+02:00', '1d', oslo, [
    '2026-03-29T00:00:00+01:00',
    '2026-03-30T00:00:00+02:00',
  ])
  edges('2018-11-03T12:00:00-03:00', '2018-11-05T12:00:00-02:00', '1d', 'America/Sao_Paulo', [
    '2018-11-04T01:00:00-02:00',
    '2018-11-05T00:00:00-02:00',
  ])
  edges('2011-12-29T00:00:00-10:00', '2012-01-01T00:00:00+14:00', '1d', 'Pacific/Apia', [
    '2011-12-31T00:00:00+14:00',
  ])
  edges('1970-01-02T00:00:00Z', '1970-01-08T00:00:00Z', '2d', 'UTC', [
    '1970-01-03T00:00:00Z',
    '1970-01-05T00:00:00Z',
    '1970-01-07T00:00:00Z',
  ])
  edges('1969-12-28T12:00:00Z', '1970-01-02T00:00:00Z', '3d', 'UTC', [
    '1969-12-29T00:00:00Z',
    '1970-01-01T00:00:00Z',
  ])
  edges('2026-04-18T00:00:00Z', '2026-04-28T00:00:00Z', '1w', 'UTC', [
    '2026-04-20T00:00:00Z',
    '2026-04-27T00:00:00Z',
  ])
  edges('1969-12-30T00:00:00Z', '1970-02-01T00:00:00Z', '2w', 'UTC', [
    '1970-01-05T00:00:00Z',
    '1970-01-19T00:00:00Z',
  ])
  edges('2026-01-15T00:00:00Z', '2026-04-15T00:00:00Z', '1mo', oslo, [
    '2026-02-01T00:00:00+01:00',
    '2026-03-01T00:00:00+01:00',
    '2026-04-01T00:00:00+02:00',
  ])
  edges('2026-01-15T00:00:00Z', '2026-12-15T00:00:00Z', 'P3M', 'UTC', [
    '2026-04-01T00:00:00Z',
    '2026-07-01T00:00:00Z',
    '2026-10-01T00:00:00Z',
  ])
  edges('2023-06-01T00:00:00Z', '2027-06-01T00:00:00Z', '2y', 'UTC', [
    '2024-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z',
  ])
})

test('windows beyond the limit are not made', () => {
  const [from, to] = [instant('2026-01-01T00:10:00Z'), instant('2026-01-01T02:10:00Z')]
  assert.equal(windowEdges(from, to, intervalWindows(duration('1h'), null, zone('UTC')), 2), null)
  assert.equal(windowEdges(from, to, intervalWindows(duration('1h'), null, zone('UTC')), 3)?.length, 4)
  assert.equal(windowEdges(from, to, intervalWindows(duration('1d'), null, zone('UTC')), 1)?.length, 2)
  assert.equal(windowEdges(from, to, intervalWindows(duration('1d'), null, zone('UTC')), 0), null)
  assert.equal(
    windowEdges(
      MIN_INSTANT,
      us(END_INSTANT - 1),
      intervalWindows(duration('0.001'), null, zone('UTC')),
      1000,
    ),
    null,
  )
})

test('windows part their range exactly, and are counted without making them', () => {
  fc.assert(
    fc.property(anyRange, anyInterval, anyZoneId, ([from, to], text, id) => {
      const edges = windowEdges(from, to, intervalWindows(duration(text), null, zone(id)), 1e6)!
      assert.equal(edges[0], from)
      assert.equal(edges.at(-1), to)
      for (let index = 1; index < edges.length; index++) assert.ok(edges[index]! > edges[index - 1]!)
      assert.ok(countWindows(from, to, duration(text)) >= edges.length - 1)
    }),
    { numRuns: 500 },
  )
})

test('windows up to the end of all time are parts of it, however long they are', () => {
  const [from, to] = [instant('2199-12-20T00:00Z'), END_INSTANT]
  for (const interval of ['1y', '100y', '300y', '600y', '6000mo', '200000d', '30000w', '2000000h']) {
    for (const anchor of ['06:00', null]) {
      const boundaries = anchor === null ? null : parseWindowAnchor(anchor, duration(interval))
      if (boundaries !== null && 'expected' in boundaries) continue
      for (const id of ['UTC', 'Europe/Oslo']) {
        const windows = intervalWindows(duration(interval), boundaries, zone(id))
        const asked: number[] = []
        const find = (at: Instant) => {
          asked.push(at)
          return windows(at)
        }
        const edges = windowEdges(from, to, find, 10)
        assert.deepEqual([edges?.[0], edges?.at(-1)], [from, to], `${interval} ${anchor} ${id}`)
        // No instant beyond is looked at: one is not held to the microsecond there.
        assert.deepEqual(
          asked.filter((at) => at < from || at > to),
          [],
        )
      }
    }
  }
})

test('windows do not depend on the range that asks for them', () => {
  fc.assert(
    fc.property(
      anyRange,
      anyInterval,
      anyZoneId,
      fc.double({ min: 0, max: 1, noNaN: true }),
      ([from, to], text, id, part) => {
        const middle = us(from + Math.floor((to - from) * part))
        fc.pre(middle > from && middle < to)
        const between = (a: Instant, b: Instant): number[] =>
          [...windowEdges(a, b, intervalWindows(duration(text), null, zone(id)), 1e6)!].slice(1, -1)
        const whole = between(from, to)
        const parts = [
          ...between(from, middle),
          ...whole.filter((at) => at === middle),
          ...between(middle, to),
        ]
        assert.deepEqual(parts, whole)
      },
    ),
    { numRuns: 300 },
  )
})

test('days and months begin where Temporal says', () => {
  fc.assert(
    fc.property(anyRange, anyZoneId, ([from, to], id) => {
      // Where clocks go back over midnight a day can begin before it is over; Temporal walks over dates.
      const days: number[] = []
      let date = zoned(from, id).toPlainDate().subtract({ days: 1 })
      for (;;) {
        const at = instantOf(date.toZonedDateTime(id))
        if (at >= to) break
        if (at > from && at !== days.at(-1)) days.push(at)
        date = date.add({ days: 1 })
      }
      assert.deepEqual(
        [...windowEdges(from, to, intervalWindows(duration('1d'), null, zone(id)), 1e6)!].slice(1, -1),
        days,
      )
      const months = days.filter((at) => zoned(at, id).day === 1)
      const made = [...windowEdges(from, to, intervalWindows(duration('1mo'), null, zone(id)), 1e6)!].slice(
        1,
        -1,
      )
      assert.deepEqual(made, months)
    }),
    { numRuns: 300 },
  )
})
