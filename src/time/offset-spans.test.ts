import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { instantFromUs, isAccepted, MIN_INSTANT } from './instant.ts'
import { applyOffset, parseOffset } from './offset.ts'
import { isSameTarget, offsetSpanAt } from './offset-spans.ts'
import { parseTimeZone } from './zone.ts'

const offsets = fc.constantFrom(
  ...['1h', '-90s', '-02:00', '1d', '-1d', '1w', '1mo', '-1mo', '1y', 'P1DT6H', 'P1M1D', '-P1MT3H'],
  ...['yesterday', 'last moment of yesterday', '2 days ago at 02:30', 'yesterday at the same time'],
  ...['today at the same time', '90 minutes ago', 'in 1 month and 3 hours', '1 month ago at noon'],
  ...[
    'begin of this hour',
    'end of last week',
    'begin of next quarter',
    'now-90m/h',
    'now-1d/d',
    '*-8h',
    't',
  ],
  ...['in 2 hours at the same time', 'tomorrow at 02:00', 'begin of next hour', 'end of last hour'],
  ...['monday', 'last sunday at 06:00', 'next friday at the same time', 'first moment of tuesday'],
)
const zones = fc.constantFrom(
  ...['UTC', 'Europe/Oslo', 'America/New_York', 'Australia/Lord_Howe', 'America/Havana', 'Pacific/Apia'],
)
/** Half of them near a change of clocks or the end of a month. */
const instants = fc
  .tuple(
    fc.oneof(
      fc.constantFrom(...['2024-03-31', '2024-10-27', '2024-02-29', '2024-03-10', '2024-11-03']),
      fc.constantFrom(...['2011-12-30', '2024-04-07', '2024-10-06', '2024-01-31', '2025-07-14']),
    ),
    fc.integer({ min: -50, max: 50 }),
    fc.integer({ min: -61, max: 61 }),
    fc.constantFrom(0, -1, 1, 17),
  )
  .map(([day, hours, minutes, us]) =>
    instantFromUs(Date.parse(day) * 1000 + hours * 3_600_000_000 + minutes * 60_000_000 + us),
  )

test('from every instant of a span its offset leads where the span says', () => {
  fc.assert(
    fc.property(
      offsets,
      zones,
      instants,
      fc.array(fc.double({ min: 0, max: 1, noNaN: true })),
      (text, id, at, shares) => {
        const offset = parseOffset(text)!
        const zone = parseTimeZone(id)!
        const { from, to, target } = offsetSpanAt(at, offset, zone)
        assert.ok(from <= at && at < to)
        const times = [
          from,
          to - 1,
          at,
          ...shares.map((share) => Math.min(to - 1, Math.floor(from + (to - from) * share))),
        ]
        for (const time of times) {
          const expected = applyOffset(instantFromUs(time), offset, zone)
          const found =
            target.kind === 'moved' ? time + target.us : target.kind === 'fixed' ? target.at : null
          assert.equal(found, expected, `${text} from ${new Date(time / 1000).toISOString()} in ${id}`)
        }
      },
    ),
    { numRuns: 1500 },
  )
})

test('a span holds its instant where clocks go back over midnight, also a minute after it', () => {
  const changes = [
    ['America/St_Johns', '1988-10-30T01:31:00Z'],
    ['America/St_Johns', '2009-11-01T02:31:00Z'],
    ['America/Sao_Paulo', '2008-02-17T02:00:00Z'],
    ['Asia/Amman', '1987-10-01T21:00:00Z'],
  ] as const
  const texts = [
    '1d',
    '-1d',
    '1mo',
    'yesterday',
    'end of day',
    'begin of hour',
    'end of last week',
    'end of month',
  ]
  for (const [id, change] of changes) {
    const zone = parseTimeZone(id)!
    for (const text of [...texts, '1 day ago at 23:30', 'yesterday at the same time', 'monday']) {
      const offset = parseOffset(text)!
      for (let minutes = -30 * 60; minutes < 30 * 60; minutes += 5) {
        const at = instantFromUs((Date.parse(change) + minutes * 60_000) * 1000)
        const { from, to, target } = offsetSpanAt(at, offset, zone)
        const what = `${text} from ${new Date(at / 1000).toISOString()} in ${id}`
        assert.ok(from <= at && at < to, what)
        for (const time of [from, at, to - 1]) {
          const found = target.kind === 'moved' ? time + target.us : target.kind === 'fixed' && target.at
          assert.equal(found, applyOffset(instantFromUs(time), offset, zone), what)
        }
      }
    }
  }
})

test('an offset that leads out of the accepted range leads nowhere', () => {
  const utc = parseTimeZone('UTC')!
  const span = offsetSpanAt(MIN_INSTANT, parseOffset('-1h')!, utc)
  assert.deepEqual(span, { from: MIN_INSTANT, to: MIN_INSTANT + 3_600_000_000, target: { kind: 'none' } })
  assert.ok(isAccepted(span.to))
  assert.equal(offsetSpanAt(span.to, parseOffset('-1h')!, utc).target.kind, 'moved')
})

test('spans that are alike are known', () => {
  assert.ok(isSameTarget({ kind: 'moved', us: 5 }, { kind: 'moved', us: 5 }))
  assert.ok(!isSameTarget({ kind: 'moved', us: 5 }, { kind: 'moved', us: 6 }))
  assert.ok(!isSameTarget({ kind: 'moved', us: 5 }, { kind: 'none' }))
  assert.ok(isSameTarget({ kind: 'none' }, { kind: 'none' }))
  const at = instantFromUs(5)
  assert.ok(isSameTarget({ kind: 'fixed', at }, { kind: 'fixed', at }))
  assert.ok(!isSameTarget({ kind: 'fixed', at }, { kind: 'fixed', at: instantFromUs(6) }))
})
