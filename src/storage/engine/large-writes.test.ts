import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { until } from '../../../test/until.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { TimeSlice } from '../../scheduling/time-slice.ts'
import { makeColumns } from '../../series/columns.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { TagPoints } from '../memtable/tag-points.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()
const EVER = { from: 0, to: 1e15, order: 'asc', limit: 1e6 } as const
const limits = { reserveBytes: 0 }
const COUNT = 150_000

function pointsAt(timeOf: (i: number) => number, value: number) {
  const points = makeColumns(COUNT)
  for (let i = 0; i < COUNT; i++) points.times[i] = timeOf(i)
  points.values.fill(value)
  return points
}

test('a write of very many points out of order lets others in before it is applied, and adds none one by one', async (t) => {
  const store = await openFileStore(temporaryFolder(t), { historian: 'plant', owner: true, limits })
  t.after(() => store.close())
  const add = t.mock.method(TagPoints.prototype, 'add')
  const pause = t.mock.method(TimeSlice.shared, 'next')
  const descending = pointsAt((i) => 2 * (COUNT - i), 1)
  const mixed = pointsAt((i) => 1 + ((i * 7_919) % 400_009), 2)
  for (const points of [descending, mixed])
    await store.write(writeBatch([{ tag: 'a', points }], true), signal)
  assert.ok(pause.mock.callCount() > 0)
  assert.equal(add.mock.callCount(), 0)

  const expected = new Map<number, number>()
  for (const { times, values } of [descending, mixed]) {
    for (const [i, time] of times.entries()) expected.set(time, values[i]!)
  }
  const rows = [...expected].sort(([a], [b]) => a - b)
  for (const flush of [false, true]) {
    if (flush) await store.flush()
    const [read] = await store.readRanges([{ tag: 'a', ...EVER }], signal)
    const { times, values } = read!.points
    assert.equal(times.length, rows.length)
    assert.ok(rows.every(([time, value], i) => times[i] === time && values[i] === value))
  }
})

test('what waits together in one commit counts in the order in which it came', async (t) => {
  const store = await openFileStore(temporaryFolder(t), { historian: 'plant', owner: true, limits })
  t.after(() => store.close())
  const writes = [1, 2, 3].map((value) => pointsAt((i) => COUNT - i, value))
  await Promise.all(writes.map((points) => store.write(writeBatch([{ tag: 'a', points }], true), signal)))
  const [read] = await store.readRanges([{ tag: 'a', ...EVER }], signal)
  assert.equal(read!.points.times.length, COUNT)
  assert.ok(read!.points.values.every((value) => value === 3))
})

/** More than is encoded for the log in one turn. */
const VERY_MANY = 900_000

function veryMany(value: number) {
  const points = makeColumns(VERY_MANY)
  for (let i = 0; i < VERY_MANY; i++) points.times[i] = 3 * i + (i % 2)
  points.values.fill(value)
  return writeBatch([{ tag: 'large', points }], true)
}

function one(tag: string, value: number) {
  const points = makeColumns(1)
  points.values[0] = value
  return writeBatch([{ tag, points }], true)
}

test('a close amid the encoding of a large write waits for it, and for what came behind it', async (t) => {
  const folder = temporaryFolder(t)
  const store = await openFileStore(folder, { historian: 'plant', owner: true, limits })
  const pause = t.mock.method(TimeSlice.shared, 'next')
  const writes = [store.write(veryMany(1), signal)]
  await until(() => pause.mock.callCount() > 0, 'it is encoded')
  writes.push(store.write(one('large', 7), signal), store.write(one('small', 8), signal))
  await store.close()
  await Promise.all(writes)
  const reader = await openFileStore(folder, { historian: 'plant', owner: false, limits })
  t.after(() => reader.close())
  const [large, small] = await reader.readRanges(
    ['large', 'small'].map((tag) => ({ tag, ...EVER })),
    signal,
  )
  assert.equal(large!.points.times.length, VERY_MANY)
  assert.deepEqual([large!.points.values[0], large!.points.values[1], small!.points.values[0]], [7, 1, 8])
})

test('a disk that fails a large write has none of it in any read, and those around it are there', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const store = await openFileStore(folder, { historian: 'plant', owner: true, limits, files })
  t.after(() => store.close())
  for (const [call, code] of [
    ['write', 'WRITE_FAILED'],
    ['sync', 'WRITE_OUTCOME_UNKNOWN'],
  ] as const) {
    await store.write(one('before', 1), signal)
    const failing = store.write(veryMany(2), signal)
    const behind = failing.catch(() => store.write(one('behind', 3), signal))
    files.plan = (met, path) =>
      met === call && path.endsWith('.wal') ? { code: call === 'write' ? 'EFBIG' : 'EIO', short: true } : null
    await assert.rejects(failing, { code })
    files.plan = () => null
    await behind
    const read = await store.readRanges(
      ['before', 'large', 'behind'].map((tag) => ({ tag, ...EVER })),
      signal,
    )
    assert.deepEqual(
      read.map(({ points }) => points.times.length),
      [1, 0, 1],
    )
  }
})

test('a request that would take too much in the log is refused with its sentence, and others go on', async (t) => {
  const small = { ...limits, recordBytes: 1 << 20 }
  const folder = temporaryFolder(t)
  const store = await openFileStore(folder, { historian: 'plant', owner: true, limits: small })
  t.after(() => store.close())
  const refusal = {
    code: 'WRITE_FAILED',
    message:
      'Historian plant did not take its points: it would take more than 1 MiB in its log: send it in parts',
  }
  const large = store.write(writeBatch([{ tag: 'large', points: pointsAt((i) => i, 1) }], true), signal)
  const one = makeColumns(1)
  await assert.rejects(large, refusal)
  await store.write(writeBatch([{ tag: 'small', points: one }], true), signal)
  const tags = await store.findTags(['large', 'small'], signal)
  assert.deepEqual(
    tags.map((tag) => tag?.name ?? null),
    [null, 'small'],
  )
  const [read] = await store.readRanges([{ tag: 'small', ...EVER }], signal)
  assert.equal(read!.points.times.length, 1)
})
