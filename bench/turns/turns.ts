import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The longest turns of the event loop of a service while something was measured. */
export interface Turns {
  /** The longest one by the clock, other programs of the machine included. */
  readonly ms: number
  /** The longest one by the processor time of the thread of the event loop, collections of garbage in it included. */
  readonly processorMs: number
  /** When that one began and ended, by the service's `performance.now`. */
  readonly from: number
  readonly to: number
  /** How many there were. */
  readonly turns: number
  /** What that one did, the longest first; empty unless TURNS_PROFILE is 1. */
  readonly steps: readonly string[]
}

/** Times the turns of the event loop of a service that was started with its `environment`. */
export class TurnTimer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'tidemark-turns-'))
  readonly #socket = join(this.#folder, 'socket')
  readonly environment = {
    NODE_OPTIONS: `--import=${join(import.meta.dirname, 'probe.ts')}`,
    TURNS_SOCKET: this.#socket,
  }

  /** Runs a task and gives the longest turns meanwhile. */
  async time(task: () => Promise<unknown>): Promise<Turns> {
    await this.#send('begin')
    await task()
    return JSON.parse(await this.#send('end')) as Turns
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #send(command: string): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const socket = createConnection(this.#socket, () => socket.write(command))
    let text = ''
    socket.on('error', reject).on('data', (chunk) => {
      text += chunk
      if (!text.endsWith('\n')) return
      socket.destroy()
      resolve(text)
    })
    return promise
  }
}
