import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { connect as connectTls, type PeerCertificate } from 'node:tls'
import { TidemarkError } from '../../src/errors/tidemark-error.ts'
import type { CallContext } from '../../src/historian/contract.ts'
import { MemoryHistorian } from '../contract/memory-historian.ts'
import { until } from '../until.ts'
import { get, LOCAL_KEY, post, READ_KEY, testService } from './service.ts'

class Failing extends MemoryHistorian {
  down = false
  full = false
  override async checkHealth(): Promise<void> {
    if (this.down) throw unreachable(this.name)
  }
  override findTags(...args: Parameters<MemoryHistorian['findTags']>) {
    if (this.down) throw unreachable(this.name)
    return super.findTags(...args)
  }
  override async write(...args: Parameters<MemoryHistorian['write']>) {
    if (this.full)
      throw new TidemarkError('WRITE_FAILED', { historian: this.name, reason: 'the disk is full' })
    return super.write(...args)
  }
  measure() {
    const retention = { watermark: 2_500_000, paused: 'clock', trimmedFiles: 3, removedPoints: 400 } as const
    return { journalPoints: 7, archiveLagSeconds: 61.5, oldest: 1_000_000, newest: 5_500_000, retention }
  }
}

function unreachable(historian: string): TidemarkError {
  return new TidemarkError('HISTORIAN_UNAVAILABLE', { historian, reason: 'connection refused' })
}

