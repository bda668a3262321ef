import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTag } from '../../../grammar/parser.ts'
import { instantFromUs, US_PER_MINUTE } from '../../../time/instant.ts'
import { UTC } from '../../../time/zone.ts'
import { SIGNATURES } from '../../functions/index.ts'
import { ArraySource, columnsOf, storedTag } from '../../graph/array-source.fixture.ts'
import { seriesOf } from '../../graph/series.fixture.ts'

const SIX = Date.UTC(2026, 0, 15, 6) * 1000
const at = (minutes: number) => instantFromUs(SIX + minutes * US_PER_MINUTE)

test('a window over a total has what the total reached before its own window began, on every page', async () => {
  // A point of 1 every ten minutes: the total of an hour is 1 where the next one begins, at 07:00.
  const rows = Array.from({ length: 18 }, (_, i) => [at(10 * i), 1] as const)
  const range = { from: at(60), to: at(100) }
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: at(180), zone: UTC }
  const tree = parseTag('calc/SLIDINGAGG(TOTALISE(h/A, 1h, BEGIN_DAY, 1h), MAX, 45m)', options)
  const make = () =>
    seriesOf(
      tree,
      { source: new ArraySource(new Map([['A', columnsOf(rows)]])), now: at(180), zone: UTC, range },
      ({ name }) => storedTag(name, false, 'none'),
    )
  for (const limit of [1, 2, 7, 512]) {
    for (let from = range.from; from < range.to; ) {
      const { points } = await make().rawPoints({ from, to: range.to, order: 'asc', limit })
      assert.deepEqual(points.values, new Float64Array(points.values.length).fill(1), `pages of ${limit}`)
      from = instantFromUs(points.times.at(-1)! + 1)
    }
  }
})
