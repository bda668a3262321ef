import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Damage } from '../damage.ts'
import { TombstoneLog } from '../memtable/tombstone-log.ts'
import { addChecksum } from './page-checksum.ts'
import type { Tombstone } from './part.ts'
import { TombstoneList } from './tombstone-list.ts'
import { decodeTombstones, encodeTombstones } from './tombstones.ts'

const times = fc.oneof(fc.integer(), fc.constantFrom(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY))
const tombstone: fc.Arbitrary<Tombstone> = fc
  .tuple(
    fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constantFrom(4_095, 4_096, 0xffff_fffe)),
    times,
    times,
    fc.integer({ min: 1, max: 20 }),
  )
  .map(([tag, from, to, sequence]) => ({ tag, from, to, sequence }))

test('a list gives the tombstones of each tag by their numbers, also after it was written and read', () => {
  fc.assert(
    fc.property(fc.array(tombstone, { maxLength: 40 }), (all) => {
      for (const list of [
        TombstoneList.of(all),
        decodeTombstones(encodeTombstones(TombstoneList.of(all).columns)),
      ]) {
        assert.equal(list.length, all.length)
        assert.ok(list.isInOrder)
        for (const tag of [...all.map((one) => one.tag), 3, 5_000]) {
          const own = all.filter((one) => one.tag === tag).sort((a, b) => a.sequence - b.sequence)
          assert.deepEqual(list.of(tag), own)
        }
      }
    }),
  )
})

test('tombstones out of their order are damage: a tag is looked up by it', () => {
  const { columns } = TombstoneList.of([1, 2].map((tag) => ({ tag, from: 0, to: 1, sequence: 5 })))
  const page = encodeTombstones(columns)
  const tags = new Uint32Array(page.buffer, 16 + 2 * 24, 2)
  tags.reverse()
  addChecksum(page)
  assert.throws(() => decodeTombstones(page), Damage)
})

test('a log gives the tombstones of each tag as they came, and all of them by tag', () => {
  fc.assert(
    fc.property(fc.array(tombstone, { maxLength: 60 }), (all) => {
      const log = new TombstoneLog()
      for (const { tag, from, to, sequence } of all) log.add(tag, from, to, sequence)
      assert.equal(log.length, all.length)
      assert.deepEqual(
        [...log],
        all.toSorted((a, b) => a.tag - b.tag),
      )
      for (const tag of [...all.map((one) => one.tag), 3, 5_000]) {
        assert.deepEqual(
          log.of(tag),
          all.filter((one) => one.tag === tag),
        )
      }
    }),
  )
})
