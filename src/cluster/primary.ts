import cluster, { type Worker } from 'node:cluster'
import { EventEmitter, once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Settings } from '../config/settings.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { CallContext, Historian } from '../historian/contract.ts'
import type { DriverLog } from '../historian/driver.ts'
import { closeHandedOver } from './handed-over.ts'
import { mallocSettings } from './malloc-settings.ts'
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

/**
 * A worker that ends by itself is started anew after this time, so that one that cannot start does not take a
 * processor.
 */
const RESTART_MS = 1_000
const ORPHAN = fileURLToPath(new URL('./orphan.ts', import.meta.url))
/** What ends a service, and workers that do not listen to it yet. */
const ENDING: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']
/** All processes are signalled at about the same time: a worker may be gone before this process was signalled. */
const TOLD_MS = 500
/** How long a scrape waits for the other workers. */
const METRICS_MS = 2_000

/**
 * Starts workers that share a port, and makes their changes of the historians that this process owns.
 * @param historians  those whose data only this process changes, by name
 * @returns           resolves when the first one has answered, each of the others does or has failed once, and one of
 *   them answers now; those that failed are tried again. Rejects with what kept the first one from starting, with a
 *   WorkerEndedBySignal when a signal ended it
 */
export async function startWorkers(
  count: number,
  settings: Settings,
  historians: ReadonlyMap<string, Historian>,
  log: DriverLog,
): Promise<Workers> {
  const execArgv = cluster.settings.execArgv ?? process.execArgv
  cluster.setupPrimary({ serialization: 'advanced', execArgv: [...execArgv, '--require', ORPHAN] })
  const primary = new Primary(settings, historians, log)
  try {
    const first = await primary.forkFirst()
    // The port answers: from now on no worker ends the service.
    await Promise.all(Array.from({ length: count - 1 }, () => primary.forkOther()))
    await primary.answering()
    return { ...first, stop: () => primary.stop() }
  } catch (error) {
    await primary.stop()
    throw error
  }
}

/** A worker that was ended by one of the signals that end a service, before it answered. */
export class WorkerEndedBySignal extends Error {
  override readonly name = 'WorkerEndedBySignal'
}

/** A worker that ended while it opened its port or afterwards, and before it was known to answer. */
class WorkerLost extends Error {
  override readonly name = 'WorkerLost'
}

class Primary {
  readonly #settings: Settings
  readonly #historians: ReadonlyMap<string, Historian>
  readonly #log: DriverLog
  readonly #workers = new Set<Worker>()
  /** Those of them that answer. */
  readonly #answering = new Set<Worker>()
  readonly #starts = new EventEmitter<{ started: [] }>()
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
    const worker = cluster.fork(mallocSettings())
    closeHandedOver(worker)
    this.#workers.add(worker)
    this.#readsAt(worker, 0)
    const started = Promise.withResolvers<StartedWorker>()
    const calls = new Map<number, AbortController>()
    let opensPort = false
    let isStarted = false
    worker.on('message', (message: ToPrimary) => {
      switch (message.type) {
        case 'opens-port':
          opensPort = true
          break
        case 'started':
          isStarted = true
          // It may have ended by now.
          if (this.#workers.has(worker)) this.#answering.add(worker)
          this.#starts.emit('started')
          started.resolve(message)
          break
        case 'failed':
          started.reject(startError(message))
          send(worker, { type: 'stop' })
          break
        case 'change':
          // What it sent before it ended can arrive afterwards, when no process makes changes any more.
          if (this.#workers.has(worker)) void this.#change(worker, message, calls)
          break
        case 'moved-on':
          if (this.#workers.has(worker))
            this.#historians.get(message.historian)?.readerAt?.(worker.id, message.version)
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
      this.#readsAt(worker, null)
      started.reject(error)
    })
    worker.on('exit', (code, signal) => {
      this.#workers.delete(worker)
      this.#answering.delete(worker)
      this.#readsAt(worker, null)
      // The change that it requested is made all the same: it may be made already.
      const sentence = `a worker ended before it answered (${signal ?? `exit code ${code}`})`
      const ended = () => {
        if (signal !== null && ENDING.includes(signal as NodeJS.Signals))
          setTimeout(() => started.reject(new WorkerEndedBySignal(sentence)), TOLD_MS)
        else started.reject(opensPort ? new WorkerLost(sentence) : new Error(sentence))
        if (isStarted && !this.#isStopping) this.#replace(worker, signal ?? `exit code ${code}`)
      }
      // What it sent before it ended may still be on its way.
      if (worker.isConnected()) worker.once('disconnect', ended)
      else ended()
    })
    send(worker, { type: 'start', settings: this.#settings })
    return started.promise
  }

  /**
   * Starts the first worker, again and again where it ends after its port may be open: clients may have met it already.
   * Rejects with what kept it from opening the port, and with a WorkerEndedBySignal.
   */
  async forkFirst(): Promise<StartedWorker> {
    let wasOpen = false
    for (;;) {
      try {
        return await this.fork()
      } catch (error) {
        wasOpen ||= error instanceof WorkerLost
        if (!wasOpen || error instanceof WorkerEndedBySignal) throw error
        this.#log.error({ err: error }, 'a worker could not be started')
        await wait(RESTART_MS)
      }
    }
  }

  /** Resolves when a worker answers; all that did may have ended meanwhile. */
  async answering(): Promise<void> {
    while (this.#answering.size === 0) await once(this.#starts, 'started')
  }

  /** Starts a worker beside one that answers. Never rejects: one that does not start is tried again with pauses. */
  async forkOther(): Promise<void> {
    try {
      await this.fork()
    } catch (error) {
      this.#retry(error)
    }
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

  /** Files that a worker may need stay. */
  #readsAt({ id }: Worker, version: 0 | null): void {
    for (const historian of this.#historians.values()) historian.readerAt?.(id, version)
  }

  #replace(worker: Worker, reason: string): void {
    this.#log.error({ pid: worker.process.pid, reason }, 'a worker ended and is started anew')
    this.#forkLater()
  }

  #retry(error: unknown): void {
    if (this.#isStopping) return
    this.#log.error({ err: error }, 'a worker could not be started')
    this.#forkLater()
  }

  #forkLater(): void {
    const timer = setTimeout(() => {
      this.#restarts.delete(timer)
      this.fork().catch((error: unknown) => this.#retry(error))
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

  /** Collects the metrics of the other workers, for the one that was scraped. */
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
