import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../test/until.ts'
import { YoungMemory } from './young-memory.ts'

const MB = 2 ** 20

/** Takes memory that nobody looks at any more; gives what all buffers have together before it is given back. */
function waste(bytes: number): number {
  let taken = 0
  for (let made = 0; made < bytes; made += MB) taken += new Float64Array(MB / 8).byteLength
  assert.equal(taken, bytes)
  return process.memoryUsage().arrayBuffers
}

test('memory of columns that nobody looks at any more is given back when enough of it was added', async () => {
  const young = new YoungMemory()
  const before = waste(8 * MB)
  young.add(8 * MB)
  young.collect()
  // The memory itself is given back by another thread.
  await until(() => process.memoryUsage().arrayBuffers <= before - 6 * MB, 'the memory is given back')
})

test('for little the collector is not called', () => {
  const young = new YoungMemory()
  const before = waste(MB)
  young.add(MB)
  young.collect()
  assert.ok(process.memoryUsage().arrayBuffers >= before - MB / 2)
})
