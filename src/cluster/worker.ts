import type { Settings } from '../config/settings.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { HistorianOwner } from '../historian/driver.ts'
import type { ChangeName, ProcessMetrics, StartedWorker, ToPrimary, ToWorker } from './messages.ts'
import { toWire } from './messages.ts'

/** What a worker runs. */
export interface WorkerService extends StartedWorker {
  /** Metrics of this process. */
  metrics(): Promise<ProcessMetrics>
  /** Finishes what was accepted. */
  stop(): Promise<void>
}

/** What the primary process does for a worker. */
export interface PrimaryProcess {
  /** To be called right before the port is opened: a worker that ends later does not end the service. */
  opensPort(): void
  /** Makes the changes of a historian whose data the primary owns. */
  ownerOf(historian: string): HistorianOwner
  /** Metrics of the other workers; fewer when one does not answer soon. */
  otherMetrics(): Promise<readonly ProcessMetrics[]>
}

/**
 * Runs a worker until the primary says stop, or is gone: then no process makes changes any more, and the process ends
 * at once.
 * @param start  given the settings of the primary, and the primary
 */
export async function runWorker(
  start: (settings: Settings, primary: PrimaryProcess) => Promise<WorkerService>,
): Promise<void> {
  // The primary was notified, too, and says when to end.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  process.on('disconnect', () => process.exit(1))
  const channel = new Channel()
  const settings = await channel.settings
  let service: WorkerService
  try {
    service = await start(settings, channel)
  } catch (error) {
    const { message, code, syscall } = error as NodeJS.ErrnoException
    tell({ type: 'failed', message, code: code ?? null, syscall: syscall ?? null })
    await channel.stopped
    // Whatever it has opened by then must not keep it.
    process.exit(1)
  }
  channel.serve(service)
  const { address, historians } = service
  tell({ type: 'started', address, historians })
  await channel.stopped
  await service.stop()
  end()
}

function end(): void {
  process.removeAllListeners('disconnect')
  process.disconnect?.()
}

interface Waiting {
  resolve(result: never): void
  reject(error: unknown): void
}

class Channel implements PrimaryProcess {
  readonly settings: Promise<Settings>
  readonly stopped: Promise<void>
  readonly #calls = new Map<number, Waiting>()
  #nextCall = 0
  #service: WorkerService | null = null

  constructor() {
    const settings = Promise.withResolvers<Settings>()
    const stopped = Promise.withResolvers<void>()
    this.settings = settings.promise
    this.stopped = stopped.promise
    process.on('message', (message: ToWorker) => {
      switch (message.type) {
        case 'start':
          settings.resolve(message.settings)
          break
        case 'done':
          this.#take(message.id)?.resolve(message.result as never)
          break
        case 'refused':
          this.#take(message.id)?.reject(TidemarkError.restore(message.error))
          break
        case 'all-metrics':
          this.#take(message.id)?.resolve(message.all as never)
          break
        case 'metrics-wanted':
          void this.#giveMetrics(message.id)
          break
        case 'stop':
          stopped.resolve()
      }
    })
  }

  serve(service: WorkerService): void {
    this.#service = service
  }

  ownerOf(historian: string): HistorianOwner {
    return {
      change: (change, args, signal) => this.#change(historian, change as ChangeName, args, signal),
      movedOn: (version) => tell({ type: 'moved-on', historian, version }),
    }
  }

  opensPort(): void {
    tell({ type: 'opens-port' })
  }

  otherMetrics(): Promise<readonly ProcessMetrics[]> {
    return this.#call((id) => ({ type: 'metrics-wanted', id }))
  }

  async #change(
    historian: string,
    change: ChangeName,
    args: readonly unknown[],
    signal: AbortSignal,
  ): Promise<unknown> {
    signal.throwIfAborted()
    let cancel: () => void = () => {}
    const answer = this.#call<unknown>((id) => {
      cancel = () => tell({ type: 'cancel', id, error: toWire(signal.reason) })
      return { type: 'change', id, historian, change, args }
    })
    signal.addEventListener('abort', cancel, { once: true })
    try {
      return await answer
    } catch (error) {
      // The reason was sent to the owner; here it is still the object that the caller gave.
      const reason: unknown = signal.aborted ? signal.reason : null
      if (reason instanceof TidemarkError && (error as TidemarkError).code === reason.code) throw reason
      throw error
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }

  #call<T>(message: (id: number) => ToPrimary): Promise<T> {
    const id = this.#nextCall++
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.#calls.set(id, { resolve, reject })
    try {
      tell(message(id))
    } catch (error) {
      // What cannot be sent is never answered.
      this.#take(id)
      throw error
    }
    return promise
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#calls.get(id)
    this.#calls.delete(id)
    return waiting
  }

  async #giveMetrics(id: number): Promise<void> {
    // A scrape would wait for an answer that never comes: no metrics are better.
    const metrics = (await this.#service?.metrics().catch(() => [])) ?? []
    tell({ type: 'metrics', id, metrics })
  }
}

function tell(message: ToPrimary): void {
  process.send!(message, undefined, undefined, () => {})
}
