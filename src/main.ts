import type { AliasStore } from './aliases/store.ts'
import { presentInstant } from './cli/clock.ts'
import { runCommandLine } from './cli/program.ts'
import type { InPlace, Tools } from './cli/tools.ts'
import { DEMO_HISTORIAN } from './config/historian-names.ts'
import type { HistorianTypes, StoreTypes } from './config/load.ts'
import type { Settings } from './config/settings.ts'
import { loadDrivers, loadStores } from './main/drivers.ts'
import { closeAll, demoSettings, openHistorians } from './main/historians.ts'
import { probeHistorians } from './main/probe.ts'
import { needsDataDirectory, openStores, stderrLog } from './main/stores.ts'
import { version } from './main/version.ts'

/*
 * Puts the program together; main/ has its parts, and alone names drivers, storage and the HTTP service. All of them
 * are imported when a command asks for them: `--version` and `--help` need none.
 */

const tools: Tools = {
  version,
  historianTypes: async () => (await loadDrivers()) as HistorianTypes,
  storeTypes: async () => (await loadStores()) as StoreTypes,
  openInPlace,
  openKeys: (settings) =>
    openStores(settings, { owner: false, needsData: settings.store === null }, stderrLog),
  startService: async (settings, place) => (await import('./main/service.ts')).startService(settings, place),
  probeHistorians,
  checkData: async (settings, signal) =>
    (await import('./main/data-commands.ts')).checkData(settings, signal),
  previewRetention: async (settings, now, historian, signal) =>
    (await import('./main/data-commands.ts')).previewRetention(settings, now, historian, signal),
  repairData: async (settings, tell, signal) =>
    (await import('./main/data-commands.ts')).repairData(settings, tell, signal),
  noteBackup: async (settings, at) => (await import('./main/data-commands.ts')).noteBackup(settings, at),
  backupData: async (settings, target, choice, signal) =>
    (await import('./main/data-commands.ts')).backupData(settings, target, choice, signal),
  restoreData: async (settings, choice, signal) =>
    (await import('./main/data-commands.ts')).restoreData(settings, choice, signal),
}

/** Runs a command line and sets the exit code of the process. */
export async function main(args: readonly string[]): Promise<void> {
  if ((await import('node:cluster')).default.isWorker) {
    const { runWorker } = await import('./cluster/worker.ts')
    const { startWorker } = await import('./main/workers.ts')
    await runWorker(startWorker)
    return
  }
  const { code, interrupted } = await runCommandLine(args, tools, process)
  process.exitCode = code
  // While Node winds down by itself, no signal has a listener any more: one that a launcher hands on late would end
  // the process with a failure that it is not.
  if (interrupted) process.exit()
}

async function openInPlace(settings: Settings): Promise<InPlace> {
  const { existsSync } = await import('node:fs')
  const { HistorianRegistry } = await import('./historian/registry.ts')
  const { historianDirectory } = await import('./storage/directory/data-directory.ts')
  const hasDemo = existsSync(historianDirectory(settings.dataDir, DEMO_HISTORIAN))
  const needsData = hasDemo || (await needsDataDirectory(settings))
  const data = await openStores(settings, { owner: true, needsData }, stderrLog)
  try {
    const wanted = new Map(settings.historians)
    // A plant that was served here is data like any other, but only worth opening where it is.
    if (!wanted.has(DEMO_HISTORIAN) && hasDemo) wanted.set(DEMO_HISTORIAN, await demoSettings())
    const historians = await openHistorians(wanted, { data, log: stderrLog, meters: new Map() })
    const views = await aliasesFor(data.aliases, settings)
    const registry = new HistorianRegistry(historians, views)
    return {
      historians: registry,
      aliases: views(registry),
      close: async () => {
        await closeAll(historians)
        await data.close()
      },
    }
  } catch (error) {
    await data.close()
    throw error
  }
}

/** What commands in place see of the aliases: all of them. */
async function aliasesFor(store: AliasStore, settings: Settings) {
  const { aliasViews } = await import('./aliases/view.ts')
  const { SIGNATURES } = await import('./calc/functions/index.ts')
  const { parseTimeZone, UTC } = await import('./time/zone.ts')
  return aliasViews(store, {
    signatures: SIGNATURES,
    defaultHistorian: settings.defaultHistorian,
    clock: presentInstant,
    zone: parseTimeZone(settings.timeZone) ?? UTC,
  })
}
