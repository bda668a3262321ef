import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anchoredWindows } from './anchored-windows.ts'
import { parseDuration } from './duration.ts'
import { instantFromUs } from './instant.ts'
import { parseWindowAnchor } from './window-anchor.ts'
import { startsIn } from './windows.ts'
import { parseTimeZone } from './zone.ts'

/** Boundaries against Temporal, day by day: what it calls compatible is what the interface asks for. */

const ZONES = [
  'UTC',
  'Europe/Oslo',
  'Australia/Lord_Howe', // half an hour
  'Pacific/Apia', // 30 December 2011 left out
  'Asia/Kathmandu', // a quarter of an hour, once
  'Antarctica/Troll', // two hours
  'Africa/Cairo', // at midnight
  'America/Sao_Paulo', // at midnight
  'Asia/Beirut', // at midnight
  'America/Havana', // back over midnight
  '-07:30',
]
/** Days with changes of some of them, and any other. */
const days = fc.oneof(
  fc.constantFrom(
    '2011-12-30',
    '1985-12-31',
    '2026-03-29',
    '2026-10-25',
    '2026-04-05',
    '2026-10-04',
    '2023-04-28',
  ),
  fc.constantFrom(
    '2017-10-15',
    '2018-02-18',
    '2026-03-08',
    '2026-11-01',
    '1969-12-31',
    '2024-02-29',
    '2026-01-31',
  ),
  fc
    .integer({ min: -20_000, max: 60_000 })
    .map((day) => new Temporal.PlainDate(1970, 1, 1).add({ days: day }).toString()),
)
const clock = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.constantFrom('00', '15', '30', '50'))
  .map(([h, m]) => ({
    text: `${String(h).padStart(2, '0')}:${m}`,
    minutes: 60 * h + Number(m),
  }))

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

interface Case {
  readonly interval: string
  readonly anchor: string
  /** Local times of boundaries on a day, in minutes. */
  readonly onDay: (day: Temporal.PlainDate) => readonly number[]
  /** About how many days its windows are long. */
  readonly reach: number
}

const epoch = new Temporal.PlainDate(1970, 1, 1)
const mod = (a: number, b: number): number => ((a % b) + b) % b

const cases: fc.Arbitrary<Case> = fc.oneof(
  fc.tuple(clock, fc.constantFrom(10, 15, 40, 60, 90, 480, 1440)).map(
    ([{ text, minutes }, length]): Case => ({
      interval: `${length}min`,
      anchor: text,
      onDay: () => Array.from({ length: 1440 / length }, (_, i) => (minutes % length) + i * length),
      reach: 1,
    }),
  ),
  fc.tuple(clock, fc.integer({ min: 1, max: 5 })).map(
    ([{ text, minutes }, n]): Case => ({
      interval: `${n}d`,
      anchor: text,
      onDay: (day) => (mod(epoch.until(day).days, n) === 0 ? [minutes] : []),
      reach: n,
    }),
  ),
  fc
    .tuple(clock, fc.integer({ min: 1, max: 3 }), fc.option(fc.nat(6)))
    .map(([{ text, minutes }, n, weekday]): Case => {
      const first = new Temporal.PlainDate(1970, 1, 5).add({ days: weekday ?? 0 })
      return {
        interval: `${n}w`,
        anchor: weekday === null ? text : `${WEEKDAYS[weekday]} ${text}`,
        onDay: (day) => (mod(first.until(day).days, 7 * n) === 0 ? [minutes] : []),
        reach: 7 * n,
      }
    }),
  fc.tuple(clock, fc.constantFrom(1, 2, 3, 6), fc.option(fc.integer({ min: 1, max: 31 }))).map(
    ([{ text, minutes }, n, dayOfMonth]): Case => ({
      interval: `${n}mo`,
      anchor: dayOfMonth === null ? text : `${dayOfMonth} ${text}`,
      onDay: (day) => {
        const months = (day.year - 1970) * 12 + day.month - 1
        return mod(months, n) === 0 && day.day === Math.min(dayOfMonth ?? 1, day.daysInMonth) ? [minutes] : []
      },
      reach: 31 * n,
    }),
  ),
  fc.tuple(clock, fc.integer({ min: 1, max: 3 }), fc.constantFrom(null, '10-01', '02-29', '12-31')).map(
    ([{ text, minutes }, n, date]): Case => ({
      interval: `${n}y`,
      anchor: date === null ? text : `${date} ${text}`,
      onDay: (day) => {
        const [month, dayOfMonth] = (date ?? '01-01').split('-').map(Number) as [number, number]
        const isDay = day.month === month && day.day === Math.min(dayOfMonth, day.daysInMonth)
        return isDay && mod(day.year - 1970, n) === 0 ? [minutes] : []
      },
      reach: 366 * n,
    }),
  ),
)

