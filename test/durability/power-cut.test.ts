import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { randomOf } from './random.ts'
import { PowerCut, SimulatedDisk } from './simulated-disk.ts'
import { type Model, modelOf, newClock, openRetained, printed, RETAINED_STEPS, signal } from './workload.ts'

/** Power cuts at each moment; each leaves something else. */
const CUTS = Number(process.env.POWER_CUTS ?? 3)

interface Life {
  readonly disk: SimulatedDisk
  readonly clock: ReturnType<typeof newClock>
  /** What was acknowledged, and what may be there in its place: the step that was under way. */
  readonly model: Model
  readonly next: Model
}

/** Lives until the power is cut. */
async function live(folder: string, cutAt: number): Promise<Life> {
  const disk = new SimulatedDisk()
  disk.cutAt = cutAt
  const clock = newClock()
  let model: Model = new Map()
  let next = model
  try {
    const store = await openRetained(disk, folder, clock)
    try {
      for (const step of RETAINED_STEPS) {
        next = step.change?.(model) ?? model
        await step.run(store, clock)
        model = next
      }
    } finally {
      // The process is gone; here it must give its lock back.
      await store.close().catch(() => {})
    }
  } catch (error) {
    assert.ok(disk.calls > cutAt || error instanceof PowerCut, String(error))
  }
  return { disk, clock, model, next }
}

async function assertThere(disk: SimulatedDisk, folder: string, life: Life, what: string): Promise<void> {
  const store = await openRetained(disk, folder, life.clock)
  try {
    const found = printed(await modelOf(store))
    if (found !== printed(life.next)) assert.equal(found, printed(life.model), what)
    assert.deepEqual((await store.check(signal)).problems, [], what)
    await store.flush()
    assert.equal(printed(await modelOf(store)), found, `${what}, flushed`)
  } finally {
    await store.close()
  }
}

test('a power cut at any moment loses nothing acknowledged and leaves nothing in part', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-power-'))
  try {
    const whole = await live(folder, Number.POSITIVE_INFINITY)
    assert.equal(printed(whole.model), printed(whole.next))
    const calls = whole.disk.calls
    for (let cutAt = 0; cutAt <= calls; cutAt++) {
      const life = await live(folder, cutAt)
      for (let cut = 0; cut < CUTS; cut++) {
        const disk = life.disk.afterCut(randomOf(cutAt * 1_000 + cut))
        await assertThere(disk, folder, life, `cut ${cut} at call ${cutAt}`)
      }
    }
    t.diagnostic(`${calls} moments, ${CUTS} cuts at each`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('the power is cut again while a historian comes back', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-power-'))
  try {
    const { calls } = (await live(folder, Number.POSITIVE_INFINITY)).disk
    for (let cutAt = 20; cutAt <= calls; cutAt += 7) {
      const life = await live(folder, cutAt)
      for (let again = 0; again < 30; again += 2) {
        const random = randomOf(cutAt * 1_000 + again)
        const disk = life.disk.afterCut(random)
        disk.cutAt = again
        await openRetained(disk, folder, life.clock).then(
          (store) => store.close().catch(() => {}),
          () => {},
        )
        const left = disk.afterCut(random)
        await assertThere(left, folder, life, `cut at call ${cutAt} and at call ${again} after it`)
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('what a start after a kill found is there after a power cut, too', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-power-'))
  try {
    const { calls } = (await live(folder, Number.POSITIVE_INFINITY)).disk
    for (let killedAt = 0; killedAt <= calls; killedAt++) {
      const life = await live(folder, killedAt)
      const { disk } = life
      // The process is gone, and what it wrote is in the page cache.
      disk.cutAt = Number.POSITIVE_INFINITY
      const store = await openRetained(disk, folder, life.clock)
      const model = await modelOf(store)
      const left = Array.from({ length: CUTS }, (_, cut) => disk.afterCut(randomOf(killedAt * 1_000 + cut)))
      await store.close()
      for (const [cut, one] of left.entries()) {
        const found = { ...life, model, next: model }
        await assertThere(one, folder, found, `cut ${cut} after a kill at call ${killedAt}`)
      }
    }
    t.diagnostic(`${calls} kills, ${CUTS} cuts after each`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
