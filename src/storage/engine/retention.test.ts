import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { at } from '../../../test/contract/points.ts'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { keep, TestClock } from '../../../test/property/retention-model.ts'
import { until } from '../../../test/until.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import type { Files } from '../files/files.ts'
import { systemFiles } from '../files/system-files.ts'
import { readFooter } from '../parts/footer.ts'
import type { RetentionRule } from '../retention/rules.ts'
import type { EngineLimits } from './engine-limits.ts'
import type { FileStore } from './file-store.ts'
import { openFileStore } from './open-file-store.ts'

const SECOND = 1_000_000
const DAY = 86_400 * SECOND
const START = 1_700_000_000 * SECOND
const { signal } = new AbortController()

interface Plant {
  readonly folder: string
  readonly clock: TestClock
  readonly store: FileStore
  /** Opened again, with the same rules or others. */
  again(rules?: readonly RetentionRule[]): Promise<Plant>
}

const open = async (
  t: TestContext,
  rules: readonly RetentionRule[],
  clock = new TestClock(START),
  folder = temporaryFolder(t),
  limits: Partial<EngineLimits> = {},
  files?: Files,
): Promise<Plant> => {
  const store = await openFileStore(folder, {
    historian: 'plant',
    owner: true,
    retention: { rules, time: clock },
    limits: { reserveBytes: 0, unlinkAfterMs: 0, retentionEveryMs: 1e9, idleMergeAfterMs: 1e9, ...limits },
    ...(files === undefined ? {} : { files }),
  })
  await store.retain()
  let isOpen = true
  t.after(() => isOpen && store.close())
  return {
    folder,
    clock,
    store,
    async again(others = rules) {
      isOpen = false
      await store.close()
      return open(t, others, clock, folder, limits, files)
    },
  }
}

/** Writes points at seconds after the start; `b` behind a number is BAD. */
const write = (store: FileStore, tag: string, ...at: readonly (number | `${number}b`)[]) => {
  const points = makeColumns(at.length)
  at.forEach((second, i) => {
    points.times[i] = START + Number.parseFloat(String(second)) * SECOND
    points.values[i] = i
    points.statuses[i] = typeof second === 'string' ? 1 : 0
  })
  return store.write(writeBatch([{ tag, points }], true), signal)
}

const EVER = { from: -1e16, to: 1e16 }

/** Seconds of all points of a tag. */
const read = async (store: FileStore, tag: string) => {
  const [found] = await store.readRanges([{ tag, ...EVER, order: 'asc', limit: 1e6 }], signal)
  return Array.from(found!.points.times, (time) => (time - START) / SECOND)
}

const removeSpan = (store: FileStore, tag: string, from: number, to: number) =>
  store.deletePoints([{ tag, from: START + from * SECOND, to: START + to * SECOND }], false, signal)

const parts = (folder: string) => readdirSync(join(folder, 'parts'))

/** Each promise holds whether or not the points were moved to parts and merged. */
const eachWay = (
  name: string,
  promise: (t: TestContext, settle: (store: FileStore) => Promise<void>) => Promise<void>,
) => {
  test(`${name}, in memory`, (t) => promise(t, async () => {}))
  test(`${name}, merged`, (t) =>
    promise(t, async (store) => {
      await store.flush()
      await store.retain()
    }))
}

eachWay('the newest point and the last good one stay', async (t, settle) => {
  const { store, clock } = await open(t, [keep('a', 100)])
  await write(store, 'a', 0, 1, 2, '3b', '4b', 50)
  await write(store, 'b', 0, 1)
  await settle(store)
  clock.us += 120 * SECOND
  await store.retain()
  assert.deepEqual(await read(store, 'a'), [2, 4, 50])
  assert.deepEqual(await read(store, 'b'), [0, 1], 'no rule matches it')
  clock.us += 100 * SECOND
  await store.retain()
  await settle(store)
  assert.deepEqual(await read(store, 'a'), [50])
})

eachWay('deleting a point that stayed brings nothing back', async (t, settle) => {
  const { store, clock } = await open(t, [keep('*', 100)])
  await write(store, 'newest', 0, 1, '2b', '3b', 300)
  await write(store, 'good', 0, 1, '2b', '3b', 300)
  await write(store, 'both', 0, 1, '2b', '3b', 300)
  clock.us += 200 * SECOND
  await store.retain()
  await settle(store)
  assert.deepEqual(await removeSpan(store, 'newest', 3, 4), [1])
  assert.deepEqual(await read(store, 'newest'), [1, 300])
  assert.deepEqual(await removeSpan(store, 'good', 1, 2), [1])
  assert.deepEqual(await read(store, 'good'), [3, 300])
  assert.deepEqual(await removeSpan(store, 'both', 0, 4), [2])
  assert.deepEqual(await read(store, 'both'), [300])
})