test('boundaries with an anchor are the local times that Temporal finds', () => {
  fc.assert(
    fc.property(fc.constantFrom(...ZONES), days, cases, fc.nat(1439), (id, start, one, minute) => {
      const zone = parseTimeZone(id)!
      const boundaries = parseWindowAnchor(one.anchor, parseDuration(one.interval)!)
      assert.ok(!('expected' in boundaries), `${one.anchor} with ${one.interval}`)
      const first = Temporal.PlainDate.from(start)
      const lengths = one.reach < 10 ? 3 * one.reach : one.reach + 3
      const expected = new Set<number>()
      for (
        let day = first.subtract({ days: 3 });
        day.until(first).days > -lengths - 3;
        day = day.add({ days: 1 })
      ) {
        for (const minutes of one.onDay(day)) {
          const local = day.toPlainDateTime().add({ minutes })
          expected.add(
            Number(local.toZonedDateTime(id, { disambiguation: 'compatible' }).epochNanoseconds / 1000n),
          )
        }
      }
      const at = first.toPlainDateTime().add({ minutes: minute }).toZonedDateTime(id)
      const from = Number(at.epochNanoseconds / 1000n)
      const to = from + lengths * 86_400_000_000
      const found = startsIn(
        anchoredWindows(boundaries, zone),
        instantFromUs(from),
        instantFromUs(to),
        10_000,
      )
      const wanted = [...expected].filter((time) => time >= from && time <= to).sort((a, b) => a - b)
      assert.deepEqual([...found!], wanted, `${one.anchor} with ${one.interval} in ${id} from ${at}`)
    }),
    { numRuns: 600 },
  )
})

test('tiny windows on days of a change are found at once', () => {
  const zone = parseTimeZone('Europe/Oslo')!
  const find = anchoredWindows(
    parseWindowAnchor('06:00', { kind: 'exact', us: 1 }) as Exclude<
      ReturnType<typeof parseWindowAnchor>,
      { readonly expected: string }
    >,
    zone,
  )
  // In the hour that the clocks show a second time nothing is bounded: one window of an hour.
  const second = Temporal.Instant.from('2026-10-25T01:30:00Z')
  const window = find(instantFromUs(Number(second.epochNanoseconds / 1000n)))
  assert.equal(window.end - window.start, 3_600_000_001)
})

test('anchors that do not fit their interval say what is expected', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['6', '8h'],
    ['24:00', '1d'],
    ['sunday 06:00', '1d'],
    ['06:00', '7h'],
    ['06:00', '48h'],
    ['06:00', 'P1DT6H'],
    ['06:00', 'P1M2D'],
    ['someday 06:00', '1w'],
    ['32 06:00', '1mo'],
    ['0 06:00', '1mo'],
    ['13-01 06:00', '1y'],
    ['02-30 06:00', '1y'],
    ['', '1d'],
    ['06:60', '1d'],
  ]
  for (const [text, interval] of cases) {
    assert.ok('expected' in parseWindowAnchor(text, parseDuration(interval)!), `${text} with ${interval}`)
  }
})

test('a boundary is found from instants on that a double no longer holds to the microsecond', () => {
  for (const interval of ['100y', '300y', '600y', '6000mo', '200000d', '30000w']) {
    const boundaries = parseWindowAnchor('06:00', parseDuration(interval)!)
    assert.ok('at' in boundaries)
    for (const zone of ['UTC', 'Europe/Oslo', '-07:30']) {
      const find = anchoredWindows(boundaries, parseTimeZone(zone)!)
      let window = find(instantFromUs(0))
      for (let count = 0; count < 4; count++) {
        const next = find(window.end)
        assert.equal(next.start, window.end, `${interval} ${zone}`)
        assert.ok(next.end > next.start)
        window = next
      }
    }
  }
})
