import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Ask } from '../client/ask.ts'
import { expect, quantile } from '../measure.ts'
import type { Peer } from './peer.ts'
import { REQUEST_SECONDS } from './server.ts'

/** Requests of one case, sent by so many clients, each of which waits for its answer before it sends the next. */
export interface Load {
  /** Taken in turn, from the first again when there are fewer than calls. */
  readonly asks: readonly Ask[]
  /** What each has to have. */
  readonly has: number
  readonly clients: number
  readonly calls: number
  /**
   * Calls before those that are measured, in as much time at most: server programs that are compiled while they run
   * need thousands of them.
   */
  readonly warmUps: number
  /** No call begins later than this after the first one; there are fewer then. */
  readonly seconds: number
}

export interface LoadResult {
  /** Of each call, with reading its answer, ascending. */
  readonly callMs: readonly number[]
  /** From the first request to the last answer. */
  readonly ms: number
  /** Of `callMs` reading the answer, on average. */
  readonly readingMs: number
  /** Processor time a call, in microseconds: of the server with all its threads and processes, and of this process. */
  readonly serverUs: number
  readonly clientUs: number
  /** This process had its core busy while the server had time left on its own. */
  readonly isClientBound: boolean
  /** Both together had all cores busy: what one of them would do with more is not known. */
  readonly isMachineBound: boolean
}

/** Share of a core's time: what is above it counts as busy. */
const BUSY = 0.9

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Rejects with the reason when a call fails, has something else than was asked for, or takes too long. */
export async function run(peer: Peer, load: Load): Promise<LoadResult> {
  // What was made for the case, and what was left by the last one, is not cleared away while it is measured.
  collectGarbage()
  const timer = new Watchdog(peer)
  try {
    await sendAll({ ...load, calls: load.warmUps }, timer)
    const server = peer.server.processorMs()
    const client = process.cpuUsage()
    const { callMs, ms, readingMs } = await sendAll(load, timer)
    const { user, system } = process.cpuUsage(client)
    const clientMs = (user + system) / 1_000
    const serverMs = peer.server.processorMs() - server
    return {
      callMs: callMs.sort((a, b) => a - b),
      ms,
      readingMs: readingMs / callMs.length,
      serverUs: (serverMs * 1_000) / callMs.length,
      clientUs: (clientMs * 1_000) / callMs.length,
      isClientBound: clientMs >= BUSY * ms && serverMs < BUSY * ms,
      isMachineBound: clientMs + serverMs >= BUSY * availableParallelism() * ms,
    }
  } catch (error) {
    throw timer.hasFired ? new Error(`no answer within ${REQUEST_SECONDS} s`) : error
  } finally {
    timer.stop()
  }
}

async function sendAll({ asks, has, clients, calls, seconds }: Load, timer: Watchdog) {
  const callMs: number[] = []
  let readingMs = 0
  let next = 0
  const began = performance.now()
  const last = began + seconds * 1_000
  const client = async () => {
    while (next < calls) {
      const sent = performance.now()
      if (sent > last) return
      timer.restart()
      const read = await asks[next++ % asks.length]!()
      const came = performance.now()
      const got = read()
      const done = performance.now()
      readingMs += done - came
      callMs.push(done - sent)
      expect(got === has, `${got} of ${has}`)
    }
  }
  const working = Array.from({ length: clients }, client)
  try {
    await Promise.all(working)
  } finally {
    // When one fails the others send nothing more, and have ended before the next case begins.
    next = calls
    await Promise.allSettled(working)
  }
  return { callMs, ms: performance.now() - began, readingMs }
}

/** Breaks off what a peer is asked when no request was sent for too long. */
class Watchdog {
  hasFired = false
  readonly #timer: NodeJS.Timeout

  constructor(peer: Peer) {
    this.#timer = setTimeout(
      () => {
        this.hasFired = true
        peer.interrupt()
      },
      // The server has the time that it is given, and some to say so.
      (REQUEST_SECONDS + 2) * 1_000,
    )
  }

  restart(): void {
    this.#timer.refresh()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}

/** The part of a measurement that a load's result tells. */
export function figures(result: LoadResult) {
  return {
    runs: result.callMs.length,
    medianMs: quantile(result.callMs, 0.5),
    p99Ms: quantile(result.callMs, 0.99),
    note: [
      `us of processor a call: ${whole(result.serverUs)} server / ${whole(result.clientUs)} client`,
      ...(result.readingMs < 0.05 * quantile(result.callMs, 0.5)
        ? []
        : [`reading the answer ${result.readingMs.toFixed(2)} ms`]),
      ...(result.isClientBound ? ['the client is the bottleneck'] : []),
      ...(result.isMachineBound ? ['all cores busy'] : []),
    ].join(', '),
  }
}

function whole(number: number): string {
  return Math.round(number).toLocaleString('en')
}
