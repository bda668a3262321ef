import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withWrongBit } from '../../../test/durability/damage.ts'
import { Damage } from '../damage.ts'
import { openJournal, pointsRecord, removalRecord } from './journal.fixture.ts'
import type { Journal, RecordPlace } from './journal.ts'
import type { JournalRecord } from './record.ts'

const BEGINNING = { first: 1, epoch: 1, next: 0 }

function allFrom(journal: Journal, place: RecordPlace) {
  const found: { place: RecordPlace; record: JournalRecord | Damage }[] = []
  journal.eachFrom(place, (record, at) => found.push({ place: at, record }))
  return found
}

const placesFrom = (journal: Journal, place: RecordPlace) =>
  allFrom(journal, place).map(({ place: { epoch, number } }) => `${epoch}.${number}`)

test('a journal that was never written to stands at its beginning', (t) => {
  const { journal } = openJournal(t)
  assert.deepEqual(journal.state(), BEGINNING)
  assert.deepEqual(allFrom(journal, { epoch: 1, number: 0 }), [])
})

test('records come back in the order of their commits, from any place on', async (t) => {
  const { journal, append } = openJournal(t)
  const records = [
    pointsRecord([1, [5, 1]], [2, [7, 2, 1]]),
    removalRecord([1, 0, 6]),
    pointsRecord([1, [5, 3]]),
    pointsRecord([2, [9, 4]]),
  ] as const
  const state = await append(BEGINNING, records[0], records[1])
  assert.deepEqual(state, { first: 1, epoch: 1, next: 2 })
  // Numbers of 256 and above follow those below: keys sort as numbers do.
  const sealed = { first: 1, epoch: 256, next: 255 }
  await append(sealed, records[2], records[3])
  assert.deepEqual(journal.state(), { first: 1, epoch: 256, next: 257 })
  const found = allFrom(journal, { epoch: 1, number: 0 })
  assert.deepEqual(
    found.map(({ record }) => record),
    records,
  )
  assert.deepEqual(placesFrom(journal, { epoch: 1, number: 1 }), ['1.1', '256.255', '256.256'])
  assert.deepEqual(placesFrom(journal, { epoch: 2, number: 0 }), ['256.255', '256.256'])
  assert.deepEqual(placesFrom(journal, { epoch: 256, number: 257 }), [])
})

test('any wrong bit in the state, and one that is too short, is damage', async (t) => {
  const { root, store, journal, putState } = openJournal(t)
  await putState({ first: 3, epoch: 4, next: 77 })
  const key = new Uint8Array(8)
  const sound = new Uint8Array(store.get(key)!.subarray(0, 16))
  const wrong = [
    sound.subarray(0, 12),
    ...Array.from({ length: 16 * 8 }, (_, at) => withWrongBit(sound, at >> 3, at & 7)),
  ]
  for (const bytes of wrong) {
    await root.transaction(() => store.put(key, bytes))
    root.resetReadTxn()
    assert.throws(() => journal.state(), Damage)
  }
})

test('a damaged record is named, and those behind it are given', async (t) => {
  const { root, store, journal, append } = openJournal(t)
  await append(BEGINNING, pointsRecord([1, [5, 1]]), pointsRecord([1, [6, 2]]), pointsRecord([1, [7, 3]]))
  const [, second] = [...store.getKeys({ start: Buffer.of(0, 0, 0, 1) })] as Uint8Array[]
  await root.transaction(() => store.put(second!, withWrongBit(store.get(second!)!, 20)))
  root.resetReadTxn()
  const found = allFrom(journal, { epoch: 1, number: 0 }).map(({ record }) => record)
  assert.equal(found.length, 3)
  assert.ok(found[1] instanceof Damage)
  assert.match(found[1].message, /^journal record 1\.1: the checksum/)
  assert.deepEqual([found[0], found[2]], [pointsRecord([1, [5, 1]]), pointsRecord([1, [7, 3]])])
})

test('records of folded epochs go oldest first, a bounded number at a time, and no others', async (t) => {
  const { journal, changes, append, commit } = openJournal(t)
  const three = [1, 2, 3].map((value) => pointsRecord([1, [value, value]]))
  await append({ first: 1, epoch: 1, next: 0 }, ...three)
  await append({ first: 1, epoch: 2, next: 0 }, ...three)
  await append({ first: 1, epoch: 3, next: 0 }, ...three)
  const left = async (first: number, limit: number) => {
    const isAll = journal.removeFolded(changes, first, limit)
    await commit()
    return [isAll, ...placesFrom(journal, { epoch: 1, number: 0 })]
  }
  const third = ['3.0', '3.1', '3.2']
  assert.deepEqual(await left(1, 9), [true, '1.0', '1.1', '1.2', '2.0', '2.1', '2.2', ...third])
  assert.deepEqual(await left(3, 2), [false, '1.2', '2.0', '2.1', '2.2', ...third])
  assert.deepEqual(await left(3, 3), [false, '2.2', ...third])
  assert.deepEqual(await left(3, 1), [true, ...third])
  assert.deepEqual(journal.state(), { first: 1, epoch: 3, next: 3 })
})
