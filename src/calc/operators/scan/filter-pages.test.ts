import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTag } from '../../../grammar/parser.ts'
import type { PointColumns } from '../../../series/columns.ts'
import { instantFromUs, US_PER_HOUR, US_PER_SECOND } from '../../../time/instant.ts'
import { UTC } from '../../../time/zone.ts'
import { SIGNATURES } from '../../functions/index.ts'
import { ArraySource, columnsOf, type Row, storedTag } from '../../graph/array-source.fixture.ts'
import { seriesOf, type TestSeries } from '../../graph/series.fixture.ts'
import { FilterRun } from './filter-run.ts'

const PERIOD_SECONDS = 60
const START = Date.UTC(2026, 0, 15) * 1000
const [from, to] = [instantFromUs(START + US_PER_HOUR), instantFromUs(START + 3 * US_PER_HOUR)]

/** Points with gaps shorter and longer than what a filter forgets. */
const rows: fc.Arbitrary<readonly Row[]> = fc
  .array(
    fc.tuple(fc.constantFrom(1, 7, 20, 61, 130, 250, 400, 900), fc.integer({ min: -20, max: 20 }), fc.nat(6)),
    {
      minLength: 20,
      maxLength: 120,
    },
  )
  .map((steps) => {
    let time = START
    return steps.map(([seconds, value, bad]): Row => {
      time += seconds * US_PER_SECOND
      return [time, value / 3, bad === 0]
    })
  })

function make(text: string, rows: readonly Row[], pagePoints = 512): TestSeries {
  const source = new ArraySource(new Map([['A', columnsOf(rows)]]))
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: to, zone: UTC }
  const context = { source, now: to, zone: UTC, range: { from, to }, pagePoints }
  return seriesOf(parseTag(`calc/${text}`, options), context, ({ name }) => storedTag(name, false, 'none'))
}

/** All raw points, a page after the other, ascending. */
async function paged(
  text: string,
  rows: readonly Row[],
  order: 'asc' | 'desc',
  limit: number,
): Promise<Row[]> {
  const found: Row[] = []
  let [start, end] = [from, to]
  for (let more = true; more && start < end; ) {
    const page = await make(text, rows).rawPoints({ from: start, to: end, order, limit })
    found.push(...rowsOf(page.points))
    more = page.more
    const last = page.points.times.at(-1)
    if (last === undefined) break
    if (order === 'asc') start = instantFromUs(last + 1)
    else end = instantFromUs(last)
  }
  return order === 'asc' ? found : found.reverse()
}

function rowsOf({ times, values, statuses }: PointColumns): Row[] {
  return Array.from(times, (time, i): Row => [time, values[i]!, statuses[i] !== 0])
}

test('filters are the same to the last bit for every page, in both directions and at single points', async () => {
  const calculation = fc.constantFrom(
    `LOWPASS(h/A, ${PERIOD_SECONDS})`,
    `HIGHPASS(h/A, ${PERIOD_SECONDS})`,
    'LOWPASS(HIGHPASS(h/A, 30), 90)',
    'NOBAD(LOWPASS(MUL(h/A, 0.1), 20))',
  )
  await fc.assert(
    fc.asyncProperty(calculation, rows, async (text, rows) => {
      const whole = { from, to, order: 'asc', limit: 1_000 } as const
      const all = rowsOf((await make(text, rows).rawPoints(whole)).points)
      for (const page of [1, 2, 7]) {
        assert.deepStrictEqual(rowsOf((await make(text, rows, page).rawPoints(whole)).points), all)
        assert.deepStrictEqual(await paged(text, rows, 'asc', page), all)
        assert.deepStrictEqual(await paged(text, rows, 'desc', page), all)
      }
      const back = await make(text, rows).rawPoints({ ...whole, order: 'desc' })
      assert.deepStrictEqual(rowsOf(back.points).reverse(), all)
      const single = await make(text, rows).rawPoint('before', to)
      // Before the range there may be one, too.
      if (all.length > 0) assert.deepStrictEqual([single?.time, single?.value, single?.bad], all.at(-1))
    }),
    { numRuns: 60 },
  )
})

test('a filter is that of the whole input but for the last digits', () => {
  fc.assert(
    fc.property(rows, (rows) => {
      const { times, values: inputs } = columnsOf(rows)
      const found = new Float64Array(times.length)
      new FilterRun(PERIOD_SECONDS * US_PER_SECOND).run(times, inputs, found, null)
      let y = inputs[0]!
      for (let i = 0; i < times.length; i++) {
        if (i > 0) {
          const share = -Math.expm1(
            (-2 * Math.PI * (times[i]! - times[i - 1]!)) / (PERIOD_SECONDS * US_PER_SECOND),
          )
          y += share * (inputs[i]! - y)
        }
        assert.ok(Math.abs(found[i]! - y) < 1e-14, `${found[i]} is ${y}`)
      }
    }),
  )
})
