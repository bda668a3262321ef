import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type RunningService, serve, temporaryFolder, tidemark } from '../cli/run.ts'
import { freePort } from '../servers/required.ts'
import { workersOf } from './worker-processes.ts'

/** Workers that are killed one after the other; more with WORKER_KILLS=n. */
const KILLS = Number(process.env.WORKER_KILLS ?? 4)
const WRITERS = 4
const START_MS = Date.UTC(2026, 0, 1)

const tagOf = (writer: number) => `local/W${writer}`

/** Writes one request after the other; one that was not answered is written again. */
class RestlessWriter {
  acknowledged = 0
  unanswered = 0
  readonly #service: RunningService
  readonly #writer: number
  #isOver = false
  readonly #running: Promise<void>

  constructor(service: RunningService, writer: number) {
    this.#service = service
    this.#writer = writer
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#running
  }

  async #run(): Promise<void> {
    // What was not answered may be there: it is written until it is.
    for (let isOpen = false; !this.#isOver || isOpen; ) {
      const sequence = this.acknowledged + 1
      const point = { timestamp: START_MS + sequence * 1_000, value: sequence }
      const body = { createTags: true, points: { [tagOf(this.#writer)]: [point] } }
      const answer = await this.#service.post('/historian/write/points', body).catch(() => null)
      if (answer === null) {
        this.unanswered++
        isOpen = true
        await wait(5)
        continue
      }
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      this.acknowledged++
      isOpen = false
    }
  }
}

async function valuesOf(service: RunningService, writer: number): Promise<readonly number[]> {
  const details = { from: START_MS, to: START_MS + 1e9, maxPoints: 20_000 }
  const requests = { a: { type: 'RAW_POINTS', tag: tagOf(writer), details } }
  const { body } = await service.post('/historian/multi', { format: 'columns', requests })
  assert.deepEqual(body.errors, {})
  // biome-ignore lint/suspicious/noExplicitAny: an answer is looked into
  return (body.results as any).a.dataPoints.values
}

test('workers that are killed under load lose nothing that was acknowledged, and are started anew', {
  skip: process.platform !== 'linux' && 'looks for processes in /proc',
}, async (t) => {
  const cwd = await temporaryFolder()
  // Nobody listens while the last worker is started anew: at a port that the system chose it would be another one then.
  const port = String(await freePort())
  const service = await serve(['--workers', '2', '--port', port], {
    cwd,
    env: { TIDEMARK_LOG_LEVEL: 'error' },
  })
  const writers = Array.from({ length: WRITERS }, (_, writer) => new RestlessWriter(service, writer))
  for (let kill = 0; kill < KILLS; kill++) {
    const before = writers.map(({ acknowledged }) => acknowledged)
    // All writers have got on since the last kill, whichever of the workers answers them.
    while (writers.some(({ acknowledged }, writer) => acknowledged < before[writer]! + 3)) await wait(5)
    const workers = workersOf(service)
    process.kill(workers[kill % workers.length]!, 'SIGKILL')
    const seen = writers.map(({ acknowledged }) => acknowledged)
    for (const [writer, count] of seen.entries()) {
      const values = await untilAnswered(() => valuesOf(service, writer))
      assert.ok(values.length >= count, `writer ${writer}: ${values.length} of ${count}`)
    }
  }
  await Promise.all(writers.map((writer) => writer.stop()))
  for (const [writer, { acknowledged }] of writers.entries()) {
    const values = await untilAnswered(() => valuesOf(service, writer))
    assert.deepEqual(
      values,
      Array.from({ length: acknowledged }, (_, i) => i + 1),
      `writer ${writer}`,
    )
  }
  while (workersOf(service).length < 2) await wait(20)
  assert.match(service.stderr(), /a worker ended and is started anew/)
  assert.equal(await service.stop(), 0)
  const check = await tidemark(['check'], { cwd })
  assert.equal(check.code, 0, check.stderr)
  const requests = writers.map(({ acknowledged }) => acknowledged)
  const unanswered = writers.reduce((sum, one) => sum + one.unanswered, 0)
  t.diagnostic(`${KILLS} kills, ${requests.join(' + ')} requests, ${unanswered} tried again`)
})

test('a connection on its way to a worker that is killed is closed, and does not wait for ever', {
  skip: process.platform !== 'linux' && 'looks for processes in /proc',
}, async () => {
  const cwd = await temporaryFolder()
  const port = await freePort()
  const service = await serve(['--workers', '2', '--port', String(port)], {
    cwd,
    env: { TIDEMARK_LOG_LEVEL: 'fatal' },
  })
  while (workersOf(service).length < 2) await wait(20)
  const workers = workersOf(service)
  for (const pid of workers) process.kill(pid, 'SIGSTOP')
  const closed = Array.from({ length: 6 }, async () => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.on('error', () => {})
    socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    // Whether by an answer of the worker that comes next, or by the end of this one.
    await new Promise((resolve) => socket.resume().once('close', resolve))
  })
  // The first process has taken them, and handed some over.
  await wait(200)
  for (const pid of workers) process.kill(pid, 'SIGKILL')
  await Promise.all(closed)
  await service.kill()
})

/** A call whose worker is killed is made again. */
async function untilAnswered<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error
      await wait(5)
    }
  }
}
