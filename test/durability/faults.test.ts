import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { TidemarkError } from '../../src/errors/tidemark-error.ts'
import { FailingFiles, type Fault, type FileCall } from '../../src/storage/files/failing-files.fixture.ts'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import {
  codeOf,
  isSame,
  type Model,
  modelOf,
  newClock,
  openRetained,
  printed,
  RETAINED_STEPS,
  reopened,
  signal,
} from './workload.ts'

/** What goes wrong: a call of a kind fails, by its number among all calls. */
type Plan = (call: FileCall, number: number) => Fault

/** Calls that take room. */
const WRITING: readonly FileCall[] = ['write', 'create', 'makeFolder', 'link', 'rename']

interface Outcome {
  readonly calls: number
  readonly failures: number
}

/**
 * Lives through all steps with a plan, compares what is read after each, and again after the historian was opened anew.
 */
async function live(plan: Plan, what: string): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-faults-'))
  const files = new FailingFiles(systemFiles, (call, _path, number) => plan(call, number))
  const clock = newClock()
  let failures = 0
  /** What must be there, and what may be there in its place after the end. */
  let model: Model = new Map()
  let maybe: Model | null = null
  try {
    const store = await openRetained(files, folder, clock).catch((error: unknown) => {
      assert.ok(error instanceof TidemarkError, `${what}: ${String(error)}`)
      return null
    })
    if (store === null) failures++
    else {
      for (const step of RETAINED_STEPS) {
        try {
          await step.run(store, clock)
          const next = step.change?.(model) ?? model
          // What changes nothing is not written, and says nothing of what was written before.
          if (step.isWithoutRecord === true) maybe = maybe === null ? null : step.change!(maybe)
          else if (!isSame(next, model)) maybe = null
          model = next
        } catch (error) {
          const code = codeOf(error)
          failures++
          if (step.change === null)
            assert.ok(
              ['WRITE_FAILED', 'HISTORIAN_UNAVAILABLE'].includes(code),
              `${what}, ${step.name}: ${code}`,
            )
          else if (code === 'WRITE_OUTCOME_UNKNOWN')
            maybe = step.change(step.isWithoutRecord === true ? (maybe ?? model) : model)
          else {
            // A tag that was not made is not there to be renamed or dropped.
            const expected = ['WRITE_FAILED', 'TAG_NOT_FOUND', 'TAG_EXISTS', 'HISTORIAN_UNAVAILABLE']
            assert.ok(expected.includes(code), `${what}, ${step.name}: ${code}`)
          }
        }
        const found: Model | string = await modelOf(store).catch((error: unknown) => codeOf(error))
        if (typeof found === 'string') assert.equal(found, 'HISTORIAN_UNAVAILABLE', `${what}, ${step.name}`)
        else assert.equal(printed(found), printed(model), `${what}: what is read after ${step.name}`)
      }
      await store.close().catch((error: unknown) => assert.ok(error instanceof Error))
    }
    const again = await openRetained(systemFiles, folder, clock)
    const found = await modelOf(again)
    if (maybe === null || !isSame(found, reopened(maybe, clock))) {
      assert.equal(printed(found), printed(reopened(model, clock)), `${what}: what is there afterwards`)
    }
    await again.flush()
    assert.equal(printed(await modelOf(again)), printed(found), `${what}: after all was flushed`)
    assert.deepEqual((await again.check(signal)).problems, [], what)
    await again.close()
    return { calls: files.calls, failures }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test('a life without faults has none', async () => {
  assert.equal((await live(() => null, 'without faults')).failures, 0)
})

for (const [code, met] of [
  ['EIO', null],
  ['ENOSPC', WRITING],
  ['EDQUOT', WRITING],
  ['EFBIG', ['write']],
] as const) {
  test(`${code} at any one call is an error of what it meets, and of nothing else`, async (t) => {
    const kinds: FileCall[] = []
    const remember = (call: FileCall) => {
      kinds.push(call)
      return null
    }
    const { calls } = await live(remember, 'without faults')
    let failures = 0
    let tried = 0
    for (let at = 0; at < calls; at++) {
      // What only reads needs no room.
      if (met !== null && !(met as readonly FileCall[]).includes(kinds[at]!)) continue
      tried++
      const fault = { code, short: at % 2 === 0 }
      const outcome = await live((_call, number) => (number === at ? fault : null), `${code} at call ${at}`)
      failures += outcome.failures
    }
    t.diagnostic(`${tried} of ${calls} calls, ${failures} steps failed`)
    assert.ok(failures > 10)
  })
}

test('a disk that is full from some moment on refuses changes, and has what it took', async () => {
  const { calls } = await live(() => null, 'without faults')
  for (let from = 0; from < calls; from += 3) {
    await live(
      (call, number) => (number >= from && WRITING.includes(call) ? { code: 'ENOSPC', short: true } : null),
      `full from call ${from} on`,
    )
  }
})

test('a disk that syncs nothing from some moment on refuses changes, and has what it took', async () => {
  const { calls } = await live(() => null, 'without faults')
  for (let from = 0; from < calls; from += 3) {
    await live(
      (call, number) => (number >= from && call === 'sync' ? { code: 'EIO' } : null),
      `no sync from call ${from} on`,
    )
  }
})
