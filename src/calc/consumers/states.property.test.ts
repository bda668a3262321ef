import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTag } from '../../grammar/parser.ts'
import { instantFromUs } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import { SIGNATURES } from '../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../graph/array-source.fixture.ts'
import { seriesOf } from '../graph/series.fixture.ts'
import { statesNeed, statesOf } from './states.ts'

/** The times of states, against a loop over microseconds that shares no code with the engine. */

const SPAN = 40
const context = { signatures: SIGNATURES, defaultHistorian: null, now: instantFromUs(0), zone: UTC }
const STATES = { '-1': 'Back', '0': 'Off', '1': 'On', '2': 'Fast' }

const rows: fc.Arbitrary<readonly Row[]> = fc
  .uniqueArray(fc.tuple(fc.nat(SPAN), fc.constantFrom(0, -0, 1, 1, 2, -1, 5, 0.5), fc.nat(4)), {
    maxLength: 20,
    selector: ([time]) => time,
  })
  .map((rows) => rows.sort(([a], [b]) => a - b).map(([time, value, bad]): Row => [time, value, bad === 0]))

const setting = fc.record({
  rows,
  now: fc.integer({ min: -3, max: SPAN + 10 }),
  /** 0 for no limit. */
  gap: fc.constantFrom(0, 0, 2, 5),
  page: fc.integer({ min: 1, max: 6 }),
  pushDowns: fc.constantFrom('all' as const, 'none' as const),
  edges: fc
    .uniqueArray(fc.integer({ min: -8, max: SPAN + 12 }), { minLength: 2, maxLength: 8 })
    .map((edges) => edges.sort((a, b) => a - b)),
})
type Setting = typeof setting extends fc.Arbitrary<infer Value> ? Value : never

/** The name of the state from t to t + 1; null where there is no value. */
function slowName({ rows, now, gap }: Setting, t: number): string | null {
  const good = rows.filter(([, , bad]) => !bad)
  const last = good.findLast(([time]) => time <= t)
  if (last === undefined) return null
  const next = good.find(([time]) => time > t)
  if (next === undefined && t >= now) return null
  if (gap > 0 && t - last[0] >= gap && (next === undefined || next[0] - last[0] > gap)) return null
  const name = Object.entries(STATES).find(([value]) => Number(value) === last[1])?.[1]
  return name ?? 'other'
}

function slowTimes(one: Setting, from: number, to: number): Record<string, { us: number; visits: number }> {
  const times: Record<string, { us: number; visits: number }> = {}
  let before: string | null = null
  for (let t = from; t < to; t++) {
    const name = slowName(one, t)
    if (name !== null) {
      times[name] ??= { us: 0, visits: 0 }
      times[name].us++
      if (name !== before) times[name].visits++
    }
    before = name
  }
  return times
}

test('times and visits of states are those of a plain loop, at no more than estimated', async () => {
  await fc.assert(
    fc.asyncProperty(setting, async (one) => {
      const { rows, now, gap, page, pushDowns, edges } = one
      const source = new ArraySource(new Map([['T', columnsOf(rows)]]))
      const range = { from: instantFromUs(edges[0]!), to: instantFromUs(edges.at(-1)!) }
      const stored = { ...storedTag('T', true, pushDowns), states: STATES }
      const series = seriesOf(
        parseTag('h/T', context),
        { source, now: instantFromUs(now), zone: UTC, range, pagePoints: page },
        () => (gap === 0 ? stored : { ...stored, maxGapUs: gap }),
      )
      const { operator, evaluation } = series
      const { names, windows } = await statesOf(operator, Float64Array.from(edges), STATES, evaluation)
      const cost = costOf(series.estimate([statesNeed(range.from, range.to, STATES)]), source)
      assert.ok(source.crossed <= cost, `${source.crossed} crossed, ${cost} estimated`)
      assert.equal(windows.length, edges.length - 1)
      assert.deepEqual(names, ['Back', 'Off', 'On', 'Fast', 'other'])
      windows.forEach((met, i) => {
        const found = Object.fromEntries(met.map(({ state, us, visits }) => [names[state]!, { us, visits }]))
        assert.deepEqual(found, slowTimes(one, edges[i]!, edges[i + 1]!), `[${edges[i]}, ${edges[i + 1]})`)
      })
    }),
    { numRuns: 1500 },
  )
})
