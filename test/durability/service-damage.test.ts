import assert from 'node:assert/strict'
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type RunningService, serve, temporaryFolder, tidemark } from '../cli/run.ts'
import { until } from '../until.ts'

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

/** Flips a bit of a byte in the first file of a folder with an ending. */
function flipBit(folder: string, end: string, at: (bytes: Buffer) => number): void {
  const [name] = readdirSync(folder).filter((one) => one.endsWith(end))
  const path = join(folder, name!)
  const bytes = readFileSync(path)
  bytes[at(bytes)]! ^= 1
  writeFileSync(path, bytes)
}

test('a service with a damaged record of the log reads on, refuses writes and says so', async () => {
  const cwd = await temporaryFolder()
  const options = { cwd, env: { TIDEMARK_LOG_LEVEL: 'error' } }
  const first = await serve([], options)
  const key = first.writeKey
  for (const numbers of [[1, 2], [3.25], [4, 5]]) assert.equal((await write(first, key, numbers)).status, 200)
  await first.kill()
  // The value of the second request, as a double.
  const value = Buffer.from(Float64Array.of(3.25).buffer)
  flipBit(join(dataOf(cwd), 'wal'), '.wal', (bytes) => bytes.indexOf(value))

  const service = await serve([], options)
  assert.deepEqual(await read(service, key), [1, 2, 4, 5])
  const refused = await write(service, key, [6])
  assert.equal(refused.status, 503, JSON.stringify(refused.body))
  assert.match(JSON.stringify(refused.body), /damaged/)
  assert.deepEqual(await read(service, key), [1, 2, 4, 5])
  const health = await ready(service, key)
  const [historian] = health.body.historians as { readonly name: string; readonly state: string }[]
  assert.equal(historian!.name, 'local')
  // What was lost is not known: every read says so.
  const range = { from: START_MS, to: START_MS + 86_400_000 }
  const requests = {
    current: { type: 'CURRENT_POINT', tag: 'local/A' },
    sum: { type: 'AGGREGATED_POINTS', tag: 'local/A', details: { ...range, aggregates: ['COUNT'] } },
  }
  for (const [label, request] of Object.entries(requests)) {
    const { body } = await service.post('/historian/multi', { requests: { [label]: request } }, key)
    const [warning] = body.warnings as string[]
    assert.match(warning!, /^Historian local reads without what is damaged of its log: .*checksum/)
  }
  assert.equal(historian!.state, 'down')

  const check = await tidemark(['check'], options)
  assert.equal(check.code, 4, check.stdout + check.stderr)
  assert.match(check.stdout + check.stderr, /local: .*checksum/)
  await service.kill()
  // What is left can be taken elsewhere.
  const exported = await tidemark(['export', 'local/A'], options)
  assert.equal(exported.code, 3, exported.stderr)
  assert.match(exported.stderr, /Historian local reads without what is damaged of its log/)
  assert.equal(exported.stdout.trim().split('\n').length, 1 + 4, exported.stdout)

  // Or it is repaired, and all goes on.
  const repaired = await tidemark(['check', '--repair'], options)
  assert.equal(repaired.code, 0, repaired.stdout + repaired.stderr)
  assert.match(repaired.stderr, /^local: \S+\.wal was moved to the folder damaged$/m)
  assert.match(
    repaired.stderr,
    /^local: lost: record \d+ of the log: the checksum of record \d+ of the log is wrong$/m,
  )
  assert.match(
    repaired.stderr,
    /^local: lost: what the lost records of the log changed: points may be missing/m,
  )
  assert.match(repaired.stderr, /^local: the log was written anew: .*make a backup$/m)
  assert.match(repaired.stderr, /^local: repaired, but for what is lost$/m)
  const again = await serve([], options)
  assert.deepEqual(await read(again, key), [1, 2, 4, 5])
  assert.equal((await write(again, key, [6])).status, 200)
  await again.kill()
  const last = await serve([], options)
  assert.deepEqual(await read(last, key), [1, 2, 4, 5, 6])
  await last.stop()
  const sound = await tidemark(['check', '--repair'], options)
  assert.deepEqual([sound.code, sound.stderr], [0, ''])
})