const WRITE = { points: { 'local/A': [{ timestamp: 1, value: 2 }] }, createTags: true }
const ready = async (app: ReturnType<typeof testService>['app']) => {
  const { status, text } = await get(app, '/health/ready')
  const body = JSON.parse(text) as { status: string; historians: Record<string, unknown>[] }
  return { http: status, ...body }
}
const lines = async (app: ReturnType<typeof testService>['app'], name: string, key = READ_KEY) => {
  const { text } = await get(app, '/metrics', key === '' ? {} : { 'x-api-key': key })
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`))
    .sort()
}

test('an outage is seen in the metrics: the historian is not up, and refused connections are failures', async () => {
  const local = new Failing('local')
  const { app } = testService({ historians: [local, new MemoryHistorian('lab')] })
  assert.deepEqual(await lines(app, 'tidemark_historian_up'), [
    'tidemark_historian_up{historian="lab",type="memory"} 1',
    'tidemark_historian_up{historian="local",type="memory"} 1',
  ])
  local.down = true
  await post(app, '/historian/metadata/get', { tags: ['local/A'] })
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  assert.deepEqual(await lines(app, 'tidemark_historian_up', LOCAL_KEY), [
    'tidemark_historian_up{historian="",type="memory"} 1',
    'tidemark_historian_up{historian="local",type="memory"} 0',
  ])
  assert.deepEqual(await lines(app, 'tidemark_historian_up', ''), [
    'tidemark_historian_up{historian="",type="memory"} 0',
  ])
  assert.match(
    (await lines(app, 'tidemark_historian_failures_total')).join(),
    /\{historian="local",type="memory",operation="findTags"\} 1/,
  )
})

test('what a historian tells of itself is in the metrics', async () => {
  const { app } = testService({ historians: [new Failing('local')] })
  const { text } = await get(app, '/metrics')
  assert.match(text, /^# TYPE tidemark_historian_journal_points gauge$/m)
  for (const [name, value] of [
    ['journal_points', 7],
    ['oldest_point_timestamp_seconds', 1],
    ['newest_point_timestamp_seconds', 5.5],
    ['archive_lag_seconds', 61.5],
    ['retention_watermark_timestamp_seconds', 2.5],
    ['retention_trimmed_files_total', 3],
    ['retention_removed_points_total', 400],
  ])
    assert.ok(text.includes(`tidemark_historian_${name}{historian="local",type="memory"} ${value}\n`))
  assert.match(text, /^# TYPE tidemark_historian_retention_removed_points_total counter$/m)
  assert.deepEqual(await lines(app, 'tidemark_historian_retention_paused'), [
    'tidemark_historian_retention_paused{historian="local",type="memory",reason="clock"} 1',
    'tidemark_historian_retention_paused{historian="local",type="memory",reason="error"} 0',
  ])
})

test('while writes fail the service is degraded, with the reason, until one succeeds', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const local = new Failing('local')
  const { app } = testService({ historians: [local] })
  assert.deepEqual([(await ready(app)).http, (await ready(app)).status], [200, 'ready'])
  local.full = true
  assert.equal((await post(app, '/historian/write/points', WRITE)).status, 503)
  now += 2_000
  const failing = await ready(app)
  assert.deepEqual([failing.http, failing.status], [200, 'degraded'])
  const [historian] = failing.historians
  assert.equal(historian!.state, 'degraded')
  assert.match(historian!.reason as string, /the disk is full/)
  assert.deepEqual(await lines(app, 'tidemark_historian_takes_changes'), [
    'tidemark_historian_takes_changes{historian="local",type="memory"} 0',
  ])
  local.full = false
  assert.equal((await post(app, '/historian/write/points', WRITE)).status, 200)
  now += 2_000
  assert.equal((await ready(app)).historians[0]!.state, 'up')
})

test('a failure of which nobody has written since is forgotten after five minutes', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const local = new Failing('local')
  const { app } = testService({ historians: [local] })
  local.full = true
  await post(app, '/historian/write/points', WRITE)
  for (const [at, state] of [
    [2_000, 'degraded'],
    [299_000, 'degraded'],
    [301_000, 'up'],
  ] as const) {
    now = at
    assert.equal((await ready(app)).historians[0]!.state, state)
  }
})

test('what the caller did wrong makes nothing degraded', async () => {
  const { app } = testService()
  await post(app, '/historian/write/points', { points: { 'local/NONE': [{ timestamp: 1, value: 1 }] } })
  assert.deepEqual(
    (await lines(app, 'tidemark_historian_takes_changes')).map((line) => line.at(-1)),
    ['1', '1'],
  )
})

test('a historian that cannot be reached is told at the start', async () => {
  const local = new Failing('local')
  local.down = true
  const { listen, logLines } = testService({ historians: [local] })
  await listen()
  await until(
    () => logLines().some((line) => line.includes('historian local is down at the start')),
    'it is told',
  )
})

test('a service that ends amid the check of its start waits for no answer, and says nothing of the historian', async () => {
  const asked = Promise.withResolvers<AbortSignal>()
  class Silent extends MemoryHistorian {
    override checkHealth({ signal }: CallContext): Promise<void> {
      asked.resolve(signal)
      return new Promise(() => {})
    }
  }
  const { app, listen, logLines } = testService({ historians: [new Silent('local')] })
  await listen()
  const signal = await asked.promise
  await app.close()
  assert.ok(signal.aborted)
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(
    logLines().filter((line) => line.includes('at the start')),
    [],
  )
})

test('probes and metrics answer below the base path and without it; nothing else does', async () => {
  const { app } = testService({ server: { basePath: '/tide' } })
  for (const path of ['/health/live', '/health/ready', '/metrics', '/health/live/']) {
    assert.equal((await get(app, path, {})).status, 200, path)
    assert.equal((await get(app, `/tide${path}`, {})).status, 200, path)
  }
  for (const path of ['/historian/list', '/openapi.json', '/docs']) {
    assert.equal((await get(app, path)).status, 404, path)
    assert.ok([200, 302].includes((await get(app, `/tide${path}`)).status), path)
  }
})

test('a traceparent is taken over into the log; a broken one is passed over', async () => {
  const { app, logLines } = testService()
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
  for (const [traceparent, traceId] of [
    [`00-${trace}-00f067aa0ba902b7-01`, trace],
    [`00-${trace}-00f067aa0ba902b7-01-x`, undefined],
    ['nonsense', undefined],
  ] as const) {
    await app.inject({ url: '/historian/list', headers: { 'x-api-key': READ_KEY, traceparent } })
    assert.equal((JSON.parse(logLines().at(-1)!) as { traceId?: string }).traceId, traceId)
  }
})

test('a certificate that is renewed serves new connections without a restart, and a broken one changes nothing', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-tls-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const make = (name: string, file: string) =>
    spawnSync('openssl', [
      ...[
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
      ],
      ...['-subj', `/CN=${name}`, '-keyout', `${file}.key`, '-out', `${file}.pem`],
    ])
  if (make('first', join(folder, 'a')).status !== 0) return t.skip('openssl is not installed')
  make('second', join(folder, 'b'))
  const use = (name: string) => {
    cpSync(join(folder, `${name}.pem`), certFile)
    cpSync(join(folder, `${name}.key`), keyFile)
  }
  use('a')
  const { listen, logLines } = testService({ server: { tls: { certFile, keyFile } } })
  const port = await listen()
  const served = () =>
    new Promise<string>((resolve, reject) => {
      const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
        resolve(String((socket.getPeerCertificate() as PeerCertificate).subject.CN))
        socket.destroy()
      }).on('error', reject)
    })
  assert.equal(await served(), 'first')
  // A certificate without its key, as between the writing of one file and of the other.
  cpSync(join(folder, 'b.pem'), certFile)
  await until(
    () => logLines().some((line) => line.includes('cannot be used: the former ones are')),
    'it is told',
  )
  assert.equal(await served(), 'first')
  use('b')
  await until(async () => (await served()) === 'second', 'the new one is served')
})
