import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type RunningService, serve, temporaryFolder, tidemark } from '../cli/run.ts'
import { freePort } from '../servers/required.ts'
import { untilDone } from '../until.ts'
import { callService, differenceOfService, isUnanswered } from './kill-calls.ts'
import { KillModel, requestOf, WRITERS } from './kill-plan.ts'
import { workersOf } from './worker-processes.ts'

/** Rounds under load, each of which ends by a kill; more with OWNER_WORKER_KILLS=n. */
const ROUNDS = Number(process.env.OWNER_WORKER_KILLS ?? 6)

/** Who is killed, in turn: all in both, at once. */
const VICTIMS = ['owner', 'worker', 'both'] as const
type Victims = (typeof VICTIMS)[number]

/** Makes one request of the plan after the other. */
class PlanWriter {
  /** The last request that was answered. */
  sequence: number
  unanswered = 0
  readonly #service: RunningService
  readonly #key: string
  readonly #writer: number
  #isOver = false
  #isAbandoned = false
  readonly #running: Promise<void>

  /** @param after  the last request that is there */
  constructor(service: RunningService, key: string, writer: number, after: number) {
    this.#service = service
    this.#key = key
    this.#writer = writer
    this.sequence = after
    this.#running = this.#run()
  }

  /** Ends it after the request that is on its way. */
  async stop(): Promise<void> {
    this.#isOver = true
    await this.#running
  }

  /** To be called when nobody answers any more: what was not answered is not made again. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true
    await this.stop()
  }

  async #run(): Promise<void> {
    for (let isAgain = false; !this.#isAbandoned && (!this.#isOver || isAgain); ) {
      try {
        const request = requestOf(this.#writer, this.sequence + 1)
        await callService(this.#service, this.#key, request, isAgain)
        this.sequence++
        isAgain = false
      } catch (error) {
        if (!isUnanswered(error)) throw error
        this.unanswered++
        isAgain = true
        await wait(5)
      }
    }
  }
}

/** Kills them, and gives whether somebody is left to go on. */
async function killSome(service: RunningService, victims: Victims, round: number): Promise<boolean> {
  const workers = workersOf(service)
  assert.ok(workers.length > 0)
  if (victims !== 'owner') {
    for (const pid of victims === 'both' ? workers : [workers[round % workers.length]!]) {
      process.kill(pid, 'SIGKILL')
    }
  }
  if (victims === 'worker') return true
  await service.kill()
  return false
}

test('owner, workers or both killed amid appends, overwrites, deletions and renames lose nothing acknowledged', {
  skip: process.platform !== 'linux' && 'looks for processes in /proc',
}, async (t) => {
  const cwd = await temporaryFolder()
  const models = Array.from({ length: WRITERS }, (_, writer) => new KillModel(writer))
  let key = ''
  const start = async () => {
    // Workers of the one before may still have its port.
    const args = ['--workers', '2', '--port', String(await freePort())]
    const service = await serve(args, { cwd, env: { TIDEMARK_LOG_LEVEL: 'error' } })
    key ||= service.writeKey
    return service
  }
  const differenceOf = (service: RunningService, writer: number) =>
    untilDone(
      () => differenceOfService(service, key, writer, models[writer]!),
      // Connections of a worker that was killed.
      isUnanswered,
    )
  let service = await start()
  let unanswered = 0
  let found = 0
  for (let round = 0; round < ROUNDS; round++) {
    const victims = VICTIMS[round % VICTIMS.length]!
    const writers = models.map(({ sequence }, writer) => new PlanWriter(service, key, writer, sequence))
    const least = 10 + Math.floor(Math.random() * 20)
    while (writers.some(({ sequence }, writer) => sequence < models[writer]!.sequence + least)) await wait(5)
    await wait(Math.random() * 10)
    const goesOn = await killSome(service, victims, round)
    await Promise.all(writers.map((writer) => (goesOn ? writer.stop() : writer.abandon())))
    if (!goesOn) service = await start()
    for (const [writer, { sequence, unanswered: again }] of writers.entries()) {
      models[writer]!.advanceTo(sequence)
      unanswered += again
      const difference = await differenceOf(service, writer)
      if (difference === null) continue
      assert.ok(!goesOn, `round ${round}, ${victims}: ${difference}`)
      // One request was on its way: it may be there, wholly.
      models[writer]!.advanceTo(sequence + 1)
      found++
      assert.equal(await differenceOf(service, writer), null, `round ${round}, ${victims}: ${difference}`)
    }
  }
  assert.equal(await service.stop(), 0)
  const check = await tidemark(['check'], { cwd })
  assert.equal(check.code, 0, check.stderr)
  const requests = models.map(({ sequence }) => sequence)
  t.diagnostic(
    `${ROUNDS} kills, ${requests.join(' + ')} requests, ${unanswered} tries without an answer, ${found} of them there after a start`,
  )
})
