import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { parseTag } from '../../grammar/parser.ts'
import type { TagNode } from '../../grammar/tree.ts'
import { instantFromUs } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import { ArraySource, columnsOf, storedTag } from '../graph/array-source.fixture.ts'
import { seriesOf } from '../graph/series.fixture.ts'
import { SIGNATURES } from './index.ts'

const NOW = instantFromUs(100)

function evaluate(calculation: string, resolve: (tag: TagNode) => never): Promise<Float64Array> {
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: NOW, zone: UTC }
  const source = new ArraySource(new Map([['HERE', columnsOf([[0, 5]])]]))
  const context = { source, now: NOW, zone: UTC, range: { from: NOW, to: NOW } }
  const tree = parseTag(`calc/${calculation}`, options)
  const series = seriesOf(tree, context, (tag) =>
    tag.name === 'HERE' ? storedTag('HERE', false, 'none') : resolve(tag),
  )
  return series.valuesAt(Float64Array.of(NOW))
}

function refuse(code: 'TAG_NOT_FOUND' | 'HISTORIAN_NOT_FOUND' | 'HISTORIAN_UNAVAILABLE' | 'BUG') {
  return (): never => {
    throw new TidemarkError(code, { historian: 'h', tag: 'AWAY', reason: 'test', what: 'test' })
  }
}

for (const code of ['TAG_NOT_FOUND', 'HISTORIAN_NOT_FOUND'] as const) {
  test(`${code} makes it take the second input`, async () => {
    assert.deepEqual([...(await evaluate('IFTAGEXISTS(h/AWAY, h/HERE)', refuse(code)))], [5])
    assert.deepEqual([...(await evaluate('IFTAGEXISTS(MUL(h/HERE, h/AWAY), 7)', refuse(code)))], [7])
  })
}

for (const code of ['HISTORIAN_UNAVAILABLE', 'BUG'] as const) {
  test(`${code} is an error: nobody knows whether the tag exists`, () => {
    assert.throws(() => evaluate('IFTAGEXISTS(h/AWAY, 7)', refuse(code)), { code })
    assert.throws(() => evaluate('IFTAGEXISTS(IFTAGEXISTS(h/AWAY, 7), 8)', refuse(code)), { code })
  })
}

test('a tag of the input that is not taken is not looked at', async () => {
  assert.deepEqual([...(await evaluate('IFTAGEXISTS(h/HERE, h/AWAY)', refuse('HISTORIAN_UNAVAILABLE')))], [5])
})
