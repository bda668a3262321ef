import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { harmEntries, withWrongBit } from '../../test/durability/damage.ts'
import { temporaryFolder } from '../../test/durability/folder.ts'
import { writeBatch } from '../historian/write-batch.ts'
import { makeColumns, type PointColumns } from '../series/columns.ts'
import { Meta, openDatabase, openEnvironment } from './environment.ts'
import type { HistorianStore } from './historian-store.ts'
import { DATABASES, META } from './names.ts'
import { openHistorianStore } from './open-historian.ts'

const { signal } = new AbortController()
const hasCode = (code: string) => (error: unknown) => (error as { code?: unknown }).code === code
const EVER = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER, order: 'asc', limit: 1e7 } as const

const open = (folder: string, owner = true) => openHistorianStore(folder, { historian: 'plant', owner })

async function openFor(t: TestContext): Promise<HistorianStore> {
  const store = await open(temporaryFolder(t))
  t.after(() => store.close())
  return store
}

function ramp(count: number, from: number, step: number, value = 0): PointColumns {
  const columns = makeColumns(count)
  for (let i = 0; i < count; i++) columns.times[i] = from + i * step
  columns.values.fill(value)
  return columns
}

const write = (store: HistorianStore, tag: string, points: PointColumns) =>
  store.write(writeBatch([{ tag, points }], true), signal)

const read = async (store: HistorianStore, tag: string) =>
  (await store.readRanges([{ tag, ...EVER }], signal))[0]!.points

test('points that come in small batches end up in full blocks', async (t) => {
  const store = await openFor(t)
  for (let i = 0; i < 400; i++) await write(store, 'a', ramp(25, i * 25, 1, i))
  const points = await read(store, 'a')
  assert.equal(points.times.length, 10_000)
  points.times.forEach((time, index) => {
    assert.equal(time, index)
    assert.equal(points.values[index], Math.floor(index / 25))
  })
  await store.fold()
  const { problems, blocks, points: checked } = await store.check(signal)
  assert.deepEqual(problems, [])
  assert.equal(checked, 10_000)
  assert.ok(blocks <= 6, `${blocks} blocks`)
})

test('backfill before, between and over blocks leaves blocks in order', async (t) => {
  const store = await openFor(t)
  await write(store, 'a', ramp(20_000, 1_000_000, 10))
  for (let i = 0; i < 60; i++) {
    await write(store, 'a', ramp(1 + ((i * 37) % 300), (i * 7_919) % 1_300_000, 1 + (i % 9), i))
  }
  const before = await read(store, 'a')
  await store.fold()
  assert.deepEqual(await read(store, 'a'), before)
  const { problems, points } = await store.check(signal)
  assert.deepEqual(problems, [])
  assert.equal(points, (await read(store, 'a')).times.length)
})

test('a damaged block fails its tag only, is found by a check, and can be removed', async (t) => {
  const folder = temporaryFolder(t)
  const before = await open(folder)
  const mark = 1234567.8901234567
  // So few that they stay in the tail, where values are plain.
  await write(before, 'damaged', ramp(30, 0, 1, mark))
  await write(before, 'sound', ramp(500, 0, 1, 7))
  await before.fold()
  await before.close()

  const file = join(folder, 'data.mdb')
  const bytes = readFileSync(file)
  const pattern = Buffer.alloc(8)
  pattern.writeDoubleLE(mark)
  let hits = 0
  for (let at = bytes.indexOf(pattern); at >= 0; at = bytes.indexOf(pattern, at + 8)) {
    bytes[at]! ^= 1
    hits++
  }
  assert.ok(hits >= 30)
  writeFileSync(file, bytes)

  const store = await open(folder)
  t.after(() => store.close())
  await assert.rejects(read(store, 'damaged'), hasCode('STORAGE_CORRUPT'))
  assert.equal((await read(store, 'sound')).times.length, 500)

  // Nobody looks at blocks when points are accepted; once folding found the damage, no more are accepted.
  await write(store, 'damaged', ramp(1, 100, 1))
  await store.fold()
  // Writes of others in the same group are not failed by it.
  const outcomes = await Promise.allSettled([
    write(store, 'sound', ramp(1, 600, 1)),
    write(store, 'damaged', ramp(1, 100, 1)),
    write(store, 'new', ramp(1, 600, 1)),
  ])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.equal((await read(store, 'sound')).times.length, 501)
  const { problems } = await store.check(signal)
  assert.equal(problems.length, 1)
  assert.match(problems[0]!, /tag damaged: the checksum/)
  await store.deleteTags(['damaged'], false, signal)
  assert.deepEqual((await store.check(signal)).problems, [])
  await write(store, 'damaged', ramp(3, 0, 1))
  assert.equal((await read(store, 'damaged')).times.length, 3)
})

