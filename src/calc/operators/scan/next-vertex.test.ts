import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTag } from '../../../grammar/parser.ts'
import { instantFromUs, US_PER_MINUTE } from '../../../time/instant.ts'
import { UTC } from '../../../time/zone.ts'
import { SIGNATURES } from '../../functions/index.ts'
import { ArraySource, columnsOf, type Row, storedTag } from '../../graph/array-source.fixture.ts'
import { seriesOf } from '../../graph/series.fixture.ts'

/** A point a minute, a few of them after the hour that is read; never 0. */
const rows = Array.from({ length: 64 }, (_, i): Row => [i * US_PER_MINUTE, 1 + (i % 5)])
const [from, to] = [instantFromUs(0), instantFromUs(60 * US_PER_MINUTE)]

async function fetchedIn(text: string, pagePoints: number): Promise<number> {
  const source = new ArraySource(new Map(['LEVEL', 'OTHER'].map((name) => [name, columnsOf(rows)])))
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: to, zone: UTC }
  const context = { source, now: to, zone: UTC, range: { from, to }, pagePoints }
  const tree = parseTag(`calc/${text}`, options)
  const series = seriesOf(tree, context, ({ name }) => storedTag(name, false, 'all'))
  const { coveredUs } = await series.integrals(Float64Array.of(from), Float64Array.of(to))
  assert.deepEqual([...coveredUs], [0])
  return source.crossed
}

test('where no raw point is good, what comes after a page is looked for once, and not at the end of each', async () => {
  for (const text of [
    'LOWPASS(IFEQUALS(0, h/LEVEL, h/LEVEL, constants/empty, 0), 60)',
    'LOWPASS(ADD(THRESHOLD(h/LEVEL, h/OTHER, constants/empty, h/OTHER), h/LEVEL), 60)',
    'HIGHPASS(IFEQUALS(0, h/LEVEL, h/LEVEL, constants/empty, 0), 60)',
    'HIGHPASS(ADD(THRESHOLD(h/LEVEL, h/OTHER, constants/empty, h/OTHER), h/LEVEL), 60)',
  ]) {
    const inOne = await fetchedIn(text, 100)
    for (const pagePoints of [2, 7]) {
      const fetched = await fetchedIn(text, pagePoints)
      assert.ok(fetched <= 1.5 * inOne, `${text}: ${fetched} in pages of ${pagePoints}, ${inOne} in one`)
    }
  }
})
