import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ALL_WRAPS, addressOver, type Wrap } from '../../../test/property/nested-labels.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { parseTag } from '../../grammar/parser.ts'
import type { AggregateName } from '../../series/aggregate-names.ts'
import type { RangeResult } from '../../series/reads.ts'
import { instantFromUs, US_PER_HOUR, US_PER_MINUTE } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import { SIGNATURES } from '../functions/index.ts'
import { ArraySource, columnsOf, type Row, storedTag } from '../graph/array-source.fixture.ts'
import { pointRows } from '../graph/point-rows.fixture.ts'
import type { RawRange } from '../graph/point-source.ts'
import { seriesOf, type TestSeries } from '../graph/series.fixture.ts'

/**
 * Calculations of all functions, two to four deep, over stored tags and signals: times, statuses and values by
 * Object.is.
 */
const PAGES = [1, 2, 7, 512]
const NOW = instantFromUs(1_768_478_400_000_000)
const MINUTES = 600
const [from, to] = [instantFromUs(NOW - 5 * US_PER_HOUR), instantFromUs(NOW - US_PER_HOUR)]
const GRID = Float64Array.from({ length: 13 }, (_, i) => from + i * 20 * US_PER_MINUTE)
const EDGES = Float64Array.from({ length: 5 }, (_, i) => from + i * US_PER_HOUR)
const NAMES: readonly AggregateName[] = [
  'min',
  'avg',
  'sum',
  'count',
  'timeAvg',
  'stdDev',
  'increase',
  'total',
]
/** Deep windows over signals go on for long. */
const MAX_EVALUATED = 60_000

const rows = pointRows({ now: NOW, minutes: MINUTES, divisor: 3 })
const tags = fc.tuple(rows, rows, rows)
type Tags = typeof tags extends fc.Arbitrary<infer Value> ? Value : never

/** Points at minutes before `NOW`, and a tag C with none that is good. */
function tagsOf(a: Readonly<Record<number, number>>): Tags {
  const rows = Object.entries(a).map(
    ([minutes, value]): Row => [NOW - Number(minutes) * US_PER_MINUTE, value],
  )
  const none: Row[] = [[NOW - 600 * US_PER_MINUTE, 0, true]]
  return [rows.reverse(), none, none]
}

/** Windows that follow each other cut one line; windows that overlap are asked for in parts. */
const TOTALS: [address: string, tags: Tags][] = [
  ['calc/ADD(WINDOWAGG(h/A, TOTAL, 1h, 1min), h/A)', tagsOf({ 600: 0, 29: 1 / 3 })],
  ['calc/TIMESHIFT(TOTALISE(h/A, 2h, 0, 1h), begin of this hour)', tagsOf({ 600: 0, 240: -7 / 3 })],
]

/** A page begins where the signal ends at a BAD point that was left out. */
const ENDING: [address: string, tags: Tags][] = [
  ['calc/FLOOR(NOBAD(STEPPEDRAW(LN(h/A))), 2)', tagsOf({ 600: 1 / 3, 299: 0, 298: 0 })],
]

/** Pages that begin or end between two points of a line, behind the last point, or where a comparison has changed. */
const CURSORS: [address: string, tags: Tags][] = [
  ['calc/TOTALISE(h/A, 1h, BEGIN_DAY, 1h)', tagsOf({ 600: 0, 90: 1 / 3, 31: -1 })],
  ['calc/SLIDINGAGG(h/A, AVG, 1h)', tagsOf({ 600: 0, 229: -4 / 3, 173: -4 / 3, 140: 4 / 3 })],
  ['calc/SLIDINGAGG(TOTALISE(siggen/sin4@72000, 1h, BEGIN_DAY, 1h), DIFF, 1h)', tagsOf({ 600: 0 })],
  ['calc/SLIDINGAGG(TOTALISERAW(siggen/sin4@72000, DAY, BEGIN_DAY, 1d), DIFF, 1h)', tagsOf({ 600: 0 })],
  ['calc/SLIDINGAGG(SLIDINGAGG(siggen/saw3@90000, TOTAL, 1h, 1min), DIFF, 1h)', tagsOf({ 600: 0 })],
  ['calc/WINDOWAGG(ADD(SLIDINGAGG(h/A, AVG, 1h), h/A), TOTAL, 1h, 1min)', tagsOf({ 600: 0, 359: -1 / 3 })],
  ['calc/IFEQUALS(TIMESHIFT(h/A, begin of this hour), h/A, 1, 0, 0.5)', tagsOf({ 600: 1 / 3, 252: -10 / 3 })],
]

