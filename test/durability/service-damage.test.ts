import assert from 'node:assert/strict'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type RunningService, serve, temporaryFolder, tidemark } from '../cli/run.ts'
import { harmEntries, harmLeaf, withWrongBit } from './damage.ts'

const START_MS = Date.UTC(2026, 0, 1)
const pointsOf = (numbers: readonly number[]) =>
  numbers.map((number) => ({ timestamp: START_MS + number * 1000, value: number }))

async function write(service: RunningService, key: string, numbers: readonly number[]) {
  const body = { createTags: true, points: { 'local/A': pointsOf(numbers) } }
  return service.post('/historian/write/points', body, key)
}

async function read(service: RunningService, key: string): Promise<number[]> {
  const details = { from: START_MS, to: START_MS + 86_400_000, maxPoints: 1_000 }
  const body = { format: 'columns', requests: { a: { type: 'RAW_POINTS', tag: 'local/A', details } } }
  const answer = await service.post('/historian/multi', body, key)
  assert.deepEqual(answer.body.errors, {}, JSON.stringify(answer.body))
  // biome-ignore lint/suspicious/noExplicitAny: an answer is looked into
  return (answer.body.results as any).a.dataPoints.values
}

const ready = async (service: RunningService, key: string) => {
  const response = await fetch(`${service.url}/health/ready`, { headers: { 'X-Api-Key': key } })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

test('a service with a damaged journal record reads on, refuses writes and says so', async () => {
  const cwd = await temporaryFolder()
  const options = { cwd, env: { TIDEMARK_LOG_LEVEL: 'error' } }
  const first = await serve([], options)
  const key = first.writeKey
  for (const numbers of [[1, 2], [3], [4, 5]]) assert.equal((await write(first, key, numbers)).status, 200)
  await first.kill()
  const isSecond = (entry: Uint8Array) => entry[3] === 1 && entry[7] === 1
  const harmed = await harmEntries(dataOf(cwd), 'journal', (entry, value) =>
    isSecond(entry) ? withWrongBit(value, 20) : undefined,
  )
  assert.equal(harmed, 1)

  const service = await serve([], options)
  assert.deepEqual(await read(service, key), [1, 2, 4, 5])
  const refused = await write(service, key, [6])
  assert.equal(refused.status, 503, JSON.stringify(refused.body))
  assert.match(JSON.stringify(refused.body), /damaged/)
  assert.deepEqual(await read(service, key), [1, 2, 4, 5])
  const health = await ready(service, key)
  const [historian] = health.body.historians as { readonly name: string; readonly state: string }[]
  assert.equal(historian!.name, 'local')
  assert.equal(historian!.state, 'down')

  const check = await tidemark(['check'], options)
  assert.equal(check.code, 4, check.stdout + check.stderr)
  assert.match(check.stdout + check.stderr, /local: journal record 1\.1: the checksum/)
  await service.kill()
  // What is left can be taken elsewhere.
  const exported = await tidemark(['export', 'local/A'], options)
  assert.equal(exported.code, 0, exported.stderr)
  assert.equal(exported.stdout.trim().split('\n').length, 1 + 4, exported.stdout)
})

test('a backup beside a service takes what still stands in the journal, and is restored by copying', async () => {
  const cwd = await temporaryFolder()
  const options = { cwd, env: { TIDEMARK_LOG_LEVEL: 'error' } }
  const service = await serve([], options)
  const key = service.writeKey
  for (const numbers of [[1, 2], [3]]) assert.equal((await write(service, key, numbers)).status, 200)
  const target = join(await temporaryFolder(), 'backup')
  const backup = await tidemark(['backup', target], options)
  assert.equal(backup.code, 0, backup.stderr)
  // After the backup, and so not part of it.
  assert.equal((await write(service, key, [4])).status, 200)
  const besides = await tidemark(['check'], options)
  assert.equal(besides.code, 0, besides.stderr)
  await service.stop()

  const check = await tidemark(['check', '--data-dir', target], options)
  assert.equal(check.code, 0, check.stderr)
  const restored = await temporaryFolder()
  cpSync(target, join(restored, 'copy'), { recursive: true })
  const again = await serve(['--data-dir', join(restored, 'copy')], { ...options, cwd: restored })
  assert.deepEqual(await read(again, key), [1, 2, 3])
  assert.equal((await write(again, key, [9])).status, 200)
  assert.deepEqual(await read(again, key), [1, 2, 3, 9])
  await again.stop()
})

/** Writes points to each of 300 tags, which take several pages of the file together. */
async function writeAll(service: RunningService, key: string, from: number, count: number) {
  const points = pointsOf(Array.from({ length: count }, (_, i) => from + i))
  const tags = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`local/${i}`, points]))
  assert.equal(
    (await service.post('/historian/write/points', { createTags: true, points: tags }, key)).status,
    200,
  )
}

test('while points cannot be folded, writes are taken in every worker, and the log and the readiness say so', async () => {
  const cwd = await temporaryFolder()
  const service = await serve(['--workers', '2'], { cwd, env: { TIDEMARK_LOG_LEVEL: 'error' } })
  const key = service.writeKey
  await writeAll(service, key, 0, 100)
  // The newest page of summaries of the 150th tag. When it is there folding goes on for a moment yet.
  const page = Buffer.from('00000096ffffffffffffffff', 'hex')
  while (!readFileSync(join(dataOf(cwd), 'data.mdb')).includes(page)) await wait(100)
  await wait(1_000)
  const mend = harmLeaf(dataOf(cwd), page)
  await writeAll(service, key, 1_000, 70)
  while (!service.stderr().includes('cannot be moved')) await wait(20)
  for (let i = 0; i < 10; i++) assert.equal((await write(service, key, [i])).status, 200)
  assert.equal(service.stderr().match(/cannot be moved/g)!.length, 1)
  await wait(1_100)
  for (let i = 0; i < 4; i++) {
    const { status, body } = await ready(service, key)
    const [historian] = body.historians as { readonly state: string; readonly reason?: string }[]
    assert.deepEqual([status, body.status, historian!.state], [200, 'ready', 'up'])
    assert.match(historian!.reason!, /^points cannot be moved from its journal into blocks: /)
  }
  mend()
  assert.equal((await write(service, key, [11])).status, 200)
  assert.equal(await service.stop(), 0)
  assert.equal((await tidemark(['check'], { cwd })).code, 0)
})

/** The historian's folder, in the data directory that a service makes where it is started. */
function dataOf(cwd: string): string {
  return join(cwd, 'data', 'historians', 'local')
}