test('damage is found in a tag that has the same points as a sound one that was read before', async (t) => {
  const folder = temporaryFolder(t)
  const before = await open(folder)
  const points = ramp(400, 0, 1)
  for (let i = 0; i < points.values.length; i++) points.values[i] = Math.sqrt(i)
  await write(before, 'sound', points)
  await write(before, 'damaged', points)
  await before.fold()
  await before.close()
  const isOfSecond = (key: Uint8Array) => Buffer.from(key).readUInt32BE(0) === 2
  const harmed = await harmEntries(folder, 'points', (key, value) =>
    isOfSecond(key) ? withWrongBit(value, value.length - 40) : undefined,
  )
  assert.equal(harmed, 1)
  const store = await open(folder)
  t.after(() => store.close())
  assert.deepEqual((await read(store, 'sound')).values, points.values)
  await assert.rejects(read(store, 'damaged'), hasCode('STORAGE_CORRUPT'))
})

test('a data file that was cut off is refused, not a crash', async (t) => {
  const folder = temporaryFolder(t)
  const store = await open(folder)
  // Values that cannot be packed well: the file must be large.
  const points = ramp(400_000, 0, 1)
  for (let i = 0; i < points.values.length; i++) points.values[i] = Math.sqrt(i)
  await write(store, 'a', points)
  await store.close()
  const file = join(folder, 'data.mdb')
  truncateSync(file, statSync(file).size >> 1)
  await assert.rejects(open(folder), hasCode('DATA_DIR_UNUSABLE'))
})

test('a full disk fails the write and nothing else', { skip: process.platform === 'win32' }, async (t) => {
  const folder = temporaryFolder(t)
  // The size of files is limited instead, which looks the same to lmdb.
  const script = join(import.meta.dirname, '../../test/durability/fill-disk.ts')
  const command = `trap '' XFSZ; ulimit -f 8000; exec "$0" "$1" "$2"`
  const { stdout, status } = spawnSync('bash', ['-c', command, process.execPath, script, folder], {
    encoding: 'utf8',
  })
  assert.equal(status, 0)
  const { written, codes, stored, small } = JSON.parse(stdout.trim().split('\n').at(-1)!)
  assert.ok(written > 0)
  assert.deepEqual(codes, ['WRITE_FAILED', 'WRITE_FAILED'])
  assert.equal(stored, written)
  assert.equal(small, 'ok')

  // What came after the failures stands where whoever reads the journal next looks for it.
  const store = await open(folder)
  t.after(() => store.close())
  await store.checkHealth(signal)
  assert.equal((await read(store, 'a')).times.length, written)
  assert.equal((await read(store, 'b')).times.length, 1)
  assert.deepEqual((await store.check(signal)).problems, [])
})

test('one process owns a historian, and others may look', async (t) => {
  const folder = temporaryFolder(t)
  const store = await open(folder)
  await assert.rejects(open(folder), hasCode('DATA_DIR_IN_USE'))
  await write(store, 'a', ramp(3, 0, 1))
  const beside = await open(folder, false)
  assert.equal((await read(beside, 'a')).times.length, 3)
  await beside.close()
  assert.equal((await read(store, 'a')).times.length, 3)
  await store.close()
})

test('a folder is that of one historian', async (t) => {
  const folder = temporaryFolder(t)
  await (await open(folder)).close()
  await assert.rejects(openHistorianStore(folder, { historian: 'Plant', owner: true }), (error) => {
    assert.ok(hasCode('DATA_DIR_UNUSABLE')(error))
    assert.match((error as Error).message, /holds the historian plant, not Plant/)
    return true
  })
})

test('a search index of another Unicode version is made anew', async (t) => {
  const folder = temporaryFolder(t)
  const first = await open(folder)
  await first.putTags([{ name: 'Øst', description: 'Vær', units: null, stepped: false }], 'create', signal)
  await first.close()
  const root = openEnvironment(folder)
  const meta = new Meta(openDatabase(root, DATABASES.meta))
  await root.transaction(() => {
    meta.put(META.unicode, '1.0')
    openDatabase(root, DATABASES.search).clearSync()
  })
  await root.close()
  const store = await open(folder)
  t.after(() => store.close())
  const query = { matches: () => true, foldedPrefix: 'vær', after: null, limit: 5 }
  assert.equal((await store.searchTags(query, signal)).tags.length, 1)
  assert.deepEqual((await store.check(signal)).problems, [])
})

test('closing finishes what was asked for', async (t) => {
  const folder = temporaryFolder(t)
  const store = await open(folder)
  const writes = Array.from({ length: 20 }, (_, index) => write(store, `t${index}`, ramp(100, 0, 1)))
  await store.close()
  await Promise.all(writes)
  const again = await open(folder)
  t.after(() => again.close())
  await again.fold()
  assert.equal((await again.check(signal)).points, 2_000)
})

test('a long read sees one state while others write and delete', async (t) => {
  const store = await openFor(t)
  await write(store, 'a', ramp(300_000, 0, 10, 1))
  const queries = Array.from({ length: 40 }, () => ({ tag: 'a', ...EVER }))
  const reading = store.readRanges(queries, signal)
  await new Promise((resolve) => setImmediate(resolve))
  await write(store, 'a', ramp(10_000, 5, 10, 2))
  await store.deletePoints([{ tag: 'a', from: 1_000_000, to: 2_000_000 }], false, signal)
  await write(store, 'a', ramp(50_000, 0, 10, 3))
  for (const { points } of await reading) {
    assert.equal(points.times.length, 300_000)
    assert.ok(points.values.every((value) => value === 1))
  }
  assert.equal((await read(store, 'a')).times.length, 300_000 + 10_000 - 100_000)
})