test('what is intact of a damaged file is kept by a repair, which needs the service to be stopped', async () => {
  const cwd = await temporaryFolder()
  const options = { cwd, env: { TIDEMARK_LOG_LEVEL: 'error' } }
  const first = await serve([], options)
  const key = first.writeKey
  await writeAll(first, key, 0, 70)
  // They are flushed when nothing more comes for a while.
  const parts = join(dataOf(cwd), 'parts')
  while (readdirSync(parts).length === 0) await wait(50)
  assert.equal((await write(first, key, [1, 2])).status, 200)
  const busy = await tidemark(['check', '--repair'], options)
  assert.equal(busy.code, 1)
  assert.match(busy.stderr, /is in use by a running tidemark/)
  await first.stop()
  flipBit(parts, '.part', () => 200)
  assert.equal((await tidemark(['check'], options)).code, 4)

  const repaired = await tidemark(['check', '--repair'], options)
  assert.equal(repaired.code, 0, repaired.stdout + repaired.stderr)
  assert.match(repaired.stderr, /local: \S+\.part was moved to the folder damaged/)
  assert.match(repaired.stderr, /local: lost: /)
  const lost = repaired.stderr.split('\n').filter((line) => line.startsWith('local: lost: '))
  const inReport = /^local: what is lost is also written in the folder damaged: (repair-\S+\.txt)$/m
  const report = join(dataOf(cwd), 'damaged', inReport.exec(repaired.stderr)![1]!)
  for (const line of lost)
    assert.ok(readFileSync(report, 'utf8').includes(line.slice('local: '.length)), line)
  // As a repair leaves it that is killed before it said this.
  renameSync(report, `${report}.new`)
  const repeated = await tidemark(['check', '--repair'], options)
  assert.equal(repeated.code, 0, repeated.stdout + repeated.stderr)
  assert.deepEqual(repeated.stderr.trim().split('\n'), [
    ...lost,
    inReport.exec(repaired.stderr)![0],
    'local: nothing else is damaged: this is of an earlier repair, which did not end',
  ])
  const again = await serve([], options)
  assert.deepEqual(await read(again, key), [1, 2])
  assert.equal((await write(again, key, [3])).status, 200)
  await again.stop()
  const sound = await tidemark(['check', '--repair'], options)
  assert.deepEqual([sound.code, sound.stderr], [0, ''])
})

test('raw points are answered beside damaged ones with a warning; what would be a wrong number is an error', async () => {
  const cwd = await temporaryFolder()
  const options = { cwd, env: { TIDEMARK_LOG_LEVEL: 'error' } }
  const first = await serve([], options)
  const key = first.writeKey
  // Values of many digits, so that the tags take more than one page.
  await writeAll(first, key, 0, 70, Math.sqrt)
  const parts = join(dataOf(cwd), 'parts')
  while (readdirSync(parts).length === 0) await wait(50)
  await writeAll(first, key, 100, 5)
  await first.stop()
  // The first page of small runs: not that of tag 299.
  flipBit(parts, '.part', () => 200)
  const service = await serve([], { cwd, env: { TIDEMARK_LOG_LEVEL: 'warn' } })
  const site = await siteOf(service, key)

  for (const [asked, historian, own] of [
    [service, 'local', key],
    [site, 'hq', site.writeKey],
  ] as const) {
    const ask = async (requests: object) =>
      (await asked.post('/historian/multi', { format: 'columns', requests }, own)).body
    const tag = `${historian}/0`
    const details = { from: START_MS, to: START_MS + 86_400_000 }
    const raw = await ask({ a: { type: 'RAW_POINTS', tag, details } })
    assert.deepEqual(raw.errors, {})
    // biome-ignore lint/suspicious/noExplicitAny: an answer is looked into
    const { values } = (raw.results as any).a.dataPoints
    assert.deepEqual(values, [100, 101, 102, 103, 104])
    const from = '2026-01-01T00:00:00.000Z'
    assert.deepEqual(raw.missing, { a: [{ from, to: '2026-01-01T00:01:09.000001Z' }] })
    const left = `from ${from} to 2026-01-01T00:01:09.000Z are left out as far as they cannot be read`
    assert.deepEqual(raw.warnings, [`Points of ${tag} ${left}: what is stored of them is damaged`])

    const last = await ask({ a: { type: 'RAW_POINTS', tag, details: { last: 3 } } })
    // The newest points lie beside the damage.
    assert.deepEqual([last.missing, last.warnings], [undefined, undefined])
    const newest = await ask({
      a: { type: 'CURRENT_POINT', tag },
      b: { type: 'RAW_POINTS', tag: `${historian}/299`, details },
    })
    assert.deepEqual([newest.errors, newest.warnings], [{}, undefined])

    const aggregated = { ...details, aggregates: ['AVG', 'COUNT'] }
    const wrong = await ask({
      aggregate: { type: 'AGGREGATED_POINTS', tag, details: aggregated },
      calculated: { type: 'RAW_POINTS', tag: `calc/ADD(${tag},1)`, details },
      interpolated: { type: 'INTERPOLATED_POINTS', tag, details: { ...details, count: 10 } },
      before: { type: 'POINT_BEFORE', tag, details: { at: START_MS + 50_000 } },
      intact: { type: 'AGGREGATED_POINTS', tag, details: { ...aggregated, from: START_MS + 100_000 } },
    })
    assert.deepEqual(Object.keys(wrong.results as object), ['intact'])
    const codes = (wrong.issues as { readonly code: string }[]).map(({ code }) => code)
    assert.deepEqual(codes, Array(4).fill('STORAGE_CORRUPT'), JSON.stringify(wrong))
    assert.equal(wrong.warnings, undefined)
  }
  assert.match(service.stderr(), /checksum of a page is wrong/)
  await site.stop()
  await service.stop()
  const exported = await tidemark(['export', 'local/0'], options)
  assert.equal(exported.code, 3, exported.stderr)
  assert.match(exported.stderr, /Points of local\/0 from 2026-01-01T00:00:00/)
  assert.equal(exported.stdout.trim().split('\n').length, 1 + 5)
  for (const output of ['--csv', '--json']) {
    const range = ['--from', '2026-01-01', '--to', '2026-01-02']
    const queried = await tidemark(['query', 'local/0', ...range, output], options)
    assert.equal(queried.code, 3, queried.stderr)
    assert.match(
      queried.stderr,
      /Points of local\/0 from 2026-01-01T00:00:00.*\n.*Not everything is in the answer/,
    )
  }
  const newest = await tidemark(['query', 'local/0', '--last', '3'], options)
  assert.equal(newest.code, 0, newest.stderr)
})