eachWay('a tag that gets a name of another rule has what it had', async (t, settle) => {
  const { store, clock } = await open(t, [keep('short', 100)])
  await write(store, 'short', 0, 1, 300)
  clock.us += 200 * SECOND
  await store.retain()
  await settle(store)
  await store.renameTags([{ from: 'short', to: 'long' }], false, signal)
  assert.deepEqual(await read(store, 'long'), [1, 300])
  assert.equal(await write(store, 'long', 0.5), null, 'nothing is too old for it any more')
  assert.deepEqual(await read(store, 'long'), [0.5, 1, 300])
  await write(store, 'new', 2, 3)
  await store.renameTags([{ from: 'new', to: 'short' }], false, signal)
  assert.deepEqual(await read(store, 'short'), [3], 'a name that matches has the watermark at once')
})

eachWay('a rule that is taken away, or keeps more than before, brings nothing back', async (t, settle) => {
  const first = await open(t, [keep('a', 100), keep('b', 100)])
  await write(first.store, 'a', 0, 1, 300)
  await write(first.store, 'b', 0, 1, 300)
  first.clock.us += 200 * SECOND
  await first.store.retain()
  await settle(first.store)
  const second = await first.again([keep('b', 1_000)])
  assert.deepEqual(await read(second.store, 'a'), [1, 300])
  assert.deepEqual(await read(second.store, 'b'), [1, 300])
  assert.equal(await write(second.store, 'a', 0.5), null)
  assert.equal((await write(second.store, 'b', 0.5))?.count, 1)
  const third = await second.again([])
  assert.deepEqual(await read(third.store, 'b'), [1, 300])
  assert.equal(await write(third.store, 'b', 0.5), null)
})

test('points at or before the watermark are not taken and named, all others are', async (t) => {
  const { store, clock } = await open(t, [keep('*', 100)])
  clock.us += 200 * SECOND
  await store.retain()
  const found = await write(store, 'a', 99, 100, 101, 50)
  const oldest = START + 100 * SECOND + 1
  assert.deepEqual(found, {
    count: 3,
    indexes: Uint32Array.of(0, 1, 3),
    oldest: Float64Array.of(oldest, oldest, oldest),
  })
  assert.deepEqual(await read(store, 'a'), [101])
  assert.equal((await write(store, 'of old points alone', 1))?.count, 1)
  assert.notEqual((await store.findTags(['of old points alone'], signal))[0], null, 'it is made all the same')
})

test('points are too old by the configured rules only, from the first call after a start', async (t) => {
  const limits = { reserveBytes: 0, unlinkAfterMs: 0, retentionEveryMs: 1e9, idleMergeAfterMs: 1e9 }
  const folder = temporaryFolder(t)
  const time = new TestClock(START + 100 * DAY)
  const start = (rules: readonly RetentionRule[]) =>
    openFileStore(folder, { historian: 'plant', owner: true, retention: { rules, time }, limits })
  const before = await start([keep('short.*', 30 * 86_400)])
  await before.retain()
  assert.equal((await write(before, 'short.a', 1, 99 * 86_400))?.count, 1)
  await before.close()

  const after = await start([])
  t.after(() => after.close())
  assert.equal(await write(after, 'short.a', 1), null)
  assert.deepEqual(await read(after, 'short.a'), [1, 99 * 86_400])
})

