import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTag } from '../../../grammar/parser.ts'
import { instantFromUs, US_PER_HOUR } from '../../../time/instant.ts'
import { UTC } from '../../../time/zone.ts'
import { SIGNATURES } from '../../functions/index.ts'
import { ArraySource, columnsOf, costOf, storedTag } from '../../graph/array-source.fixture.ts'
import { seriesOf } from '../../graph/series.fixture.ts'

const START = Date.UTC(2026, 0, 10) * 1000
const at = (hour: number) => instantFromUs(START + hour * US_PER_HOUR)

test('values of windows over totals fetch no more than estimated where windows begin with those of the totals', async () => {
  const source = new ArraySource(
    new Map([
      [
        'A',
        columnsOf([
          [at(0), 1],
          [at(28), 2],
        ]),
      ],
    ]),
  )
  const [from, to, now] = [at(51), at(52), at(192)]
  for (const op of ['SUM', 'COUNT', 'VAR']) {
    for (const pushDowns of ['all', 'none'] as const) {
      const text = `calc/ADD(h/A, SLIDINGAGG(TOTALISERAW(h/A, HOUR, BEGIN_DAY, 1h), ${op}, 1d))`
      const tree = parseTag(text, { signatures: SIGNATURES, defaultHistorian: null, now, zone: UTC })
      const context = { source, now, zone: UTC, range: { from, to } }
      const series = seriesOf(tree, context, ({ name }) => storedTag(name, false, pushDowns))
      const times = Float64Array.from({ length: 9 }, (_, i) => from + (i * US_PER_HOUR) / 8)
      const before = source.crossed
      await series.valuesAt(times)
      const fetched = source.crossed - before
      const load = costOf(series.estimate([{ kind: 'values', from, to, count: 9, key: 1 }]), source)
      assert.ok(fetched <= load, `${op}, push-downs ${pushDowns}: ${fetched} fetched, load ${load}`)
    }
  }
})
