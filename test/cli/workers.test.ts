import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { until, untilDone } from '../until.ts'
import { PROJECT, type RunningService, serve, temporaryFolder } from './run.ts'

const BIN = join(PROJECT, 'bin', 'tidemark.js')
const START = Date.parse('2026-01-01T00:00:00Z')
/** Workers that are killed while others start. */
const START_KILLS = Number(process.env.START_KILLS ?? 8)

/** Posts JSON on a connection of its own, which the service gives to the worker whose turn it is. */
function post(
  service: RunningService,
  path: string,
  body: unknown,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const agent = new Agent({ keepAlive: false })
  return new Promise((resolve, reject) => {
    const sent = request(
      service.url + path,
      {
        method: body === undefined ? 'GET' : 'POST',
        agent,
        headers: { 'Content-Type': 'application/json', 'X-Api-Key': service.writeKey },
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part) => {
          text += part
        })
        response.on('end', () => {
          const isJson = response.headers['content-type']?.includes('json')
          resolve({ status: response.statusCode!, body: isJson ? JSON.parse(text) : { text } })
        })
      },
    )
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

const write = async (service: RunningService, tag: string, points: readonly object[]) => {
  const { status, body } = await post(service, '/historian/write/points', {
    createTags: true,
    points: { [tag]: points },
  })
  assert.deepEqual([status, body.message], [200, 'All points written!'])
}

const countOf = async (service: RunningService, tag: string) => {
  const details = { from: START, to: START + 1e9, aggregates: ['COUNT'] }
  const { body } = await post(service, '/historian/multi', {
    requests: { a: { type: 'AGGREGATED_POINTS', tag, details } },
  })
  assert.deepEqual(body.errors, {})
  return (body.results as { a: { aggregates: [{ count: number }] } }).a.aggregates[0].count
}

/** Ids of the processes that this service's first process started. */
function childrenOf(service: Pick<RunningService, 'pid'>): number[] {
  const parent = service.pid
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const [, ppid] = /^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))!
      return Number(ppid) === parent ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