test('a file of which all has expired goes but for what stays, another is trimmed', async (t) => {
  const { store, clock, folder } = await open(t, [keep('*', 100)], undefined, undefined, {
    merge: { partitionBytes: 1 << 30, fanIn: 100, largestBytes: 1 << 30 },
  })
  const many = (from: number) => Array.from({ length: 60_000 }, (_, i) => from + i / 1_000)
  for (const from of [0, 100, 200]) {
    await write(store, 'a', ...many(from))
    await store.flush()
  }
  const size = () => parts(folder).reduce((sum, name) => sum + statSync(join(folder, 'parts', name)).size, 0)
  const before = size()
  clock.us += 345 * SECOND
  const preview = await store.previewRetention([keep('*', 100)], clock.us, signal)
  const { wholeFiles, smallerFiles, files, rules } = preview
  assert.deepEqual([files, wholeFiles, smallerFiles], [3, 2, 1])
  assert.deepEqual(
    [rules[0]!.tags, rules[0]!.points, rules[0]!.until],
    [1, 180_000 - 15_000, START + 245 * SECOND],
  )
  assert.ok(rules[0]!.bytes > before / 2 && rules[0]!.bytes < before, `${rules[0]!.bytes} of ${before}`)
  await store.retain()
  // The newest point at or before the watermark is in the third. What was trimmed is removed beside everything else.
  await until(() => parts(folder).length === 1, 'one part is left')
  assert.ok(size() < before / 4, `${size()} of ${before} bytes`)
  assert.equal((await read(store, 'a')).length, 15_000)
  assert.deepEqual((await store.check(signal)).problems, [])
  assert.deepEqual(store.measure().retention, {
    watermark: START + 245 * SECOND,
    paused: null,
    trimmedFiles: 3,
    // The newest one before the watermark stays.
    removedPoints: 180_000 - 15_000,
  })
  const names = parts(folder)
  clock.us += SECOND
  await store.retain()
  assert.deepEqual(parts(folder), names, 'it is not trimmed for every point')
})

test('another process reads up to the same watermark, at once', async (t) => {
  const { store, clock, folder } = await open(t, [keep('*', 100)])
  await write(store, 'a', 0, 1, 2)
  const reader = await openFileStore(folder, { historian: 'plant', owner: false })
  t.after(() => reader.close())
  assert.deepEqual(await read(reader, 'a'), [0, 1, 2])
  clock.us += 200 * SECOND
  await store.retain()
  assert.deepEqual(await read(reader, 'a'), [2])
})

test('a clock that jumps ahead takes nothing away before it is corrected', async (t) => {
  const { store, clock } = await open(t, [keep('*', 100)])
  await write(store, 'a', 0, 1, 2)
  clock.jump(400 * DAY)
  await store.retain()
  assert.deepEqual(await read(store, 'a'), [0, 1, 2])
  assert.match(
    store.trouble!,
    /^retention stands still, as the clock is 9600 hours ahead of what it should be/,
  )
  assert.equal(store.measure().retention?.paused, 'clock')
  clock.jump(-400 * DAY)
  await store.retain()
  assert.equal(store.trouble, null)
  assert.equal(store.measure().retention?.paused, null)
  assert.deepEqual(await read(store, 'a'), [0, 1, 2])
})

test('a clock that was set while the service was down is believed when somebody says so', async (t) => {
  const first = await open(t, [keep('*', 100)])
  await write(first.store, 'a', 0, 1, 2)
  first.clock.jump(3 * DAY)
  const { store, folder } = await first.again()
  assert.deepEqual(await read(store, 'a'), [0, 1, 2])
  assert.match(store.trouble!, /72 hours ahead/)
  writeFileSync(join(folder, 'clock-is-right'), '')
  await store.retain()
  assert.deepEqual(await read(store, 'a'), [2])
  assert.equal(store.trouble, null)
  assert.equal(existsSync(join(folder, 'clock-is-right')), false, 'it is said once')
})

test('on a full disk watermarks move with the reserve', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const limits = { reserveBytes: 1 << 16 }
  const first = await open(t, [keep('*', 100)], undefined, folder, limits, files)
  await write(first.store, 'a', 0, 1, 2)
  const reserve = join(folder, 'wal', 'reserve')
  await until(() => systemFiles.exists(reserve) && statSync(reserve).size === 1 << 16, 'room is set aside')
  // Nobody sees when the first one may use it, which is when it is synced; the next one may from its start.
  const { store, clock } = await first.again()
  files.plan = (call) => (call === 'write' && systemFiles.exists(reserve) ? { code: 'ENOSPC' } : null)
  clock.us += 200 * SECOND
  await store.retain()
  assert.equal(systemFiles.exists(reserve), false)
  assert.deepEqual(await read(store, 'a'), [2])
})

test('a watermark that cannot be made durable is not used, and tried again', async (t) => {
  const files = new FailingFiles(systemFiles)
  const { store, clock } = await open(t, [keep('*', 100)], undefined, undefined, {}, files)
  await write(store, 'a', 0, 1, 2)
  files.plan = (call) => (call === 'write' ? { code: 'EIO' } : null)
  clock.us += 200 * SECOND
  await store.retain()
  assert.deepEqual(await read(store, 'a'), [0, 1, 2])
  assert.match(store.trouble!, /^watermarks of retention cannot be moved/)
  assert.equal(store.measure().retention?.paused, 'error')
  files.plan = () => null
  await store.retain()
  assert.deepEqual(await read(store, 'a'), [2])
})

