import cluster, { type Worker } from 'node:cluster'
import { EventEmitter } from 'node:events'
import type { Settings } from '../config/settings.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { CallContext, Historian } from '../historian/contract.ts'
import type { DriverLog } from '../historian/driver.ts'
import {
  CHANGES,
  type ProcessMetrics,
  type StartedWorker,
  type ToPrimary,
  type ToWorker,
  toWire,
} from './messages.ts'

/** Processes that answer HTTP at one port. */
export interface Workers extends StartedWorker {
  /** Lets them finish what was accepted; resolves when all have ended. */
  stop(): Promise<void>
}

/** A worker that ends by itself is started anew after this time, so that one that cannot start does not take a processor. */
const RESTART_MS = 1_000
/** What ends a service, and workers that do not listen to it yet. */
const ENDING: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']
/** All processes are told to end at about the same time: a worker may be gone before this process was told. */
const TOLD_MS = 500
/** How long a scrape waits for the other workers. */
const METRICS_MS = 2_000

/**
 * Starts workers that share a port, and makes their changes of the historians that this process owns.
 * @param historians  those whose data only this process changes, by name
 * Rejects with what kept the first one from starting.
 */
export async function startWorkers(
  count: number,
  settings: Settings,
  historians: ReadonlyMap<string, Historian>,
  log: DriverLog,
): Promise<Workers> {
  cluster.setupPrimary({ serialization: 'advanced' })
  const primary = new Primary(settings, historians, log)
  try {
    const first = await primary.fork()
    const others = await Promise.all(Array.from({ length: count - 1 }, () => primary.fork()))
    void others
    return { ...first, stop: () => primary.stop() }
  } catch (error) {
    await primary.stop()
    throw error
  }
}

class Primary {
  readonly #settings: Settings
  readonly #historians: ReadonlyMap<string, Historian>
  readonly #log: DriverLog
  readonly #workers = new Set<Worker>()
  readonly #scrapes = new EventEmitter<{ metrics: [id: number, worker: Worker, metrics: ProcessMetrics] }>()
  readonly #restarts = new Set<NodeJS.Timeout>()
  #nextScrape = 0
  #isStopping = false

  constructor(settings: Settings, historians: ReadonlyMap<string, Historian>, log: DriverLog) {
    this.#settings = settings
    this.#historians = historians
    this.#log = log
    // Each scrape under way listens.
    this.#scrapes.setMaxListeners(0)
  }

  /** Starts a worker; one that ends later is replaced. */
  async fork(): Promise<StartedWorker> {
    const worker = cluster.fork()
    this.#workers.add(worker)
    const started = Promise.withResolvers<StartedWorker>()
    const calls = new Map<number, AbortController>()
    let isStarted = false
    worker.on('message', (message: ToPrimary) => {
      switch (message.type) {
        case 'started':
          isStarted = true
          started.resolve(message)
          break
        case 'failed':
          started.reject(startError(message))
          send(worker, { type: 'stop' })
          break
        case 'change':
          // What it sent before it ended can arrive afterwards, when nobody makes changes any more.
          if (this.#workers.has(worker)) void this.#change(worker, message, calls)
          break
        case 'cancel':
          calls.get(message.id)?.abort(TidemarkError.restore(message.error))
          break
        case 'metrics-wanted':
          void this.#collect(worker, message.id)
          break
        case 'metrics':
          this.#scrapes.emit('metrics', message.id, worker, message.metrics)
      }
    })
    worker.on('error', (error) => {
      this.#log.error({ err: error, pid: worker.process.pid }, 'a worker process reports an error')
      if (worker.process.pid !== undefined) return
      // The system did not start it: it will not end either.
      this.#workers.delete(worker)
      started.reject(error)
    })
    worker.on('exit', (code, signal) => {
      this.#workers.delete(worker)
      // What it asked for is made all the same: it may be made already.
      const reason = new Error(`a worker ended before it answered (${signal ?? `exit code ${code}`})`)
      if (signal !== null && ENDING.includes(signal as NodeJS.Signals))
        setTimeout(() => started.reject(reason), TOLD_MS)
      else started.reject(reason)
      if (isStarted && !this.#isStopping) this.#replace(worker, signal ?? `exit code ${code}`)
    })
    send(worker, { type: 'start', settings: this.#settings })
    return started.promise
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    for (const timer of this.#restarts) clearTimeout(timer)
    const ends = [...this.#workers].map((worker) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      worker.once('exit', () => resolve())
      // Instead of its end, when the system did not start it.
      worker.once('error', () => {
        if (worker.process.pid === undefined) resolve()
      })
      send(worker, { type: 'stop' })
      return promise
    })
    await Promise.all(ends)
  }

  #replace(worker: Worker, reason: string): void {
    this.#log.error({ pid: worker.process.pid, reason }, 'a worker ended and is started anew')
    const timer = setTimeout(() => {
      this.#restarts.delete(timer)
      this.fork().catch((error: unknown) => {
        if (this.#isStopping) return
        this.#log.error({ err: error }, 'a worker could not be started')
        this.#replace(worker, 'it could not be started')
      })
    }, RESTART_MS)
    this.#restarts.add(timer)
  }

  async #change(
    worker: Worker,
    { id, historian, change, args }: ToPrimary & { type: 'change' },
    calls: Map<number, AbortController>,
  ): Promise<void> {
    const controller = new AbortController()
    calls.set(id, controller)
    try {
      const owned = this.#historians.get(historian)
      if (owned === undefined || !CHANGES.includes(change)) throw new Error('a change that nobody makes')
      const make = owned[change] as (...args: unknown[]) => Promise<unknown>
      const context: CallContext = { signal: controller.signal }
      send(worker, { type: 'done', id, result: await make.call(owned, ...args, context) })
    } catch (error) {
      // A cause stays here: the worker has the sentence alone.
      const isKnown = error instanceof TidemarkError && error.cause === undefined
      if (!isKnown) this.#log.error({ err: error, historian }, 'a change failed')
      send(worker, { type: 'refused', id, error: toWire(error) })
    } finally {
      calls.delete(id)
    }
  }

  /** Asks the other workers for their metrics, and gives them to the one that was asked. */
  async #collect(asking: Worker, id: number): Promise<void> {
    const scrape = this.#nextScrape++
    const others = [...this.#workers].filter((worker) => worker !== asking && worker.isConnected())
    const all: ProcessMetrics[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, METRICS_MS)
    const take = (of: number, _worker: Worker, metrics: ProcessMetrics) => {
      if (of !== scrape) return
      all.push(metrics)
      if (all.length === others.length) resolve()
    }
    this.#scrapes.on('metrics', take)
    for (const worker of others) send(worker, { type: 'metrics-wanted', id: scrape })
    if (others.length > 0) await promise
    clearTimeout(timer)
    this.#scrapes.off('metrics', take)
    send(asking, { type: 'all-metrics', id, all })
  }
}

function send(worker: Worker, message: ToWorker): void {
  // A worker that is gone needs no answer.
  if (worker.isConnected()) worker.send(message, () => {})
}

function startError({ message, code, syscall }: ToPrimary & { type: 'failed' }): Error {
  return Object.assign(new Error(message), code === null ? {} : { code }, syscall === null ? {} : { syscall })
}