/** Another instance in which the historian is called `hq`. */
async function siteOf(service: RunningService, key: string): Promise<RunningService> {
  const cwd = await temporaryFolder()
  const hq = `{type: tidemark, url: "${service.url}", historian: local, key: {env: TIDEMARK_HQ_KEY}}`
  writeFileSync(join(cwd, 'tidemark.yaml'), `historians:\n  hq: ${hq}\n`)
  return serve([], { cwd, env: { TIDEMARK_LOG_LEVEL: 'error', TIDEMARK_HQ_KEY: key } })
}

test('a backup beside a service takes what still stands in the log, and is restored by copying', async () => {
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

/** Writes points to each of 300 tags. */
/** The same points, one a second, for each of 300 tags; a value is its number unless it is said otherwise. */
async function writeAll(
  service: RunningService,
  key: string,
  from: number,
  count: number,
  valueAt = (number: number) => number,
) {
  const numbers = Array.from({ length: count }, (_, i) => from + i)
  const points = pointsOf(numbers).map((point) => ({ ...point, value: valueAt(point.value) }))
  const tags = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`local/${i}`, points]))
  assert.equal(
    (await service.post('/historian/write/points', { createTags: true, points: tags }, key)).status,
    200,
  )
}

test('while points cannot be flushed, writes are taken in every worker, and the log and the readiness say so', async () => {
  const cwd = await temporaryFolder()
  const service = await serve(['--workers', '2'], { cwd, env: { TIDEMARK_LOG_LEVEL: 'error' } })
  const key = service.writeKey
  assert.equal((await write(service, key, [0])).status, 200)
  // No part can be made where a file stands in place of their folder.
  const parts = join(dataOf(cwd), 'parts')
  renameSync(parts, `${parts}.away`)
  writeFileSync(parts, '')
  // Enough of them to be flushed when nothing more comes.
  await writeAll(service, key, 1_000, 100)
  while (!service.stderr().includes('cannot be moved')) await wait(20)
  for (let i = 0; i < 10; i++) assert.equal((await write(service, key, [i])).status, 200)
  assert.equal(service.stderr().match(/cannot be moved/g)!.length, 1)
  // One worker hears of it before the other, and either may answer.
  let inARow = 0
  const areTold = async () => {
    const { status, body } = await ready(service, key)
    const [historian] = body.historians as { readonly state: string; readonly reason?: string }[]
    assert.deepEqual([status, body.status, historian!.state], [200, 'ready', 'up'])
    const isTold = /^points cannot be moved from memory into parts: /.test(historian!.reason ?? '')
    inARow = isTold ? inARow + 1 : 0
    return inARow >= 6
  }
  await until(areTold, 'all workers say so')
  rmSync(parts)
  renameSync(`${parts}.away`, parts)
  assert.equal((await write(service, key, [11])).status, 200)
  assert.equal(await service.stop(), 0)
  assert.equal((await tidemark(['check'], { cwd })).code, 0)
})

/** The historian's folder, in the data directory that a service makes where it is started. */
function dataOf(cwd: string): string {
  return join(cwd, 'data', 'historians', 'local')
}
