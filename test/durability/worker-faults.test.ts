import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { FailingFiles, type FaultPlan } from '../../src/storage/files/failing-files.fixture.ts'
import { SimulatedDisk } from './simulated-disk.ts'
import { codeOf, modelOf, newClock, openRetained, openToRead, printed, RETAINED_STEPS } from './workload.ts'

/*
 * A worker that follows an owner through its whole life, with a fault at each of the worker's own calls of the file
 * layer: a read that meets it fails, or answers what is there, and the next one answers.
 */

/** Reads that one fault may fail: one is tried again by the worker itself, and may meet what it left. */
const TRIES = 3

/** @returns how many calls the worker made, and how many of its reads and starts failed */
async function follow(plan: FaultPlan, what: string) {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-worker-'))
  const disk = new SimulatedDisk()
  const files = new FailingFiles(disk, plan)
  const clock = newClock()
  let failures = 0
  const owner = await openRetained(disk, folder, clock)
  let worker: FileStore | null = null
  try {
    for (const step of RETAINED_STEPS) {
      await step.run(owner, clock)
      const expected = printed(await modelOf(owner))
      for (let tries = 1; ; tries++) {
        try {
          worker ??= await openToRead(files, folder)
          assert.equal(printed(await modelOf(worker)), expected, `${what}: what is read after ${step.name}`)
          break
        } catch (error) {
          if (error instanceof assert.AssertionError) throw error
          const code = codeOf(error)
          const expectedCode: string = worker === null ? 'DATA_DIR_UNUSABLE' : 'HISTORIAN_UNAVAILABLE'
          assert.ok(code === expectedCode, `${what}, after ${step.name}: ${String(error)}`)
          assert.ok(
            tries < TRIES,
            `${what}, after ${step.name}: the worker does not recover: ${String(error)}`,
          )
          failures++
        }
      }
    }
    return { calls: files.calls, failures }
  } finally {
    await worker?.close()
    await owner.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

for (const code of ['EIO', 'EMFILE']) {
  test(`${code} at any one call of a worker is an error of what it meets, and of nothing later`, async (t) => {
    const { calls, failures: none } = await follow(() => null, 'without faults')
    assert.equal(none, 0)
    let failures = 0
    for (let at = 0; at < calls; at++) {
      const fault = { code }
      const outcome = await follow(
        (_call, _path, number) => (number === at ? fault : null),
        `${code} at call ${at}`,
      )
      failures += outcome.failures
    }
    t.diagnostic(`${calls} calls, ${failures} reads and starts failed`)
    assert.ok(failures > calls / 10)
  })
}
