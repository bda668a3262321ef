import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTag } from '../../grammar/parser.ts'
import { instantFromUs, US_PER_MINUTE } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import { SIGNATURES } from '../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../graph/array-source.fixture.ts'
import { seriesOf } from '../graph/series.fixture.ts'

const rows = Array.from({ length: 64 }, (_, i): Row => [i * US_PER_MINUTE, 1 + (i % 5)])
const [from, to] = [instantFromUs(0), instantFromUs(5 * US_PER_MINUTE)]

test('what has no BAD raw point any more is read as it is: nothing is looked for beside a page', async () => {
  const bending = 'THRESHOLD(h/A, THRESHOLD(h/A, h/A, constants/empty, constants/empty), h/A, h/A)'
  for (const text of [`NOBAD(NOBAD(${bending}))`, `NOBAD(LOWPASS(${bending}, 60))`]) {
    const source = new ArraySource(new Map([['A', columnsOf(rows)]]))
    const options = { signatures: SIGNATURES, defaultHistorian: null, now: to, zone: UTC }
    const context = { source, now: to, zone: UTC, range: { from, to }, pagePoints: 2 }
    const tree = parseTag(`calc/${text}`, options)
    const series = seriesOf(tree, context, ({ name }) => storedTag(name, false, 'all'))
    const need = { kind: 'raw', from, to, order: 'asc', count: 1, isPage: true } as const
    const estimated = costOf(series.estimate([need]), source)
    const { points } = await series.rawPoints({ from, to, order: 'asc', limit: 1 })
    assert.equal(points.times.length, 0)
    assert.ok(source.crossed <= estimated, `${text}: ${source.crossed} crossed, ${estimated} estimated`)
  }
})
