import assert from 'node:assert/strict'
import cluster from 'node:cluster'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../../test/durability/folder.ts'
import { until } from '../../test/until.ts'
import type { Settings } from '../config/settings.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { Historian } from '../historian/contract.ts'
import { startWorkers } from './primary.ts'

function setUp(t: TestContext) {
  cluster.setupPrimary({
    exec: fileURLToPath(new URL('./worker.fixture.ts', import.meta.url)),
    args: [],
    execArgv: [],
    cwd: process.cwd(),
  })
  const folder = temporaryFolder(t)
  const logged: { fields: { err?: unknown; reason?: unknown }; message: string }[] = []
  const keep = (fields: object, message: string) => void logged.push({ fields, message })
  const log = { info: keep, warn: keep, error: keep }
  const start = (historians: ReadonlyMap<string, Historian> = new Map()) =>
    startWorkers(1, folder as unknown as Settings, historians, log)
  const pids = () => readFileSync(join(folder, 'pids'), 'utf8').trim().split('\n').map(Number)
  return { folder, logged, start, pids }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('workers that cannot start anew do not gather', async (t) => {
  const { folder, logged, start, pids } = setUp(t)
  const workers = await start()
  writeFileSync(join(folder, 'refuse'), '')
  process.kill(pids()[0]!, 'SIGKILL')
  const refused = () => logged.filter(({ message }) => message === 'a worker could not be started').length
  await until(() => refused() >= 2, 'a worker is tried twice')
  await until(() => !pids().slice(0, 3).some(isRunning), 'those that did not start are gone')
  rmSync(join(folder, 'refuse'))
  await until(() => pids().length > 3 && isRunning(pids().at(-1)!), 'a worker starts again')
  await workers.stop()
  assert.deepEqual(pids().filter(isRunning), [])
})

test('a worker for which the system has no room is tried again', async (t) => {
  const { logged, start, pids } = setUp(t)
  const workers = await start()
  cluster.setupPrimary({ cwd: join(process.cwd(), 'no such folder') })
  process.kill(pids()[0]!, 'SIGKILL')
  await until(
    () => logged.some(({ message }) => message === 'a worker could not be started'),
    'the system starts none',
  )
  cluster.setupPrimary({ cwd: process.cwd() })
  await until(() => pids().length === 2, 'a worker starts again')
  await workers.stop()
  assert.deepEqual(pids().filter(isRunning), [])
})

test('the cause of a change that failed is logged where it is known', async (t) => {
  const { folder, logged, start } = setUp(t)
  writeFileSync(join(folder, 'write'), '')
  const cause = new Error('what the disk said')
  const plant = {
    write: async () => {
      throw new TidemarkError(
        'WRITE_FAILED',
        { historian: 'plant', reason: 'the log has the details' },
        { cause },
      )
    },
  } as unknown as Historian
  const workers = await start(new Map([['plant', plant]]))
  await workers.stop()
  assert.deepEqual(
    logged.map(({ fields }) => (fields.err as Error).cause),
    [cause],
  )
  assert.match(readFileSync(join(folder, 'errors'), 'utf8'), /Error/)
})

test('an owner knows which version each worker reads, from before it starts to its end', async (t) => {
  const { folder, start, pids } = setUp(t)
  writeFileSync(join(folder, 'read'), '')
  const seen: (readonly [reader: number, version: number | null])[] = []
  const plant = {
    readerAt: (reader: number, version: number | null) => void seen.push([reader, version]),
  } as unknown as Historian
  const workers = await start(new Map([['plant', plant]]))
  await until(() => seen.length >= 2, 'the worker says what it reads')
  process.kill(pids()[0]!, 'SIGKILL')
  await until(() => seen.length >= 5, 'another one takes its place')
  await workers.stop()
  const [first, second] = [...new Set(seen.map(([reader]) => reader))]
  assert.deepEqual(seen, [
    [first, 0],
    [first, 5],
    [first, null],
    [second, 0],
    [second, 5],
    [second, null],
  ])
})
