import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns, type PointColumns } from '../../src/series/columns.ts'
import type { FoldLimits } from '../../src/storage/folder.ts'
import type { HistorianStore } from '../../src/storage/historian-store.ts'
import { openHistorianStore } from '../../src/storage/open-historian.ts'
import { type Harm, harmEntries, withWrongBit } from './damage.ts'
import { temporaryFolder } from './folder.ts'

const { signal } = new AbortController()
const hasCode = (code: string) => (error: unknown) => (error as { code?: unknown }).code === code
const EVER = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER, order: 'asc', limit: 1e7 } as const
const NEVER_FULL: FoldLimits = { points: 1e9, records: 1e9, ageMs: 1e9 }

const open = (folder: string, owner = true) =>
  openHistorianStore(folder, { historian: 'plant', owner, fold: NEVER_FULL })

const RECORDS = 5
const PER_RECORD = 10

function ramp(count: number, from: number): PointColumns {
  const columns = makeColumns(count)
  for (let i = 0; i < count; i++) columns.times[i] = columns.values[i] = from + i
  return columns
}

const write = (store: HistorianStore, tag: string, points: PointColumns) =>
  store.write(writeBatch([{ tag, points }], true), signal)

const timesOf = async (store: HistorianStore, tag: string) => [
  ...(await store.readRanges([{ tag, ...EVER }], signal))[0]!.points.times,
]

/** A historian with folded points of tag `old` and, in the journal, some records of tag `new`. */
async function plant(t: TestContext): Promise<string> {
  const folder = temporaryFolder(t)
  const store = await open(folder)
  await write(store, 'old', ramp(100, 0))
  await store.fold()
  for (let i = 0; i < RECORDS; i++) await write(store, 'new', ramp(PER_RECORD, i * PER_RECORD))
  await store.close()
  return folder
}

const isState = (key: Uint8Array) => key.every((byte) => byte === 0)
const isRecord = (key: Uint8Array, number: number) => !isState(key) && key[7] === number

const all = ramp(RECORDS * PER_RECORD, 0).times
const without = (record: number) => [...all].filter((time) => Math.floor(time / PER_RECORD) !== record)

const harms: readonly {
  readonly what: string
  readonly harm: Harm
  readonly left: readonly number[]
  /** What a check says. */
  readonly problems: readonly RegExp[]
}[] = [
  {
    what: 'a record with a wrong bit',
    harm: (key, value) => (isRecord(key, 2) ? withWrongBit(value, 40) : undefined),
    left: without(2),
    problems: [/^journal record 2\.2: the checksum of a journal record is wrong$/],
  },
  {
    what: 'a record that was cut off',
    harm: (key, value) => (isRecord(key, 0) ? value.slice(0, 9) : undefined),
    left: without(0),
    problems: [/^journal record 2\.0: a journal record is too short$/],
  },
  {
    what: 'a record that is gone',
    harm: (key) => (isRecord(key, 3) ? null : undefined),
    left: without(3),
    problems: [/^journal record 2\.3: it is missing$/],
  },
  {
    what: 'a last record that is gone',
    harm: (key) => (isRecord(key, 4) ? null : undefined),
    left: without(4),
    problems: [/^journal record 2\.4: it is missing$/],
  },
  {
    what: 'a state with a wrong bit',
    harm: (key, value) => (isState(key) ? withWrongBit(value, 4) : undefined),
    left: [...all],
    problems: [/^the journal: the checksum of the state of the journal is wrong$/],
  },
  {
    what: 'a state that is gone',
    harm: (key) => (isState(key) ? null : undefined),
    left: [...all],
    problems: [/^the journal: the state of the journal does not fit its records$/],
  },
]

for (const { what, harm, left, problems } of harms) {
  test(`${what}: reads go on with what is intact, changes are refused and change nothing`, async (t) => {
    const folder = await plant(t)
    assert.equal(await harmEntries(folder, 'journal', harm), 1)
    const store = await open(folder)
    const seen = async (reader: HistorianStore) => {
      assert.deepEqual(await timesOf(reader, 'new'), left)
      assert.deepEqual(await timesOf(reader, 'old'), [...ramp(100, 0).times])
    }
    await seen(store)
    await assert.rejects(store.checkHealth(signal), hasCode('STORAGE_CORRUPT'))
    const refused = async (change: Promise<unknown>) => assert.rejects(change, hasCode('STORAGE_CORRUPT'))
    await refused(write(store, 'new', ramp(1, 1_000)))
    await refused(store.fold())
    await refused(store.deletePoints([{ tag: 'old', from: 0, to: 10 }], false, signal))
    await refused(store.deleteTags(['old'], false, signal))
    await refused(
      store.putTags([{ name: 'x', description: null, units: null, stepped: false }], 'create', signal),
    )
    await seen(store)

    // Another process that only reads sees the same, and a check tells what is wrong.
    const beside = await open(folder, false)
    await seen(beside)
    await assert.rejects(beside.checkHealth(signal), hasCode('STORAGE_CORRUPT'))
    const check = await beside.check(signal)
    assert.equal(check.problemCount, problems.length, JSON.stringify(check.problems))
    problems.forEach((pattern, index) => {
      assert.match(check.problems[index]!, pattern)
    })
    await beside.close()
    await store.close()
    // Nothing was made worse: the next start finds the same.
    const again = await open(folder)
    await seen(again)
    await again.close()
  })
}

test('points in the journal of a tag that does not exist are found by a check', async (t) => {
  const folder = await plant(t)
  await harmEntries(folder, 'tags', (key) => (key[3] === 2 ? null : undefined))
  const store = await open(folder, false)
  t.after(() => store.close())
  const { problems } = await store.check(signal)
  assert.ok(problems.includes('the journal has points of a tag 2 that does not exist'), problems.join())
})

test('what is left of folded epochs is no damage', async (t) => {
  const folder = temporaryFolder(t)
  const fold = { points: 4, records: 3, ageMs: 1e9 }
  const store = await openHistorianStore(folder, { historian: 'plant', owner: true, fold })
  for (let i = 0; i < 40; i++) {
    await write(store, 'new', ramp(2, i * 2))
    if (i % 7 === 0) assert.deepEqual((await store.check(signal)).problems, [])
  }
  await store.close()
  const again = await open(folder, false)
  t.after(() => again.close())
  assert.deepEqual((await again.check(signal)).problems, [])
  assert.equal((await timesOf(again, 'new')).length, 80)
})
