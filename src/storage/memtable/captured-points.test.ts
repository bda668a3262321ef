import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeColumns } from '../../series/columns.ts'
import { RemovedSpans } from '../wal/removed-spans.ts'
import { layersOf } from './captured-points.ts'
import { Memtable } from './memtable.ts'

const TAGS = [1, 2, 3]
const time = fc.integer({ min: 0, max: 30 })
const step = fc.oneof(
  fc.record({
    kind: fc.constant('add' as const),
    tag: fc.constantFrom(...TAGS),
    times: fc.oneof(fc.array(time, { maxLength: 6 }), fc.constant(Array.from({ length: 150 }, (_, i) => i))),
  }),
  fc.record({ kind: fc.constant('remove' as const), tag: fc.constantFrom(...TAGS), from: time, to: time }),
  fc.record({ kind: fc.constantFrom('flush' as const, 'pin' as const, 'unpin' as const) }),
)

const rowsOf = (layers: ReturnType<typeof layersOf>) =>
  layers.map(({ times, values, statuses }) => Array.from(times, (at, i) => [at, values[i], statuses[i]]))

test('points that were captured stay as they were whatever is added, removed and flushed, until they are unpinned', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const memtable = new Memtable(1)
      let pins: { unpin(): void; check(): void }[] = []
      let value = 0
      for (const one of steps) {
        const record = {
          sequence: memtable.nextSequence,
          catalog: null,
          removed: RemovedSpans.none,
          points: null,
        }
        if (one.kind === 'add') {
          const points = makeColumns(one.times.length)
          for (const [i, at] of one.times.entries()) {
            points.times[i] = at
            points.values[i] = ++value
            points.statuses[i] = value % 2
          }
          const offsets = Uint32Array.of(0, one.times.length)
          memtable.apply({ ...record, points: { tags: Uint32Array.of(one.tag), offsets, points } }, 0)
        } else if (one.kind === 'remove') memtable.apply({ ...record, removed: RemovedSpans.of([one]) }, 0)
        else if (one.kind === 'pin') {
          const pin = memtable.pin()
          const captured = TAGS.map((tag) => memtable.capture(tag))
          const expected = TAGS.map((tag) => rowsOf(memtable.layers(tag)))
          const check = () =>
            assert.deepEqual(
              captured.map((of) => (of === null ? [] : rowsOf(layersOf(of.immutable, of.active)))),
              expected,
            )
          pins.push({ ...pin, check })
        } else if (one.kind === 'unpin') pins.shift()?.unpin()
        else if (memtable.immutable === null) memtable.rotate()
        else memtable.dropImmutable()
        for (const pin of pins) pin.check()
      }
      for (const pin of pins) pin.unpin()
      pins = []
    }),
  )
})