describe('serve --workers', async () => {
  const cwd = await temporaryFolder()

  const left: ChildProcess[] = []
  after(() => {
    for (const child of left) child.kill('SIGKILL')
  })

  /** Workers, while they start. */
  const startQuietly = (dataDir: string, workers = 3) => {
    const args = [BIN, 'serve', '--workers', String(workers), '--port', '0', '--data-dir', dataDir]
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => {
        output += text
      })
    }
    left.push(child)
    return { child, pid: child.pid!, closed: once(child, 'close'), output: () => output }
  }

  it('shows a write to every worker as soon as it was acknowledged', async () => {
    const service = await serve(['--workers', '2', '--data-dir', 'seen'], { cwd })
    assert.match(service.stdout(), /workers {5}2/)
    for (let i = 0; i < 60; i++) {
      await write(service, 'local/A', [{ timestamp: START + i, value: i }])
      const seen = await Promise.all(Array.from({ length: 4 }, () => countOf(service, 'local/A')))
      assert.deepEqual(seen, [i + 1, i + 1, i + 1, i + 1])
    }
    const removed = await post(service, '/historian/delete/points', {
      ranges: { 'local/A': [{ from: START, to: START + 10 }] },
    })
    assert.deepEqual(removed.body.deleted, { 'local/A': 10 })
    assert.deepEqual(await Promise.all([1, 2, 3].map(() => countOf(service, 'local/A'))), [50, 50, 50])
    const renamed = await post(service, '/historian/metadata/rename', { renames: { 'local/A': 'local/B' } })
    assert.equal(renamed.status, 200)
    assert.deepEqual(await Promise.all([1, 2, 3].map(() => countOf(service, 'local/B'))), [50, 50, 50])
    assert.equal(await service.stop(), 0)
    const again = await serve(['--data-dir', 'seen'], { cwd })
    assert.equal(await countOf({ ...again, writeKey: service.writeKey }, 'local/B'), 50)
    await again.stop()
  })

  it('refuses in a worker with the sentences of one process', async () => {
    const service = await serve(['--workers', '2', '--data-dir', 'refused'], { cwd })
    const missing = { points: { 'local/NONE': [{ timestamp: START, value: 1 }] } }
    const { status, body } = await post(service, '/historian/write/points', missing)
    assert.deepEqual([status, body.errors], [400, ['Tag local/NONE does not exist']])
    await service.stop()
  })

  it('joins the metrics of all workers', async () => {
    const service = await serve(['--workers', '2', '--data-dir', 'metrics'], { cwd })
    for (let i = 0; i < 8; i++) await write(service, 'local/A', [{ timestamp: START + i, value: i }])
    const { body } = await post(service, '/metrics', undefined)
    assert.match(body.text as string, /tidemark_http_requests_total\{[^}]*write\/points[^}]*\} 8\n/)
    await service.stop()
  })

  it('goes on when a worker is killed, and ends when the first process is', {
    skip: process.platform !== 'linux' && 'looks for processes in /proc',
  }, async () => {
    const service = await serve(['--workers', '2', '--data-dir', 'killed'], { cwd })
    await write(service, 'local/A', [{ timestamp: START, value: 1 }])
    const before = childrenOf(service)
    assert.equal(before.length, 2)
    process.kill(before[0]!, 'SIGKILL')
    for (;;) {
      await wait(50)
      const now = childrenOf(service)
      if (now.length === 2 && !now.includes(before[0]!) && service.stderr().match(/listening/g)!.length === 3)
        break
    }
    assert.match(service.stderr(), /a worker ended and is started anew/)
    for (let i = 1; i < 5; i++) {
      await write(service, 'local/A', [{ timestamp: START + i, value: i }])
      assert.deepEqual(await Promise.all([1, 2, 3].map(() => countOf(service, 'local/A'))), [
        i + 1,
        i + 1,
        i + 1,
      ])
    }
    const workers = childrenOf(service)
    await service.kill()
    for (const pid of workers) {
      while (isRunning(pid)) await wait(20)
    }
    const again = await serve(['--data-dir', 'killed'], { cwd })
    assert.equal(await countOf({ ...again, writeKey: service.writeKey }, 'local/A'), 5)
    await again.stop()
  })

  it('starts a worker anew that is killed before all of them are up', {
    skip: process.platform !== 'linux' && 'looks for processes in /proc',
  }, async () => {
    const workers = 6
    const isUp = ({ output }: ReturnType<typeof startQuietly>) => /answers at .*reference/s.test(output())
    let kills = 0
    for (let round = 0; kills < START_KILLS; round++) {
      const started = startQuietly(`dies ${round}`, workers)
      await until(() => /Server listening/.test(started.output()), 'the port answers', 2)
      // In other moments and other workers each round, that which answers already among them.
      const killed = new Set<number>()
      while (killed.size < workers && kills < START_KILLS && !isUp(started)) {
        const alive = childrenOf(started).filter((pid) => !killed.has(pid))
        const pid = alive[(round + killed.size) % alive.length]
        if (pid !== undefined) {
          process.kill(pid, 'SIGKILL')
          killed.add(pid)
          kills++
        }
        await wait(5 + 15 * (round % 7))
        assert.equal(started.child.exitCode, null, started.output())
      }
      await until(() => isUp(started), `the service has started:\n${started.output()}`)
      await until(() => childrenOf(started).length === workers, 'all workers are there')
      const [, url] = /answers at (\S+)/.exec(started.output())!
      // The last kill may have been that of the only one that answered.
      const { status } = await untilDone(() => fetch(`${url}/health/live`), isRefused)
      assert.equal(status, 200)
      started.child.kill('SIGTERM')
      assert.deepEqual(await started.closed, [0, null], started.output())
    }
  })

  it('leaves no traces in the log when the first process is killed while workers start', {
    skip: process.platform !== 'linux' && 'looks for processes in /proc',
  }, async () => {
    for (let round = 0; round < 8; round++) {
      const started = startQuietly(`orphans ${round}`)
      await until(() => childrenOf(started).length > 0, 'a worker starts', 1)
      const workers = () => childrenOf(started)
      await wait(round * 40)
      const orphans = workers()
      started.child.kill('SIGKILL')
      await started.closed
      for (const pid of orphans) await until(() => !isRunning(pid), 'the worker has ended')
      assert.doesNotMatch(started.output(), /Error|EPIPE|node:internal/)
    }
  })

  it('says like one process that something listens at the port already', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const started = serve(['--workers', '2', '--port', String(port), '--data-dir', 'taken'], { cwd })
    await assert.rejects(started, /Something listens at 127\.0\.0\.1, port \d+ already/)
    other.close()
  })

  it('ends quietly when it is told to while its workers start', {
    skip: process.platform !== 'linux' && 'looks for processes in /proc',
  }, async () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const child = spawn(
        process.execPath,
        [BIN, 'serve', '--workers', '3', '--port', '0', '--data-dir', 'told'],
        {
          cwd,
          stdio: ['ignore', 'pipe', 'pipe'],
          env: { ...process.env, TIDEMARK_LOG_LEVEL: 'warn' },
        },
      )
      let output = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (text) => {
          output += text
        })
      }
      const closed = once(child, 'close')
      let workers: number[] = []
      while (workers.length === 0) {
        await wait(1)
        workers = childrenOf({ pid: child.pid! })
      }
      // As Ctrl-C does and systemd: all processes are told, in any order. This one does not listen yet.
      for (const pid of workers) process.kill(pid, signal)
      await wait(20)
      child.kill(signal)
      assert.deepEqual(await closed, [0, null], output)
      assert.match(output, /^Stopped\.\n$/m)
      assert.doesNotMatch(output, /Interrupted|before it answered|"level":[45]0/)
    }
  })

  it('does not serve the demo plant', async () => {
    await assert.rejects(serve(['--workers', '2', '--demo', '--data-dir', 'demo'], { cwd }), /one process/)
  })
})

function isRefused(error: unknown): boolean {
  return (error as { cause?: { code?: unknown } }).cause?.code === 'ECONNREFUSED'
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
