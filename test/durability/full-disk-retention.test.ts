import assert from 'node:assert/strict'
import { readdirSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { TidemarkError } from '../../src/errors/tidemark-error.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { openInProcess } from '../../src/storage/files/open-files.fixture.ts'
import { TestClock } from '../property/retention-model.ts'
import { until } from '../until.ts'
import { fillDisk, mountSmallDisk, noSmallDisk } from './small-disk-mount.ts'

const { signal } = new AbortController()
const START_US = 1_700_000_000_000_000
const KEEP_US = 1_000_000_000
const RULES = [{ match: '*', keep: { kind: 'exact', us: KEEP_US } }] as const
const MEGABYTE = 2 ** 20
const TAGS = ['a', 'b', 'c']
/** Of a request, of each tag. */
const POINTS = 4_000
/** Between two points. */
const STEP_US = 1_000
const ALL = { from: -1e15, to: 1e16, order: 'asc', limit: 1e9 } as const

const timeOf = (index: number) => START_US + index * STEP_US
const rootOf = (index: number) => Math.sqrt(index)

const open = (folder: string, reserveBytes: number, clock: TestClock | null) =>
  openFileStore(folder, {
    historian: 'plant',
    owner: true,
    ...(clock === null ? {} : { retention: { rules: RULES, time: clock } }),
    limits: {
      flush: { points: 60_000, records: 1e9, ageMs: 1e9, packedAside: 1 },
      unlinkAfterMs: 0,
      unlinkSoonestMs: 0,
      reserveBytes,
      retentionEveryMs: 1e9,
    },
  })

/** Points that are hard to pack, behind those that are there. */
function request(number: number) {
  const points = makeColumns(POINTS)
  for (let i = 0; i < POINTS; i++) {
    points.times[i] = timeOf(number * POINTS + i)
    points.values[i] = rootOf(number * POINTS + i)
  }
  return writeBatch(
    TAGS.map((tag) => ({ tag, points })),
    true,
  )
}

/** Of the file system of a folder. */
const bytesFree = (folder: string) => {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/** Each tag has the points of so many requests behind a watermark, and the newest one before it. */
async function assertRetained(store: FileStore, requests: number, watermark: number): Promise<void> {
  const first = Math.max(0, Math.floor((watermark - START_US) / STEP_US))
  for (const tag of TAGS) {
    const [read] = await store.readRanges([{ tag, ...ALL }], signal)
    const { times, values } = read!.points
    assert.equal(times.length, requests * POINTS - first, tag)
    assert.ok(times.every((time, i) => time === timeOf(first + i)))
    assert.ok(values.every((value, i) => value === rootOf(first + i)))
  }
}

test('on a full disk retention makes room with what is set aside, and points are taken again', {
  skip: noSmallDisk,
}, async (t) => {
  const disk = mountSmallDisk(t, 48)
  const folder = join(disk, 'plant')
  const clock = new TestClock(START_US)
  const store = await open(folder, 6 * MEGABYTE, clock)
  let requests = 0
  let leastFree = Number.POSITIVE_INFINITY
  for (let failures = 0; failures < 5; ) {
    leastFree = Math.min(leastFree, bytesFree(disk))
    try {
      await store.write(request(requests), signal)
      requests++
    } catch (error) {
      assert.ok(error instanceof TidemarkError && error.code === 'WRITE_FAILED', String(error))
      assert.match(error.message, /the disk is full/)
      failures++
    }
  }
  assert.ok(requests > 20, String(requests))
  await assertRetained(store, requests, Number.NEGATIVE_INFINITY)
  assert.ok(leastFree < 10 * MEGABYTE, `${leastFree} bytes were free`)

  // Four of five requests are too old now.
  const watermark = timeOf(Math.floor(requests * 0.8) * POINTS)
  clock.us = watermark + KEEP_US
  await store.retain()
  await assertRetained(store, requests, watermark)
  for (let isTaken = false; !isTaken; ) {
    isTaken = await store.write(request(requests), signal).then(
      () => true,
      async (error: unknown) => {
        assert.match(String(error), /the disk is full/)
        await store.retain()
        await wait(20)
        return false
      },
    )
  }
  requests++
  await store.flush()
  await assertRetained(store, requests, watermark)
  // What is merged is removed beside everything else: more than half of the disk, less what is set aside.
  await until(() => bytesFree(disk) > 20 * MEGABYTE, 'there is room on the disk')
  // A merge that met the full disk before that is tried again.
  await until(() => store.trouble === null, 'parts are merged again')
  await store.close()

  const again = await open(folder, 6 * MEGABYTE, null)
  t.after(() => again.close())
  await assertRetained(again, requests, watermark)
  assert.deepEqual((await again.check(signal)).problems, [])
})

test('a watermark that finds no byte on the disk stays where it was, for reads as well, until there is one', {
  skip: noSmallDisk,
}, async (t) => {
  const disk = mountSmallDisk(t, 24)
  const folder = join(disk, 'plant')
  const clock = new TestClock(START_US)
  const store = await open(folder, 0, clock)
  const requests = 10
  for (let number = 0; number < requests; number++) await store.write(request(number), signal)
  await store.flush()
  // Otherwise its space comes back when the disk is full.
  const openSegments = () => openInProcess(folder)!.filter((path) => path.includes('.wal'))
  await until(() => openSegments().length === 0, 'the log that was flushed is closed')
  await until(() => !readdirSync(join(folder, 'wal')).some((name) => name.endsWith('.wal')), 'it is removed')
  const filler = join(disk, 'filler')
  fillDisk(filler)

  let watermark = Number.NEGATIVE_INFINITY
  let moves = 0
  // What still fits into the last page of the manifest is taken.
  for (; store.trouble === null; moves++) {
    assert.ok(moves < 1_000, 'the disk is full')
    await assertRetained(store, requests, watermark)
    clock.us = timeOf(moves * 10) + KEEP_US
    const next = clock.us - KEEP_US
    await store.retain()
    if (store.trouble === null) watermark = next
  }
  assert.match(store.trouble, /^watermarks of retention cannot be moved: the disk is full$/)
  await assertRetained(store, requests, watermark)
  const beside = await openFileStore(folder, { historian: 'plant', owner: false })
  await assertRetained(beside, requests, watermark)
  rmSync(filler)
  await store.retain()
  assert.equal(store.trouble, null)
  await assertRetained(store, requests, clock.us - KEEP_US)
  await assertRetained(beside, requests, clock.us - KEEP_US)
  await beside.close()
  assert.deepEqual((await store.check(signal)).problems, [])
  await store.close()
})
