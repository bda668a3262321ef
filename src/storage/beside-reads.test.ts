import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../test/durability/folder.ts'
import { writeBatch } from '../historian/write-batch.ts'
import { Arena } from './arena.ts'
import { openDatabase, openEnvironment } from './environment.ts'
import { pointsRecord } from './journal/journal.fixture.ts'
import { Journal } from './journal/journal.ts'
import { encodePoints } from './journal/record.ts'
import { DATABASES } from './names.ts'
import { openHistorianStore } from './open-historian.ts'

const { signal } = new AbortController()
const EVER = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER, order: 'asc', limit: 1e7 } as const
const NEVER_FULL = { points: 1e9, records: 1e9, ageMs: 1e9 }

test('beside a process that writes, a call sees one state although another call begins in its turn', async (t) => {
  const folder = temporaryFolder(t)
  const options = { historian: 'plant', fold: NEVER_FULL }
  const owner = await openHistorianStore(folder, { ...options, owner: true })
  const points = { times: Float64Array.of(1), values: Float64Array.of(1), statuses: new Uint8Array(1) }
  const tags = ['a', 'b', 'c']
  const entries = tags.map((tag) => ({ tag, points }))
  await owner.write(writeBatch(entries, true), signal)
  const ids = (await owner.findTags(tags, signal)).map((record) => record!.id)
  await owner.close()

  const reader = await openHistorianStore(folder, { ...options, owner: false })
  t.after(() => reader.close())
  const root = openEnvironment(folder)
  t.after(() => root.close())
  const store = openDatabase(root, DATABASES.journal)

  /** A write of another process: one point more of every tag, committed at once. */
  const writeElsewhere = (time: number) => {
    const record = pointsRecord(...ids.map((id) => [id, [time, time] as const] as const))
    assert.ok(record.kind === 'points')
    root.resetReadTxn()
    const state = new Journal(store).state()
    const changes: { key: Uint8Array; value: Uint8Array }[] = []
    const journal = new Journal(store)
    const collect = {
      key: (size: number) => new Uint8Array(size),
      putOwned: (_store: unknown, key: Uint8Array, value: Uint8Array) => changes.push({ key, value }),
      put: (_store: unknown, key: Uint8Array, value: Uint8Array) =>
        changes.push({ key: new Uint8Array(key), value: new Uint8Array(value) }),
    }
    journal.putState(
      collect as never,
      journal.append(collect as never, state, encodePoints(new Arena(), record)),
    )
    root.transactionSync(() => {
      for (const { key, value } of changes) store.put(key, value)
    })
  }

  for (let time = 2; time < 12; time++) {
    const query = () =>
      reader.readRanges(
        tags.map((tag) => ({ tag, ...EVER })),
        signal,
      )
    const first = query()
    writeElsewhere(time)
    const second = query()
    for (const result of [await first, await second]) {
      const counts = new Set(result.map((one) => one.points.times.length))
      assert.equal(counts.size, 1, `a request in part: ${[...counts]}`)
    }
    // Whoever asks afterwards sees it.
    assert.equal((await query())[0]!.points.times.length, time)
  }

  const newest = () => {
    const points = reader.readPoints([{ tag: 'a', find: 'before-or-at', at: 1e15 }], signal)
    assert.ok(!(points instanceof Promise), 'a newest point is given at once')
    return points.times[0]
  }
  for (let time = 12; time < 20; time++) {
    // Nothing can have told of the write before others were let in: until then a call sees the state that it began with.
    const before = newest()
    writeElsewhere(time)
    assert.deepEqual([before, newest()], [time - 1, time - 1])
    await null
    assert.equal(newest(), time)
    await null
  }
})
