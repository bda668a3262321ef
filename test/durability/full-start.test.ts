import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type RunningService, serve, temporaryFolder, tidemark } from '../cli/run.ts'
import { findServer } from '../servers/required.ts'
import { until } from '../until.ts'
import { mountQuota, noQuota } from './quota-mount.ts'
import { fillDisk, mountSmallDisk, noSmallDisk } from './small-disk-mount.ts'

const prlimit = findServer('prlimit', 'prlimit')
const START_MS = Date.UTC(2026, 0, 1)
/** More than the values that are written before. */
const LAST = 9_999_999

const write = (service: RunningService, key: string, value: number) =>
  service.post(
    '/historian/write/points',
    { createTags: true, points: { 'local/A': [{ timestamp: START_MS + value, value }] } },
    key,
  )

const newest = async (service: RunningService, key: string) => {
  const requests = { a: { type: 'CURRENT_POINT', tag: 'local/A', details: { now: START_MS + LAST + 1 } } }
  const { body } = await service.post('/historian/multi', { requests }, key)
  return (body.results as { a: { dataPoint: { value: number } } }).a.dataPoint.value
}

const ready = async (service: RunningService, key: string) => {
  const response = await fetch(`${service.url}/health/ready`, { headers: { 'X-Api-Key': key } })
  const { historians } = (await response.json()) as { historians: { state: string; reason?: string }[] }
  return historians[0]!
}

for (const workers of ['1', '2']) {
  test(`a service of ${workers} that starts on a full disk answers reads, refuses changes, and makes them once there is room`, {
    skip: prlimit.skip,
  }, async () => {
    const cwd = await temporaryFolder()
    const first = await serve([], { cwd })
    const key = first.writeKey
    assert.equal((await write(first, key, 1)).status, 200)
    await first.kill()

    // No file may grow, which looks like a full disk.
    const node = join(cwd, 'limited-node')
    writeFileSync(node, `#!/bin/bash\ntrap '' XFSZ\nulimit -S -f 0\nexec '${process.execPath}' "$@"\n`)
    chmodSync(node, 0o755)
    const service = await serve(['--workers', workers], { cwd, node })
    const isTold = () => /there is no room to become the owner of the data/.test(service.stderr())
    await until(isTold, 'it is told')
    assert.equal(await newest(service, key), 1)
    const refused = await write(service, key, 2)
    assert.equal(refused.status, 503)
    const because = /there was no room to become the owner of its data, which are only read until there is/
    assert.match(JSON.stringify(refused.body), because)
    const { body } = await service.post(
      '/historian/metadata/create',
      { entries: { 'local/B': { description: null, units: null, stepped: false } } },
      key,
    )
    assert.match(JSON.stringify(body), because)
    const before = await ready(service, key)
    assert.equal(before.state, 'degraded')
    assert.match(before.reason!, because)
    assert.equal(await newest(service, key), 1)

    limitFiles(service.pid, 'unlimited')
    while ((await write(service, key, 3)).status !== 200) await wait(100)
    assert.equal(await newest(service, key), 3)
    while ((await ready(service, key)).state !== 'up') await wait(100)
    // Now it is the owner as any other.
    const second = await tidemark(['serve', '--port', '0'], { cwd })
    assert.equal(second.code, 1)
    assert.match(second.stderr, /is in use by a running tidemark/)
    assert.equal(await service.stop(), 0)
    assert.equal((await tidemark(['check'], { cwd })).code, 0)
  })
}

/** What a service meets while it runs: a disk that is full, a quota, or a limit of file sizes (RLIMIT_FSIZE). */
const LIMITS = [
  {
    name: 'whose disk is full',
    skip: noSmallDisk,
    folder: async (t: TestContext) => mountSmallDisk(t, 64),
    reason: /the disk is full/g,
    meet: (_: RunningService, cwd: string) => fillDisk(join(cwd, 'filler')),
    end: (_: RunningService, cwd: string) => rmSync(join(cwd, 'filler')),
  },
  {
    name: 'whose quota is used up',
    skip: noQuota,
    folder: async (t: TestContext) => mountQuota(t, 64),
    reason: /the disk quota is used up/g,
    meet: (_: RunningService, cwd: string) => fillDisk(join(cwd, 'filler')),
    end: (_: RunningService, cwd: string) => rmSync(join(cwd, 'filler')),
  },
  {
    name: 'whose files may not grow',
    skip: prlimit.skip,
    folder: temporaryFolder,
    reason: /the file may not grow any further/g,
    meet: ({ pid }: RunningService) => limitFiles(pid, '0'),
    end: () => {},
  },
] as const

/** Files of a process may have so many bytes. */
function limitFiles(pid: number, bytes: string): void {
  execFileSync(prlimit.path!, ['--pid', String(pid), `--fsize=${bytes}:`])
}

for (const [workers, limit] of LIMITS.flatMap((one) => [['1', one] as const, ['2', one] as const])) {
  test(`a service of ${workers} ${limit.name} lives on however many writes fail, and ends quietly`, {
    skip: limit.skip,
  }, async (t) => {
    const cwd = await limit.folder(t)
    const service = await serve(['--workers', workers], { cwd })
    const key = service.writeKey
    assert.equal((await write(service, key, 1)).status, 200)
    limit.meet(service, cwd)
    // What the service has of the disk lasts for some more.
    let value = 2
    while ((await write(service, key, value)).status === 200) value++
    for (let i = 0; i < 200; i++) {
      const { status, body } = await write(service, key, value + 1 + i)
      assert.equal(status, 503)
      const sentences = body.errors as readonly string[]
      assert.equal(sentences.length, 1, 'a refused write says its sentence')
      assert.equal(sentences[0]!.match(limit.reason)?.length, 1, `once: ${sentences[0]}`)
    }
    assert.equal(await newest(service, key), value - 1)
    assert.equal(await service.stop(), 0)
    assert.doesNotMatch(
      service.stderr(),
      /triggerUncaughtException|Write error|do_write error|Input\/output error/,
    )
    limit.end(service, cwd)
    // Nobody stands in the way.
    const again = await serve([], { cwd })
    assert.equal((await write(again, key, LAST)).status, 200)
    assert.equal(await newest(again, key), LAST)
    assert.equal(await again.stop(), 0)
  })
}

test('a log on a full disk fails no call, and ends no service', {
  skip: prlimit.skip,
}, async () => {
  const cwd = await temporaryFolder()
  const node = join(cwd, 'node')
  const log = join(cwd, 'log')
  writeFileSync(node, `#!/bin/bash\ntrap '' XFSZ\nexec '${process.execPath}' "$@" 2>> '${log}'\n`)
  chmodSync(node, 0o755)
  const service = await serve(['--log-level', 'info'], { cwd, node })
  const key = service.writeKey
  assert.equal((await write(service, key, 1)).status, 200)
  limitFiles(service.pid, '8192')
  for (let i = 0; i < 100; i++) assert.equal(await newest(service, key), 1)
  assert.ok(statSync(log).size <= 8192)
  limitFiles(service.pid, 'unlimited')
  assert.equal(await newest(service, key), 1)
  // What waited for room is written by then.
  await until(() => readFileSync(log, 'utf8').split('\n').length > 100, 'the log has a line of each call')
  assert.equal(await service.stop(), 0)
})
