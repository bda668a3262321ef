import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import { copyHistorian } from '../../src/storage/maintenance/copy-historian.ts'
import { temporaryFolder } from './folder.ts'

/** Each has a namespace of processes, as a container has: the first process in it has the number 1. */
const CONTAINER = ['--pid', '--fork', '--kill-child=SIGKILL']

const { signal } = new AbortController()

/** Why there can be none; `false` when there can. */
function whyNone(): string | false {
  const { error, status, stderr } = spawnSync('unshare', [...CONTAINER, 'true'], { encoding: 'utf8' })
  if (error !== undefined) return `unshare cannot be started: ${error.message}`
  return status !== 0 && `no namespace may be made: ${stderr.trim()}`
}

const started = new Set<ChildProcess>()
after(() => {
  for (const child of started) child.kill('SIGKILL')
})

interface Answer {
  readonly pid: number
  readonly directory: string
  readonly historian: string
}

/** Starts an owner in a container; what it tells, and how it is killed. */
async function startOwner(folder: string, time: number) {
  const script = join(import.meta.dirname, 'own-in-namespace.ts')
  const args = [...CONTAINER, process.execPath, script, folder, String(time)]
  const child = spawn('unshare', args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  started.add(child)
  const ended = once(child, 'close')
  const [answer] = (await Promise.race([
    once(child, 'message'),
    ended.then(() => assert.fail('it has ended without an answer')),
  ])) as [Answer]
  return {
    answer,
    async kill() {
      child.kill('SIGKILL')
      // Also the channel of the process in it is closed.
      await ended
      started.delete(child)
    },
  }
}

test('two containers, each with process 1, on one volume: one owns it at a time, the other one as soon as it is killed', {
  skip: whyNone(),
}, async (t) => {
  const folder = temporaryFolder(t)
  const first = await startOwner(folder, 1)
  assert.deepEqual(first.answer, { pid: 1, directory: 'owner', historian: 'written' })
  const second = await startOwner(folder, 2)
  assert.deepEqual(second.answer, {
    pid: 1,
    directory: 'DATA_DIR_IN_USE',
    historian: 'DATA_DIR_IN_USE',
  })
  await second.kill()
  // A backup beside it, as a sidecar makes it, has what was acknowledged.
  const historian = join(folder, 'historians', 'plant')
  const copy = join(folder, 'copy')
  await copyHistorian(systemFiles, historian, copy, { mode: 'copy' }, signal)
  assert.deepEqual(await timesIn(copy), [1])
  await first.kill()
  const third = await startOwner(folder, 3)
  assert.deepEqual(third.answer, { pid: 1, directory: 'owner', historian: 'written' })
  await third.kill()
  assert.deepEqual(await timesIn(historian), [1, 3])
})

async function timesIn(folder: string): Promise<readonly number[]> {
  const store = await openFileStore(folder, { historian: 'plant', owner: false })
  const range = { tag: 'a', from: 0, to: 10, order: 'asc', limit: 10 } as const
  const [read] = await store.readRanges([range], signal)
  await store.close()
  return [...read!.points.times]
}
