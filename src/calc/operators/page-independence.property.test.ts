import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTag } from '../../grammar/parser.ts'
import { instantFromUs, US_PER_HOUR } from '../../time/instant.ts'
import { parseTimeZone } from '../../time/zone.ts'
import { SIGNATURES } from '../functions/index.ts'
import { ArraySource, columnsOf, type Row, storedTag } from '../graph/array-source.fixture.ts'
import { seriesOf, type TestSeries } from '../graph/series.fixture.ts'

const ZONE = parseTimeZone('Europe/Oslo')!
const START = 1_679_000_000_000_000
const HOURS = 14 * 24
const PAGES = [1, 2, 7, 512]

const at = (hour: number) => instantFromUs(START + hour * US_PER_HOUR)

const rows: fc.Arbitrary<readonly Row[]> = fc
  .uniqueArray(fc.tuple(fc.nat(HOURS), fc.double({ min: -1e6, max: 1e6, noNaN: true }), fc.nat(5)), {
    maxLength: 60,
    selector: ([hour]) => hour,
  })
  .map((rows) =>
    rows.sort(([a], [b]) => a - b).map(([hour, value, bad]): Row => [at(hour), value, bad === 0]),
  )

const calculation = fc.constantFrom(
  'TOTALISE(h/A, DAY, BEGIN_DAY, 1h)',
  'TOTALISE(h/A, PT7H, 02:00, 1h)',
  'TOTALISE(TOTALISE(h/A, DAY, BEGIN_DAY, 1h), WEEK, BEGIN_WEEK, 1d)',
  'TOTALISE(MUL(h/A, h/A), WEEK, BEGIN_WEEK, 1h)',
  'TOTALISE(h/A, 1d, 0, 1h)',
  'TOTALISE(h/A, PT30H, -2h, 1h)',
  'TOTALISE(h/A, PT9H, 3h, 1h)',
  ...['AVG', 'MIN', 'MAX', 'COUNT', 'SUM', 'DIFF'].map((op) => `SLIDINGAGG(h/A, ${op}, 2d)`),
  'SLIDINGAGG(h/A, TOTAL, 2d, 1h)',
  'SLIDINGAGG(MUL(h/A, h/A), AVG, 1d)',
  'SLIDINGAGG(TOTALISE(h/A, DAY, BEGIN_DAY, 1h), AVG, PT50H)',
)

const setting = fc.record({
  rows,
  stepped: fc.boolean(),
  calculation,
  from: fc.nat(HOURS),
  hours: fc.integer({ min: 1, max: 200 }),
  now: fc.integer({ min: HOURS / 2, max: HOURS + 40 }),
})

test('totals and rolling windows are the same to the last bit whatever the length of pages', async () => {
  await fc.assert(
    fc.asyncProperty(setting, async ({ rows, stepped, calculation, from, hours, now }) => {
      const range = { from: at(from), to: at(from + hours) }
      const options = { signatures: SIGNATURES, defaultHistorian: null, now: at(now), zone: ZONE }
      const tree = parseTag(`calc/${calculation}`, options)
      const answers = PAGES.map(async (pagePoints) => {
        const source = new ArraySource(new Map([['A', columnsOf(rows)]]))
        const context = { source, now: at(now), zone: ZONE, range, pagePoints }
        const series: TestSeries = seriesOf(tree, context, ({ name }) => storedTag(name, stepped, 'none'))
        const times = Float64Array.from({ length: 20 }, (_, i) => at(from) + (i * hours * US_PER_HOUR) / 20)
        const edges = Float64Array.of(range.from, range.to)
        return {
          values: await series.valuesAt(times),
          raw: await series.rawPoints({ ...range, order: 'asc', limit: 1000 }),
          newest: await series.rawPoints({ ...range, order: 'desc', limit: 5 }),
          integrals: await series.integrals(edges.subarray(0, 1), edges.subarray(1)),
        }
      })
      const [first, ...others] = await Promise.all(answers)
      for (const other of others) assert.deepStrictEqual(other, first)
    }),
    { numRuns: 200 },
  )
})
