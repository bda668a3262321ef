import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readCommonInstant } from './common-forms.ts'
import { InstantScan } from './instant-scan.ts'

/** What follows a time in a body; long enough for the longest time. */
const BEHIND = `",${' '.repeat(30)}`

const scanOf = (text: string) => {
  const bytes = new TextEncoder().encode(text)
  return new InstantScan(bytes, new DataView(bytes.buffer))
}

/** What each of several texts is read as by one scan, and by itself; `null` where it is none. */
function readBoth(texts: readonly string[]): { scanned: (number | null)[]; alone: (number | null)[] } {
  const scan = scanOf(texts.map((text) => text + BEHIND).join(''))
  const target = new Float64Array(1)
  const scanned: (number | null)[] = []
  const alone: (number | null)[] = []
  let at = 0
  for (const text of texts) {
    const bytes = new TextEncoder().encode(text)
    const end = scan.readAt(at, target, 0)
    // One that goes on behind is none, as its quote does not follow.
    scanned.push(end === at + bytes.length ? target[0]! : null)
    alone.push(readCommonInstant(bytes, 0, bytes.length, target, 0) ? target[0]! : null)
    at += bytes.length + BEHIND.length
  }
  return { scanned, alone }
}

test('times in UTC with no, three or six fraction digits', () => {
  const texts = [
    ...[
      '2026-01-15T10:00:00.000Z',
      '2026-01-15T10:59:59.999Z',
      '2026-01-15T10:00:00Z',
      '2026-01-15T11:00:00.000001Z',
    ],
    ...[
      '2026-01-15T10:30:05.123456Z',
      '2024-02-29T23:59:59Z',
      '1700-01-01T00:00:00Z',
      '2199-12-31T23:59:59.999999Z',
    ],
  ]
  const { scanned, alone } = readBoth(texts)
  assert.deepEqual(scanned, alone)
  assert.deepEqual(
    scanned.slice(0, 4),
    [1768471200000000, 1768474799999000, 1768471200000000, 1768474800000001],
  )
  assert.ok(!scanned.includes(null))
})

test('what is no time is none, also in the hour of the one before', () => {
  const good = '2026-01-15T10:00:00.000Z'
  const bad = [
    ...[
      '2026-01-15T10:60:00.000Z',
      '2026-01-15T10:00:60Z',
      '2026-01-15T10:00:0aZ',
      '2026-01-15T10:00:00.00aZ',
    ],
    ...[
      '2026-01-15T10:00:00.0000Z',
      '2026-01-15T10:00:00.000',
      '2026-01-15T10:00:00.Z',
      '2026-01-15T10-00:00Z',
    ],
    ...['2026-01-15T10:00-00Z', '2026-01-15 10:00:00Z', '2026-01-15T24:00:00Z', '2026-02-29T00:00:00Z', ''],
    ...[
      '1699-12-31T23:59:59Z',
      '2200-01-01T00:00:00Z',
      '2026-01-15T10:00:00z',
      '\0'.repeat(14).concat('00:00Z'),
    ],
  ]
  for (const text of bad) {
    const { scanned } = readBoth([text, good, text, good])
    assert.deepEqual(scanned, [null, 1768471200000000, null, 1768471200000000], text)
  }
})

test('any other form, and one near the end of the bytes, is left to others', () => {
  const forms = ['2026-01-15T10:00:00+00:00', '2026-01-15T10:00:00.5Z', '2026-01-15T10:00:00.12345Z']
  assert.deepEqual(readBoth(forms).scanned, [null, null, null])
  const target = new Float64Array([7])
  assert.equal(scanOf('2026-01-15T10:00:00Z').readAt(0, target, 0), -1)
  assert.equal(target[0], 7)
})

test('every text that is read is read alike by itself', () => {
  const two = fc.nat({ max: 99 }).map((number) => String(number).padStart(2, '0'))
  const near = fc.constantFrom('00', '10', '23', '59')
  const time = fc
    .tuple(
      fc.constantFrom('1700', '1972', '2026', '2199', '2200'),
      fc.constantFrom('00', '01', '02', '12', '13'),
      fc.constantFrom('00', '01', '28', '29', '31', '32'),
      fc.tuple(fc.oneof(near, two), fc.oneof(near, two), fc.oneof(near, two)),
      fc.constantFrom('', '.000', '.250', '.123456', '.1', '.', '.1234567', '.00x'),
      fc.constantFrom('Z', '', 'z', '+01:00', 'ZZ'),
    )
    .map(
      ([year, month, day, clock, fraction, zone]) =>
        `${year}-${month}-${day}T${clock.join(':')}${fraction}${zone}`,
    )
  fc.assert(
    fc.property(fc.array(time, { minLength: 1, maxLength: 6 }), (texts) => {
      const { scanned, alone } = readBoth(texts)
      for (const [i, at] of scanned.entries()) if (at !== null) assert.equal(at, alone[i], texts[i])
    }),
    { numRuns: 5_000 },
  )
})
