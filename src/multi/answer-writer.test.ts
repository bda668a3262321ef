import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { instantFromUs } from '../time/instant.ts'
import { parseTimeZone, UTC } from '../time/zone.ts'
import { answerChunks, pointsAnswer } from './answer.ts'
import { pointText } from './answer-writer.ts'
import { BufferPool } from './buffer-pool.ts'

const OSLO = parseTimeZone('Europe/Oslo')!
const label = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ maxLength: 8, unit: 'binary' }),
  fc.constantFrom(
    '__proto__',
    '',
    '"',
    '\\',
    '\u007f',
    '\ud800',
    'ø',
    'x'.repeat(256),
    'ø'.repeat(257),
    '\n'.repeat(256),
  ),
)
const value = fc.oneof(
  fc.double(),
  fc.integer({ min: -1e6, max: 1e6 }).map((thousandths) => thousandths / 1000),
  fc.constantFrom(-0, Number.NaN, 0.1 + 0.2, 1e21),
)
const DAY_US = 86_400_000_000
/** Around the end of summer time in Oslo, on few days, so that some points are of one day and some are not. */
const time = fc
  .tuple(fc.constantFrom(0, 0, 0, 1, 2, -4_000), fc.integer({ min: 0, max: DAY_US - 1 }), fc.boolean())
  .map(([day, inDay, whole]) =>
    instantFromUs(Date.UTC(2025, 9, 25) * 1000 + day * DAY_US + (whole ? inDay - (inDay % 1e6) : inDay)),
  )
const one = fc.record({
  label,
  time,
  value,
  bad: fc.boolean(),
  zone: fc.constantFrom(UTC, OSLO),
  kind: fc.constantFrom('point', 'point', 'point', 'adjacent'),
})

function textOf({
  label,
  time,
  value,
  bad,
  zone,
  kind,
}: typeof one extends fc.Arbitrary<infer One> ? One : never): string {
  const shown = pointText({ time, value, bad }, zone)
  const result = kind === 'point' ? `{"dataPoint":${shown}}` : `{"before":null,"at":${shown},"after":null}`
  return `${JSON.stringify(label)}:${result}`
}

test('labels with a point each are written as the texts of their points', () => {
  fc.assert(
    fc.property(fc.array(one, { maxLength: 12 }), fc.constantFrom(1, 60), (some, times) => {
      // Often enough for several chunks.
      const all = Array.from({ length: times }, () => some).flat()
      const results = all.map(({ label, time, value, bad, zone, kind }) => {
        const point = { time, value, bad }
        return {
          parsed: { label, address: '', now: time, zone },
          result:
            kind === 'point'
              ? ({ kind: 'point', point } as const)
              : ({ kind: 'adjacent', before: null, at: point, after: null } as const),
        }
      })
      const chunks = [
        ...answerChunks(
          { results, issues: [], now: 'now', warnings: [], format: 'points' },
          new BufferPool(),
        ),
      ].map((chunk) => Buffer.from(chunk))
      const text = Buffer.concat(chunks).toString()
      const whole = pointsAnswer({
        results,
        issues: [],
        now: 'now',
        warnings: [],
        format: 'points',
      })
      if (whole !== null) assert.equal(Buffer.from(whole).toString(), text)
      const isSmall = results.length > 0 && results.length <= 256
      if (isSmall && all.every(({ kind, label }) => kind === 'point' && label.length <= 12)) assert.ok(whole)
      assert.equal(text, `{"results":{${all.map(textOf).join(',')}},"errors":{},"now":"now"}`)
      if (text.length < 20_000) assert.equal(chunks.length, 1)
    }),
    { numRuns: 2_000 },
  )
})

test('two answers that are taken chunk by chunk in turn do not mix', () => {
  const answerOf = (name: string) => {
    const results = Array.from({ length: 6_000 }, (_, i) => ({
      parsed: { label: `${name}${i}`, address: '', now: instantFromUs(0), zone: UTC },
      result: { kind: 'point', point: { time: instantFromUs(i * 1e6), value: i, bad: false } } as const,
    }))
    return answerChunks({ results, issues: [], now: name, warnings: [], format: 'points' }, new BufferPool())
  }
  const whole = (name: string) => Buffer.concat([...answerOf(name)]).toString()
  const alone = ['a', 'bb'].map(whole)
  const first = answerOf('a')
  const second = answerOf('bb')
  const chunks: [Uint8Array[], Uint8Array[]] = [[], []]
  for (let left = 2; left > 0; ) {
    left = 0
    for (const [i, answer] of [first, second].entries()) {
      const { value, done } = answer.next()
      if (done === true) continue
      chunks[i]!.push(value)
      left++
    }
  }
  assert.ok(chunks[0].length > 2)
  assert.deepEqual(
    chunks.map((parts) => Buffer.concat(parts).toString()),
    alone,
  )
})
