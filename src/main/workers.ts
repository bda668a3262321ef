import type { AddressInfo } from 'node:net'
import { presentInstant } from '../cli/clock.ts'
import type { FirstKeyPlace, Service } from '../cli/tools.ts'
import type { PrimaryProcess, WorkerService } from '../cluster/worker.ts'
import type { Settings } from '../config/settings.ts'
import type { QueryMeter } from '../historian/remote/meter.ts'
import { loadDrivers } from './drivers.ts'
import { closeAll, describe, openHistorians } from './historians.ts'
import { keepHeapSmall, listen, listenError, serviceLog, urlOf } from './listen.ts'
import { needsDataDirectory, openStores } from './stores.ts'

/**
 * Several processes answer at one port. This one owns the data directory and makes all changes of the historians in it;
 * it answers no HTTP itself.
 */
export async function startManyProcesses(settings: Settings, place: FirstKeyPlace): Promise<Service> {
  if (settings.demo) {
    const { CommandError } = await import('../cli/exit.ts')
    throw new CommandError('The demo plant is served by one process: leave --workers or --demo out.', 2)
  }
  const { startWorkers, WorkerEndedBySignal } = await import('../cluster/primary.ts')
  const { withChosenPort } = await import('./chosen-port.ts')
  const { INSTANCE_ID, INSTANCE_VARIABLE } = await import('../historian/remote/hops.ts')
  // The workers are one instance to others, whichever of them is asked.
  process.env[INSTANCE_VARIABLE] = INSTANCE_ID

  const { log } = await serviceLog(settings)
  const needsData = await needsDataDirectory(settings)
  const data = await openStores(settings, { owner: true, needsData }, log)
  const undo: (() => Promise<void>)[] = [() => data.close()]
  try {
    const drivers = await loadDrivers()
    const { deadlineSeconds } = settings.limits
    const local = new Map([...settings.historians].filter(([, { type }]) => drivers.get(type)!.isLocal))
    const historians = await openHistorians(local, { data, log, meters: new Map(), deadlineSeconds })
    undo.push(() => closeAll(historians))
    const owned = new Map(historians.map((historian) => [historian.name, historian]))
    const workers = await startWorkers(settings.server.workers, await withChosenPort(settings), owned, log)
    undo.push(() => workers.stop())
    const { makeFirstKeys } = await import('../cli/first-keys.ts')
    const firstKeys = await makeFirstKeys(data.keys, place, log, presentInstant())
    const { warnOfExpiry } = await import('../config/key-expiry.ts')
    const stopWarnings = warnOfExpiry(data.keys, log, presentInstant)
    keepHeapSmall()
    return {
      url: urlOf(workers.address, settings),
      historians: workers.historians,
      usesDataDir: needsData,
      firstKeys,
      demo: null,
      stop: async () => {
        stopWarnings()
        await workers.stop()
        await closeAll(historians)
        await data.close()
      },
    }
  } catch (error) {
    for (const step of undo.reverse()) await step().catch(() => {})
    if (error instanceof WorkerEndedBySignal) {
      const { StartInterrupted } = await import('../cli/tools.ts')
      throw new StartInterrupted(error.message, { cause: error })
    }
    throw await listenError(error, settings)
  }
}

/** One of the processes that `startManyProcesses` starts. */
export async function startWorker(settings: Settings, primary: PrimaryProcess): Promise<WorkerService> {
  const { queriesOf } = await import('../http/routes/metrics/queries.ts')
  const { log, unhandledRejections } = await serviceLog(settings)
  const needsData = await needsDataDirectory(settings)
  const data = await openStores(settings, { owner: false, needsData }, log)
  const meters = new Map<string, QueryMeter>()
  const historians = await openHistorians(settings.historians, { data, log, meters, primary })
  primary.opensPort()
  const app = await listen({
    settings,
    historians,
    keys: data.keys,
    aliases: data.aliases,
    log,
    meters,
    unhandledRejections,
    ...data.checkStore,
    otherMetrics: () => primary.otherMetrics(),
  })
  keepHeapSmall()
  return {
    address: app.server.address() as AddressInfo,
    historians: historians.map(describe),
    metrics: async () => [
      ...(await app.metrics.list()),
      queriesOf(meters),
      ...(await app.historianMetrics.list()),
    ],
    stop: async () => {
      await app.close()
      await data.close()
    },
  }
}
