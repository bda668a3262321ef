import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChangeWriter } from '../catalog/tag-changes.ts'
import { RemovedSpans } from '../wal/removed-spans.ts'
import { FlushedChanges } from './flushed-changes.ts'

/** Changes of these records, each of which puts the tag with an id, that are to be applied to a catalog. */
function applied(
  records: readonly (readonly [sequence: number, id: number])[],
  { flushed, nextId, last }: { readonly flushed: number; readonly nextId: number; readonly last: number },
): readonly number[] {
  const sequences = new Map<Uint8Array, number>()
  const changes = new FlushedChanges(flushed, nextId)
  for (const [sequence, id] of records) {
    const writer = new ChangeWriter()
    writer.put(id, { name: `tag ${id}`, description: null, units: null, stepped: false })
    const catalog = writer.take()!
    sequences.set(catalog, sequence)
    changes.take({ sequence, catalog, removed: RemovedSpans.none, points: null })
  }
  return changes.until(last).map((one) => sequences.get(one)!)
}

test('changes of flushed records are applied where none that follow are missing, and none that the log has itself', () => {
  const run = [
    [3, 1],
    [4, 2],
    [5, 1],
    [6, 2],
  ] as const
  assert.deepEqual(applied(run, { flushed: 5, nextId: 3, last: 6 }), [3, 4, 5])
  assert.deepEqual(applied([...run, [4, 1], [7, 1]], { flushed: 5, nextId: 3, last: 7 }), [3, 4, 5])
  // Later ones are in the catalog alone.
  assert.deepEqual(applied(run, { flushed: 5, nextId: 3, last: 7 }), [])
  assert.deepEqual(applied([...run, [8, 1]], { flushed: 8, nextId: 3, last: 8 }), [8])
})

test('from a tag on that the catalog has never had all changes are applied', () => {
  const run = [
    [3, 1],
    [4, 3],
    [7, 1],
  ] as const
  assert.deepEqual(applied(run, { flushed: 7, nextId: 3, last: 9 }), [3, 4, 7])
  assert.deepEqual(applied([[1, 1], ...run], { flushed: 7, nextId: 3, last: 9 }), [3, 4, 7])
})
