import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../test/until.ts'
import { ArraySource, storedTag } from '../calc/graph/array-source.fixture.ts'
import { seriesOf } from '../calc/graph/series.fixture.ts'
import { parseTag } from '../grammar/parser.ts'
import { makeColumns } from '../series/columns.ts'
import { instantFromUs } from '../time/instant.ts'
import { UTC } from '../time/zone.ts'
import { MinorGc } from './minor-gc.ts'

const MB = 2 ** 20

/** Takes memory that nobody looks at any more; gives what all buffers have together before it is given back. */
function waste(bytes: number): number {
  let taken = 0
  for (let made = 0; made < bytes; made += MB) taken += new Float64Array(MB / 8).byteLength
  assert.equal(taken, bytes)
  return process.memoryUsage().arrayBuffers
}

test('memory of columns that nobody looks at any more is given back when enough of it was added', async () => {
  const garbage = new MinorGc()
  const before = waste(8 * MB)
  garbage.add(8 * MB)
  garbage.collect()
  // The memory itself is given back by another thread.
  await until(() => process.memoryUsage().arrayBuffers <= before - 6 * MB, 'the memory is given back')
})

test('for little the collector is not called', async () => {
  const garbage = new MinorGc()
  // What was given back before may still be on its way.
  let [last, now] = [-1, 0]
  const look = () => {
    ;[last, now] = [now, process.memoryUsage().arrayBuffers]
    return last === now
  }
  await until(look, 'nothing more is given back')
  const before = waste(MB)
  garbage.add(MB)
  garbage.collect()
  assert.ok(process.memoryUsage().arrayBuffers >= before - MB / 2)
})

test('points that calls read are given back although an operator was made for each', async () => {
  const garbage = new MinorGc()
  const range = { from: instantFromUs(0), to: instantFromUs(1_000_000) }
  const context = { now: range.to, zone: UTC }
  const tree = parseTag('h/T', { ...context, signatures: new Map(), defaultHistorian: null })
  // Less than what V8 collects the whole heap for.
  const calls = 20
  const before = waste(0)
  for (let call = 0; call < calls; call++) {
    const source = new ArraySource(new Map([['T', makeColumns(MB / 16)]]))
    const series = seriesOf(tree, { ...context, range, source }, ({ name }) => storedTag(name, false, 'all'))
    await series.rawPoints({ ...range, order: 'asc', limit: MB })
    garbage.add(2 * MB)
    garbage.collect()
  }
  assert.ok(process.memoryUsage().arrayBuffers < before + (calls / 2) * MB)
})
