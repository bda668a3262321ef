import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { keep, TestClock } from '../../../test/property/retention-model.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import type { FileStore } from './file-store.ts'
import { openFileStore } from './open-file-store.ts'

/* What is known of the clock after a start where no watermark moves for a long time. */

const SECOND = 1_000_000
const HOUR_SECONDS = 3_600
const DAY = 24 * HOUR_SECONDS * SECOND
const START = 1_700_000_000 * SECOND
const { signal } = new AbortController()

/** A historian with one rule for all tags, and its clock. */
class Plant {
  readonly clock = new TestClock(START)
  readonly folder: string
  store!: FileStore

  constructor(t: TestContext) {
    this.folder = temporaryFolder(t)
    t.after(() => this.store.close())
  }

  async start(keptSeconds: number): Promise<void> {
    this.store = await openFileStore(this.folder, {
      historian: 'plant',
      owner: true,
      retention: { rules: [keep('*', keptSeconds)], time: this.clock },
      limits: { reserveBytes: 0, retentionEveryMs: 1e9, idleMergeAfterMs: 1e9 },
    })
    await this.store.retain()
  }

  async startAgain(keptSeconds: number): Promise<void> {
    await this.store.close()
    await this.start(keptSeconds)
  }

  /** Time passes while it is served, and retention looks at the clock now and then. */
  async pass(seconds: number): Promise<void> {
    for (let left = seconds; left > 0; left -= 600) {
      this.clock.us += Math.min(left, 600) * SECOND
      await this.store.retain()
    }
  }

  async write(...seconds: readonly number[]): Promise<void> {
    const points = makeColumns(seconds.length)
    points.times.set(seconds.map((second) => START + second * SECOND))
    await this.store.write(writeBatch([{ tag: 'a', points }], true), signal)
  }

  /** Seconds of all points. */
  async read(): Promise<readonly number[]> {
    const all = { tag: 'a', from: -1e16, to: 1e16, order: 'asc', limit: 100 } as const
    const [found] = await this.store.readRanges([all], signal)
    return Array.from(found!.points.times, (time) => (time - START) / SECOND)
  }
}

test('a rule that keeps more than before removes again when its time has come, whatever starts were in between', async (t) => {
  const plant = new Plant(t)
  await plant.start(100)
  await plant.write(0, 1)
  await plant.pass(200)
  await plant.startAgain(4 * HOUR_SECONDS)
  await plant.write(150, 160)
  for (let start = 0; start < 3; start++) {
    await plant.pass(2 * HOUR_SECONDS)
    assert.equal(plant.store.trouble, null)
    await plant.startAgain(4 * HOUR_SECONDS)
    assert.equal(plant.store.trouble, null, 'nobody set the clock')
  }
  assert.deepEqual(await plant.read(), [160])
})

test('a clock of which somebody said that it is right is so after the next start, too', async (t) => {
  const plant = new Plant(t)
  await plant.start(100)
  await plant.startAgain(1_000 * 24 * HOUR_SECONDS)
  plant.clock.jump(3 * DAY)
  await plant.store.retain()
  assert.match(plant.store.trouble!, /72 hours ahead/)
  writeFileSync(join(plant.folder, 'clock-is-right'), '')
  await plant.store.retain()
  assert.equal(plant.store.trouble, null)
  await plant.startAgain(1_000 * 24 * HOUR_SECONDS)
  assert.equal(plant.store.trouble, null)
})