test('beside damage what lies behind the watermark is given, and what stayed before it is said to be missing', async (t) => {
  const first = await open(t, [keep('*', 100)])
  await write(first.store, 'a', 0, 1)
  await first.store.flush()
  const [old] = parts(first.folder)
  await write(first.store, 'a', 90, 200, 201)
  await first.store.flush()
  first.clock.us += 180 * SECOND
  truncateSync(join(first.folder, 'parts', old!), 20)
  const { store } = await first.again()
  const range = { tag: 'a', ...EVER, order: 'asc', limit: 10 } as const
  await assert.rejects(store.readRanges([range], signal), { code: 'STORAGE_CORRUPT' })
  const partly = { ...range, from: at(EVER.from), to: at(EVER.to), partial: true } as const
  const [found] = await store.readRanges([partly], signal)
  assert.deepEqual(
    Array.from(found!.points.times, (time) => (time - START) / SECOND),
    [90, 200, 201],
  )
  assert.deepEqual(found!.missing, [{ from: EVER.from, to: START + 80 * SECOND + 1 }])
})

for (const [title, time, isExchanged] of [
  ['rules are not exchanged while a file cannot be read that may have what stays', 50, false],
  ['rules are exchanged while a file cannot be read that is older than what stays', 0, true],
] as const) {
  test(`${title}: nothing comes back when it is put back`, async (t) => {
    const first = await open(t, [keep('a', 100)])
    await write(first.store, 'a', 0, 1, 300, 301, 302)
    await first.store.flush()
    const [known] = parts(first.folder)
    // Hidden where it is older than what stays.
    await write(first.store, isExchanged ? 'a' : 'b', time)
    await first.store.flush()
    first.clock.us += 200 * SECOND
    await first.store.retain()
    assert.deepEqual(await read(first.store, 'a'), [1, 300, 301, 302])
    const [damaged] = parts(first.folder).filter((name) => name !== known)
    const path = join(first.folder, 'parts', damaged!)
    const whole = readFileSync(path)
    truncateSync(path, 20)
    const second = await first.again([])
    const renamed = second.store.renameTags([{ from: 'a', to: 'c' }], false, signal)
    if (isExchanged) await renamed
    else await assert.rejects(renamed, { code: 'WRITE_FAILED' })
    writeFileSync(path, whole)
    const third = await second.again([])
    assert.equal(third.store.trouble, null)
    assert.deepEqual(await read(third.store, isExchanged ? 'c' : 'a'), [1, 300, 301, 302])
  })
}

/** Points at seconds 0, 1, 300 and 301 in a part, of which a rule hides the first, and the path of the part. */
const openWithHidden = async (t: TestContext) => {
  const first = await open(t, [keep('a', 100)])
  await write(first.store, 'a', 0, 1, 300, 301)
  await first.store.flush()
  first.clock.us += 200 * SECOND
  await first.store.retain()
  return { first, path: join(first.folder, 'parts', parts(first.folder)[0]!) }
}

test('rules are not exchanged while a page of points is damaged that may have what stays', async (t) => {
  const { first, path } = await openWithHidden(t)
  const whole = readFileSync(path)
  const damaged = Buffer.from(whole)
  damaged[28]! ^= 1 // in the first page
  writeFileSync(path, damaged)
  const second = await first.again([])
  const renamed = second.store.renameTags([{ from: 'a', to: 'c' }], false, signal)
  await assert.rejects(renamed, { code: 'WRITE_FAILED' })
  writeFileSync(path, whole)
  const { store } = await second.again([])
  await store.renameTags([{ from: 'a', to: 'c' }], false, signal)
  assert.deepEqual(await read(store, 'c'), [1, 300, 301])
})

test('rules are exchanged when what is intact is found of a part whose table of pages is damaged: nothing comes back', async (t) => {
  const { first, path } = await openWithHidden(t)
  const file = systemFiles.open(path)
  const { table } = readFooter(file).sections
  file.close()
  const damaged = readFileSync(path)
  damaged[table.at + 20]! ^= 1
  writeFileSync(path, damaged)
  const { store } = await first.again([])
  await read(store, 'a').catch(() => {})
  await until(() => store.trouble?.startsWith('part ') === true, 'it is noticed')
  assert.deepEqual(await read(store, 'a'), [1, 300, 301])
  await store.renameTags([{ from: 'a', to: 'c' }], false, signal)
  assert.deepEqual(await read(store, 'c'), [1, 300, 301])
})