const leaf = fc.constantFrom('h/A', 'h/B', 'h/C', '3', 'siggen/sin4@72000', 'siggen/saw3@90000')

function calculationOf(wraps: readonly Wrap[]): fc.Arbitrary<string> {
  return addressOver(leaf, wraps, { least: 2, most: 4 })
}

/** The tag C is stepped. */
function make(address: string, tags: Tags, pagePoints: number): TestSeries {
  const source = new ArraySource(new Map(tags.map((rows, i) => ['ABC'[i]!, columnsOf(rows)])))
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: NOW, zone: UTC }
  const range = { from, to }
  const context = { source, now: NOW, zone: UTC, range, pagePoints, maxEvaluated: MAX_EVALUATED }
  return seriesOf(parseTag(address, options), context, ({ name }) => storedTag(name, name === 'C', 'none'))
}

/** `null` where a limit ends it. */
async function unlessLimited<Result>(answer: () => Promise<Result>): Promise<Result | null> {
  try {
    return await answer()
  } catch (error) {
    if (error instanceof TidemarkError && error.kind === 'limit') return null
    throw error
  }
}

/** What request types ask for, each of operators of its own. */
const ASKS: readonly ((series: TestSeries) => Promise<unknown>)[] = [
  (series) => series.valuesAt(GRID),
  (series) => series.rawPoints({ from, to, order: 'asc', limit: 100_000 }),
  async (series) => ascending(await series.rawPoints({ from, to, order: 'desc', limit: 100_000 })),
  (series) => series.rawPoints({ from, to, order: 'desc', limit: 7 }),
  (series) => series.aggregates(EDGES, NAMES),
  (series) => series.integrals(EDGES.subarray(0, -1), EDGES.subarray(1)),
  (series) => series.rawPoint('before', to),
  (series) => series.rawPoint('after-or-at', from),
  (series) => series.currentPoint('before-or-at', NOW),
]

describe('to the last bit', () => {
  test('all functions are the same whatever the length of the pages that they are read in', async () => {
    await fc.assert(
      fc.asyncProperty(calculationOf(ALL_WRAPS), tags, async (address, tags) => {
        for (const ask of ASKS) {
          const answers = await Promise.all(
            PAGES.map((page) => unlessLimited(() => ask(make(address, tags, page)))),
          )
          const all = answers.filter((answer) => answer !== null)
          for (const answer of all) assert.deepStrictEqual(answer, all[0])
        }
      }),
      { numRuns: 60, examples: [...TOTALS, ...ENDING] },
    )
  })

  test('raw points are the same in both directions, on pages of a cursor too', async () => {
    await fc.assert(
      fc.asyncProperty(calculationOf(ALL_WRAPS), tags, async (address, tags) => {
        const whole = { from, to, limit: 100_000 }
        const all = await unlessLimited(async () =>
          rowsOf(await make(address, tags, 512).rawPoints({ ...whole, order: 'asc' })),
        )
        if (all === null) return
        for (const order of ['asc', 'desc'] as const) {
          for (const limit of PAGES) {
            const found = await unlessLimited(() => paged(() => make(address, tags, 512), order, limit))
            if (found !== null) assert.deepStrictEqual(found, all)
          }
        }
      }),
      { numRuns: 100, examples: [...TOTALS, ...CURSORS] },
    )
  })
})

/** All raw points of the range, ascending, a page of a cursor after the other: each is a call of its own. */
async function paged(series: () => TestSeries, order: 'asc' | 'desc', limit: number): Promise<Row[]> {
  const found: Row[] = []
  const left = { from, to }
  for (let more = true; more && left.from < left.to; ) {
    const range: RawRange = { ...left, order, limit }
    const page = await series().rawPoints(range)
    const points = rowsOf(page)
    found.push(...points)
    more = page.more
    const last = points.at(-1)?.[0] ?? 0
    if (order === 'asc') left.from = instantFromUs(last + 1)
    else left.to = instantFromUs(last)
  }
  return order === 'asc' ? found : found.reverse()
}

function rowsOf({ points: { times, values, statuses } }: RangeResult): Row[] {
  return Array.from(times, (time, i): Row => [time, values[i]!, statuses[i] !== 0])
}

function ascending(page: RangeResult): readonly Row[] {
  return rowsOf(page).reverse()
}
