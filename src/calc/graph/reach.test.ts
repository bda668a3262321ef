import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseTag } from '../../grammar/parser.ts'
import { instantFromUs, US_PER_HOUR, US_PER_MINUTE } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import { SIGNATURES } from '../functions/index.ts'
import { ArraySource, columnsOf, type Row, storedTag } from './array-source.fixture.ts'
import { seriesOf, type TestSeries } from './series.fixture.ts'

const MIDNIGHT = Date.parse('2026-01-15T00:00:00Z') * 1000
const minute = (minutes: number) => instantFromUs(MIDNIGHT + minutes * US_PER_MINUTE)
const NOW = minute(720)
const RANGE = { from: minute(420), to: minute(660) }

function make(calculation: string, tags: readonly (readonly Row[])[], pagePoints: number): TestSeries {
  const source = new ArraySource(new Map(tags.map((rows, i) => ['AB'[i]!, columnsOf(rows)])))
  const tree = parseTag(`calc/${calculation}`, {
    signatures: SIGNATURES,
    defaultHistorian: null,
    now: NOW,
    zone: UTC,
  })
  const context = { source, now: NOW, zone: UTC, range: RANGE, pagePoints }
  return seriesOf(tree, context, ({ name }) => storedTag(name, false, 'none'))
}

/** Points some ten minutes to three hours apart, a few of them BAD. */
const rows: fc.Arbitrary<readonly Row[]> = fc
  .uniqueArray(fc.tuple(fc.nat(720), fc.integer({ min: -20, max: 20 }), fc.nat(8)), {
    minLength: 2,
    maxLength: 12,
    size: 'max',
    selector: ([minutes]) => minutes,
  })
  .map((all) =>
    all
      .sort(([a], [b]) => a - b)
      .map(([minutes, value, bad]): Row => [minute(minutes), value / 2, bad === 0]),
  )

/** What reads its input from before the range on. */
const AROUND: readonly ((x: string) => string)[] = [
  (x) => `TOTALISERAW(${x}, DAY, BEGIN_DAY, 1d)`,
  (x) => `TOTALISE(${x}, 2h, 0, 1h)`,
  (x) => `SLIDINGAGG(${x}, AVG, 1h)`,
  (x) => `SLIDINGAGG(${x}, MAX, 45m)`,
  (x) => `WINDOWAGG(${x}, TOTAL, 30m, 1h)`,
  (x) => `LOWPASS(${x}, 600)`,
]
/** What depends on the range. */
const INSIDE: readonly ((x: string) => string)[] = [
  (x) => `LOWPASS(${x}, 600)`,
  (x) => `HIGHPASS(${x}, 900)`,
  (x) => `WINDOWAGG(${x}, MAX, 20m)`,
  (x) => `WINDOWAGG(${x}, AVG, 10m)`,
  (x) => `WINDOWAGG(${x}, VAR, 20m)`,
  (x) => `WINDOWAGG(${x}, SUM, 15m, 00:10)`,
]
const BETWEEN: readonly ((x: string) => string)[] = [
  (x) => `ADD(${x}, h/B)`,
  (x) => `MEAN(TIMESHIFT(${x}, -30m), h/B)`,
  (x) => `STEPPED(${x})`,
  (x) => x,
]
const calculation = fc
  .tuple(
    fc.constantFrom(...AROUND),
    fc.constantFrom(...BETWEEN),
    fc.constantFrom(...AROUND, ...BETWEEN),
    fc.constantFrom(...INSIDE),
  )
  .map((wraps) => wraps.reduceRight((x, wrap) => wrap(x), 'h/A'))

function assertClose(found: ArrayLike<number>, expected: ArrayLike<number>): void {
  assert.equal(found.length, expected.length)
  for (const [i, value] of Array.from(expected).entries()) {
    const other = found[i]!
    const isClose = Math.abs(other - value) <= 1e-9 * Math.max(1, Math.abs(value))
    assert.ok(Number.isNaN(value) ? Number.isNaN(other) : isClose, `${other}, ${value} at ${i}`)
  }
}

describe('what depends on the range, inside of what reads from before it on', () => {
  test('is a filter that starts at one place whatever the length of a page', async () => {
    const text = 'MUL(TOTALISERAW(TIMESHIFT(MEAN(LOWPASS(h/B, 600), h/A, 2), -30m), DAY, BEGIN_DAY, 1d), 0.5)'
    const a = [40, 430, 450, 470, 520, 600].map((at): Row => [minute(at), at % 7])
    // No point in the five periods before the range: a filter that starts there has no value up to the next one.
    const b = [70, 330, 500, 640].map((at): Row => [minute(at), at % 11])
    for (let limit = 1; limit < 8; limit++) {
      const page = { ...RANGE, order: 'desc', limit } as const
      const whole = await make(text, [a, b], 512).rawPoints(page)
      assertClose((await make(text, [a, b], 2).rawPoints(page)).points.values, whole.points.values)
    }
  })

  test('has the same values whatever the length of a page', async () => {
    await fc.assert(
      fc.asyncProperty(calculation, rows, rows, fc.integer({ min: 1, max: 9 }), async (text, a, b, limit) => {
        const answers = [512, 7, 2, 1].map(async (pagePoints) => {
          const series = () => make(text, [a, b], pagePoints)
          const edges = Float64Array.from({ length: 5 }, (_, i) => RANGE.from + i * US_PER_HOUR)
          const { integrals } = await series().integrals(edges.subarray(0, -1), edges.subarray(1))
          return [
            (await series().rawPoints({ ...RANGE, order: 'desc', limit })).points.values,
            (await series().rawPoints({ ...RANGE, order: 'asc', limit })).points.values,
            await series().valuesAt(edges),
            integrals.map((integral) => integral / US_PER_HOUR),
          ]
        })
        const [whole, ...others] = await Promise.all(answers)
        for (const other of others) whole!.forEach((values, i) => void assertClose(other[i]!, values))
      }),
      { numRuns: 150 },
    )
  })

  test('has the same total at an instant as at this one within a range', async () => {
    const a = [130, 200].map((at): Row => [minute(at), 6])
    for (const inside of ['LOWPASS(h/A, 600)', 'WINDOWAGG(h/A, MAX, 20m)']) {
      const text = `TOTALISE(${inside}, DAY, BEGIN_DAY, 1h)`
      const [inRange] = await make(text, [a], 512).valuesAt(Float64Array.of(RANGE.to))
      const source = new ArraySource(new Map([['A', columnsOf(a)]]))
      const options = { signatures: SIGNATURES, defaultHistorian: null, now: NOW, zone: UTC }
      const range = { from: RANGE.to, to: RANGE.to }
      const single = seriesOf(
        parseTag(`calc/${text}`, options),
        { source, now: NOW, zone: UTC, range },
        ({ name }) => storedTag(name, false, 'none'),
      )
      assertClose(await single.valuesAt(Float64Array.of(RANGE.to)), Float64Array.of(inRange!))
    }
  })
})
