import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { type Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../client/free-port.ts'
import { memoryOf, processorMs } from '../service.ts'
import type { Turns, TurnTimer } from '../turns/turns.ts'

const PROGRAM = join(import.meta.dirname, '..', '..', 'bin', 'tidemark.js')
const START_MS = 60_000

/** What came of one call: its status and the code of its first issue, or why there was no answer. */
export interface Outcome {
  readonly ms: number
  readonly end: string
}

/**
 * A real service with the default settings that may be hung, filled up or ended by what it is sent. It is started again
 * on the same data, after a kill where it does not answer.
 */
export class Victim {
  readonly #dataDir = mkdtempSync(join(tmpdir(), 'tidemark-adversary-'))
  readonly #env = { ...process.env, TIDEMARK_DATA_DIR: this.#dataDir, TIDEMARK_LOG_LEVEL: 'fatal' }
  readonly #turns: TurnTimer | null
  #child: ChildProcess | null = null
  #key = ''
  port = 0

  /** @param turns times the turns of its event loop */
  constructor(turns: TurnTimer | null = null) {
    this.#turns = turns
  }

  get key(): string {
    return this.#key
  }

  get isRunning(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Anonymous memory now, in MB; NaN where it has ended. */
  get anonymousMb(): number {
    return memoryOf(this.#child?.pid ?? -1).anonymous
  }

  /** Processor time so far, all threads, in ms; NaN where it has ended. */
  get processorMs(): number {
    return processorMs(this.#child?.pid ?? -1)
  }

  async start(): Promise<void> {
    if (this.#key === '') {
      const args = [PROGRAM, 'keys', 'create', '--name', 'bench', '--scope', 'write', '--json']
      this.#key = JSON.parse(execFileSync(process.execPath, args, { env: this.#env, encoding: 'utf8' })).key
    }
    this.port = await freePort()
    const args = ['--max-semi-space-size=8', PROGRAM, 'serve', '--port', String(this.port)]
    const env = { ...this.#env, ...this.#turns?.environment }
    this.#child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'ignore'] })
    const until = performance.now() + START_MS
    while ((await this.send('GET', '/health/live', null, 1_000)).end !== '200') {
      if (performance.now() > until) throw new Error('The service did not start')
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** Runs a task; the longest turns of the event loop meanwhile, or `null` where they are not timed. */
  async timed(task: () => Promise<unknown>): Promise<Turns | null> {
    if (this.#turns !== null) return this.#turns.time(task)
    await task()
    return null
  }

  /** Ends it whatever it is doing, and starts it again. */
  async restart(): Promise<void> {
    await this.#kill()
    await this.start()
  }

  async stop(): Promise<void> {
    await this.#kill()
    rmSync(this.#dataDir, { recursive: true, force: true, maxRetries: 5 })
  }

  /** Never rejects. @param limitMs after which the call is given up; its client has then hung up */
  send(method: string, path: string, body: Buffer | null, limitMs: number, agent?: Agent): Promise<Outcome> {
    const began = performance.now()
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    const end = (what: string) => resolve({ ms: performance.now() - began, end: what })
    const headers = {
      'x-api-key': this.#key,
      ...(body !== null && { 'content-type': 'application/json', 'content-length': body.length }),
    }
    const signal = AbortSignal.timeout(limitMs)
    const call = request({ port: this.port, method, path, headers, agent, signal }, (answer) => {
      let head = ''
      let tail = ''
      answer.setEncoding('latin1').on('data', (text: string) => {
        if (head.length < 2_000) head += text
        tail = (tail + text).slice(-2_000)
      })
      answer.on('end', () => {
        const code = /"code":"(\w+)"/.exec(head) ?? /"code":"(\w+)"/.exec(tail)
        end(code === null ? String(answer.statusCode) : `${answer.statusCode} ${code[1]}`)
      })
      answer.on('error', () => end('cut off'))
    })
    call.on('error', () => end(signal.aborted ? 'no answer' : 'connection lost'))
    call.end(body ?? undefined)
    return promise
  }

  async #kill(): Promise<void> {
    if (!this.isRunning) return
    const gone = new Promise((resolve) => this.#child!.once('exit', resolve))
    this.#child!.kill('SIGKILL')
    await gone
  }
}
