import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { FailingFiles } from '../../src/storage/files/failing-files.fixture.ts'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import { until } from '../until.ts'
import { temporaryFolder } from './folder.ts'
import { type Model, modelOf, open, printed, STEPS, signal } from './workload.ts'

const YEAR_MS = 365 * 86_400e3

/** Jumps of the machine's clock, in milliseconds, one after the other. */
const JUMPS: Readonly<Record<string, readonly number[]>> = {
  'a year back at each call of the file layer': [-YEAR_MS],
  'a year forward at each call of the file layer': [YEAR_MS],
  'an hour back and forth, as when a summer time is set by hand': [3_600e3, -3_600e3],
  'to the beginning of time and beyond its end': [
    -60 * YEAR_MS,
    400 * YEAR_MS,
    -200 * YEAR_MS,
    -140 * YEAR_MS,
  ],
}

/** Has the wall clock jump when it is told to, until the end of the test. The monotonic clock goes on as ever. */
function jumpingClock(t: TestContext): (ms: number) => void {
  const now = Date.now
  let offset = 0
  Date.now = () => now() + offset
  t.after(() => {
    Date.now = now
  })
  return (ms) => {
    offset += ms
  }
}

for (const [what, jumps] of Object.entries(JUMPS)) {
  test(`what is written is there after a clock that goes ${what}`, async (t) => {
    const jump = jumpingClock(t)
    const folder = temporaryFolder(t)
    const files = new FailingFiles(systemFiles, (_call, _path, number) => {
      jump(jumps[number % jumps.length]!)
      return null
    })
    let model: Model = new Map()
    let store = await open(files, folder)
    for (const [index, step] of STEPS.entries()) {
      await step.run(store)
      model = step.change?.(model) ?? model
      assert.equal(printed(await modelOf(store)), printed(model), step.name)
      if (index % 5 !== 4) continue
      await store.close()
      store = await open(files, folder)
      assert.equal(printed(await modelOf(store)), printed(model), `after ${step.name} and a restart`)
    }
    assert.deepEqual((await store.check(signal)).problems, [])
    await store.close()
    assert.ok(files.calls > 100)
  })
}

test('flushes, pauses after a failure, and removals are timed by the monotonic clock', async (t) => {
  const jump = jumpingClock(t)
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const limits = {
    flush: { points: 1e9, records: 1e9, ageMs: 100 },
    unlinkAfterMs: 100,
    reserveBytes: 0,
  }
  const store = await openFileStore(folder, { historian: 'plant', owner: true, limits, files })
  const flushed = () => store.measure().journalPoints === 0
  const write = async (time: number) => {
    const points = makeColumns(1)
    points.times[0] = time
    await store.write(writeBatch([{ tag: 'a', points }], true), signal)
  }
  for (const [time, ms] of [-YEAR_MS, YEAR_MS, -2 * YEAR_MS].entries()) {
    await write(time)
    assert.ok(!flushed(), 'it is not flushed because the clock jumped')
    jump(ms)
    await wait(5)
    await until(flushed, 'what is old enough is flushed, wherever the clock went')
  }
  // A flush that fails is tried again after a second, not after a year.
  let failed = 0
  files.plan = (call, path) => {
    if (call !== 'create' || !path.endsWith('.part') || failed > 0) return null
    failed++
    jump(-YEAR_MS)
    return { code: 'EIO' }
  }
  await write(9)
  await until(() => failed > 0, 'a flush fails')
  await until(flushed, 'it is tried again')
  await until(() => systemFiles.list(`${folder}/wal`).every((name) => !name.endsWith('.wal')), 'segments go')
  await store.close()
})
