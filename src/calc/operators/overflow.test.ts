import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTag } from '../../grammar/parser.ts'
import { STATUS_BAD } from '../../series/columns.ts'
import { instantFromUs, US_PER_MINUTE } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import { SIGNATURES } from '../functions/index.ts'
import { ArraySource, columnsOf, storedTag } from '../graph/array-source.fixture.ts'
import { seriesOf } from '../graph/series.fixture.ts'

const at = (minutes: number) => instantFromUs(minutes * US_PER_MINUTE)

/** The integral leaves the range of doubles below first, and then above where the signal is positive. */
const ROWS = [
  [at(600), -4e304],
  [at(630), 2e301],
  [at(631), 5],
] as const

for (const [calculation, afterwards] of [
  ['SLIDINGAGG(h/A, AVG, 1h)', 5],
  ['TOTALISE(h/A, 1h, 0, 1h)', 5],
  ['TOTALISERAW(h/A, 1h, 0, 1h)', 5],
  ['TOTALISE(h/A, 2h, 00:00, 1h)', 0],
] as const) {
  test(`${calculation} has no value where its integral overflows, whatever the sign`, async () => {
    for (const pushDowns of ['all', 'none'] as const) {
      const range = { from: at(615), to: at(680) }
      const now = at(900)
      const source = new ArraySource(new Map([['A', columnsOf(ROWS)]]))
      const context = { source, now, zone: UTC, range, pagePoints: 2 }
      const tree = parseTag(`calc/${calculation}`, {
        signatures: SIGNATURES,
        defaultHistorian: null,
        now,
        zone: UTC,
      })
      const series = seriesOf(tree, context, ({ name }) => storedTag(name, false, pushDowns))
      const times = Float64Array.of(at(630), at(640), at(655), at(720))
      const values = await series.valuesAt(times)
      assert.deepEqual([...values.subarray(0, 3)], [Number.NaN, Number.NaN, Number.NaN])
      assert.equal(values[3], afterwards)
      const { points } = await series.rawPoints({ ...range, order: 'asc', limit: 100 })
      const i = points.times.indexOf(at(630))
      assert.ok(Number.isNaN(points.values[i]!))
      assert.equal(points.statuses[i], STATUS_BAD)
      const chunk = await series.operator
        .chunks({ from: at(620), to: at(700), order: 'asc', page: 10, extent: 'all' })
        .next()
      assert.ok(chunk!.valuesAt(Float64Array.of(at(630)), 'at').every(Number.isNaN))
    }
  })
}
