import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { repairHistorian } from '../../src/storage/maintenance/repair-historian.ts'
import { PowerCut, SimulatedDisk } from './simulated-disk.ts'
import {
  type Model,
  modelOf,
  newClock,
  open,
  openRetained,
  printed,
  RETAINED_STEPS,
  signal,
} from './workload.ts'

/*
 * A historian without its manifest and without one more file, at moments of its life: what a repair cannot give back it
 * tells to be lost, or not to be known.
 */

/** Calls of the file layer from one moment to the next; LOST_MANIFEST_STEP=1 takes each. */
const STEP = Number(process.env.LOST_MANIFEST_STEP ?? 5)

interface Life {
  readonly disk: SimulatedDisk
  /** What was acknowledged, and what may be there in its place: the step that was under way. */
  readonly model: Model
  readonly next: Model
}

/** Lives until it is killed; what was written is there. Every fourth step is that of another owner. */
async function live(folder: string, killedAt: number): Promise<Life> {
  const disk = new SimulatedDisk()
  disk.cutAt = killedAt
  const clock = newClock()
  let model: Model = new Map()
  let next = model
  try {
    for (let from = 0; from < RETAINED_STEPS.length; from += 4) {
      const store = await openRetained(disk, folder, clock)
      try {
        for (const step of RETAINED_STEPS.slice(from, from + 4)) {
          next = step.change?.(model) ?? model
          await step.run(store, clock)
          if (disk.calls <= killedAt) model = next
          else break
        }
      } finally {
        await store.close().catch(() => {})
      }
    }
  } catch (error) {
    assert.ok(disk.calls > killedAt || error instanceof PowerCut, String(error))
  }
  disk.cutAt = Number.POSITIVE_INFINITY
  return { disk, model, next }
}

test('what is lost with a manifest and one more file is told, or told not to be known', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-no-manifest-'))
  const tally = { whole: 0, told: 0, unknown: 0 }
  try {
    const { calls } = (await live(folder, Number.POSITIVE_INFINITY)).disk
    for (let killedAt = 20; killedAt <= calls; killedAt += STEP) {
      const { disk, model, next } = await live(folder, killedAt)
      const all = [...disk.contents().keys()].filter((path) => path.startsWith(folder))
      const manifests = all.filter((path) => path.includes('/manifest/'))
      if (manifests.length === 0) continue
      for (const gone of all.filter((path) => /\.(part|wal|tags)$|published-/.test(path))) {
        const left = disk.copy(new Map([...manifests, gone].map((path) => [path, null] as const)))
        const what = `killed at call ${killedAt}, without ${basename(gone)}`
        const { lost, unknown } = await repairHistorian(left, folder, { historian: 'plant' }, signal)
        const store = await open(left, folder)
        const found = printed(await modelOf(store))
        await store.close()
        const isWhole = found === printed(model) || found === printed(next)
        if (isWhole) tally.whole++
        else if (lost.length > 0) tally.told++
        else if (unknown.length > 0) tally.unknown++
        else assert.fail(`${what}: nothing says what is missing\n${printed(model)}\n${found}`)
      }
    }
    t.diagnostic(JSON.stringify(tally))
    assert.ok(tally.whole > 20 && tally.told > 20 && tally.unknown > 5)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
