import type { AddressInfo } from 'node:net'
import { presentInstant } from '../cli/clock.ts'
import type { FirstKeyPlace, Service } from '../cli/tools.ts'
import { DEMO_HISTORIAN } from '../config/historian-names.ts'
import type { Settings } from '../config/settings.ts'
import type { QueryMeter } from '../historian/remote/meter.ts'
import { closeAll, demoSettings, describe, openHistorians } from './historians.ts'
import { keepHeapSmall, listen, listenError, serviceLog, urlOf } from './listen.ts'
import { needsDataDirectory, openStores } from './stores.ts'

export async function startService(settings: Settings, place: FirstKeyPlace): Promise<Service> {
  if (settings.server.workers > 1) {
    const { startManyProcesses } = await import('./workers.ts')
    return startManyProcesses(settings, place)
  }
  const { startDemo } = await import('../demo/start.ts')
  const { warnOfExpiry } = await import('../config/key-expiry.ts')

  const { log, unhandledRejections } = await serviceLog(settings)
  const needsData = await needsDataDirectory(settings)
  const data = await openStores(settings, { owner: true, needsData }, log)
  const undo: (() => Promise<void>)[] = [() => data.close()]
  try {
    const wanted = new Map(settings.historians)
    if (settings.demo) wanted.set(DEMO_HISTORIAN, await demoSettings())
    const meters = new Map<string, QueryMeter>()
    const { deadlineSeconds } = settings.limits
    const historians = await openHistorians(wanted, { data, log, meters, deadlineSeconds })
    undo.push(() => closeAll(historians))

    const plant = historians.find(({ name }) => settings.demo && name === DEMO_HISTORIAN)
    const demo = plant === undefined ? null : await startDemo(plant, data.keys, presentInstant, log)
    if (demo !== null) undo.push(() => demo.stop())

    const keys = demo?.keys ?? data.keys
    const { aliases, checkStore } = data
    const parts = { settings, historians, keys, aliases, log, meters, unhandledRejections }
    const app = await listen({ ...parts, ...checkStore })
    const { makeFirstKeys } = await import('../cli/first-keys.ts')
    // Only now: the first keys are shown once, and a start that fails after making them would lose them.
    const firstKeys = await makeFirstKeys(data.keys, place, log, presentInstant()).catch(
      async (error: unknown) => {
        await app.close()
        throw error
      },
    )
    const stopWarnings = warnOfExpiry(data.keys, log, presentInstant)
    keepHeapSmall()
    return {
      url: urlOf(app.server.address() as AddressInfo, settings),
      historians: historians.map(describe),
      usesDataDir: needsData,
      firstKeys,
      demo,
      stop: async () => {
        stopWarnings()
        await demo?.stop()
        await app.close()
        await data.close()
      },
    }
  } catch (error) {
    for (const step of undo.reverse()) await step().catch(() => {})
    throw await listenError(error, settings)
  }
}
