import type { AliasStore } from '../aliases/store.ts'
import type { KeyStore } from '../config/keys.ts'
import type { Settings } from '../config/settings.ts'
import type { DriverLog } from '../historian/driver.ts'
import type { Services } from '../http/services.ts'
import type { KnownHistorians } from '../storage/directory/known-historians.ts'
import type { DatabaseKeyStore } from '../storage/system/key-database.ts'
import { loadDrivers, loadStores } from './drivers.ts'

/** Keys, aliases and folders of historians, wherever they are kept. */
export interface Stores {
  readonly keys: KeyStore
  readonly aliases: AliasStore
  /** For the service, where there is a store that may be down. */
  readonly checkStore?: Pick<Services, 'checkStore'>
  /** `null` where no data directory is opened. */
  readonly known: KnownHistorians | null
  /** The folder of an embedded historian; it need not exist. */
  historianDirectory(name: string): string
  close(): Promise<void>
}

/**
 * Opens the shared store when one is configured, and the data directory when anything is in it.
 * @param needsData  whether the data directory is wanted although keys and aliases are elsewhere
 */
export async function openStores(
  { dataDir, store, historians }: Settings,
  { owner, needsData }: { readonly owner: boolean; readonly needsData: boolean },
  log: DriverLog,
): Promise<Stores> {
  const { historianDirectory, openDataDirectory } = await import('../storage/directory/data-directory.ts')
  if (needsData) await closeDataToOthers(dataDir, historians, log)
  const data = needsData ? await openDataDirectory(dataDir, { owner, create: true }) : null
  if (store === null) {
    if (owner) await tellDamagedKeys(data!.keys, log)
    return data!
  }
  // The type is known: src/config has checked it.
  const shared = await (await loadStores()).get(store.type)!.open(store.options, log)
  return {
    keys: shared.keys,
    aliases: shared.aliases,
    checkStore: { checkStore: () => shared.check() },
    known: data?.known ?? null,
    historianDirectory: (name) => historianDirectory(dataDir, name),
    close: async () => {
      await shared.close()
      await data?.close()
    },
  }
}

/** A key that cannot be read opens nothing, which its owner alone would see. */
async function tellDamagedKeys(keys: DatabaseKeyStore, log: DriverLog): Promise<void> {
  try {
    const { keys: all, damaged } = await keys.check()
    if (damaged > 0) log.error({ damaged }, `${damaged} of ${all} API keys cannot be read: make them anew`)
  } catch (error) {
    log.error({ err: error }, 'API keys cannot be read')
  }
}

/** What is stored is for the user of the service alone, whatever the rights are that files are made with elsewhere. */
async function closeDataToOthers(
  dataDir: string,
  historians: Settings['historians'],
  log: DriverLog,
): Promise<void> {
  const { closeToOthers, makePrivateFiles } = await import('../storage/files/private-folder.ts')
  makePrivateFiles()
  const elsewhere = (await historiansElsewhere({ historians })).map(({ folder }) => folder)
  for (const folder of [dataDir, ...elsewhere]) {
    if (!closeToOthers(folder))
      log.warn({ folder }, `other users of this machine can read ${folder}: take their rights away`)
  }
}

/** Without it a process has no state of its own: any number of them may stand in front of one store. */
export async function needsDataDirectory({ store, demo, historians }: Settings): Promise<boolean> {
  if (store === null || demo) return true
  const drivers = await loadDrivers()
  return [...historians.values()].some(({ type }) => drivers.get(type)!.isLocal === true)
}

/** Configured historians whose data are in this machine's folders outside of the data directory. */
export async function historiansElsewhere({ historians }: Pick<Settings, 'historians'>) {
  const drivers = await loadDrivers()
  return [...historians].flatMap(([name, { type, options }]) => {
    const folder = drivers.get(type)!.ownFolder?.(options) ?? null
    return folder === null ? [] : [{ name, folder }]
  })
}

/** Folders that the logs of configured historians are archived in, by historian. */
export async function archivesOf({
  historians,
}: Pick<Settings, 'historians'>): Promise<ReadonlyMap<string, string>> {
  const drivers = await loadDrivers()
  return new Map(
    [...historians].flatMap(([name, { type, options }]) => {
      const folder = drivers.get(type)!.archiveFolder?.(options) ?? null
      return folder === null ? [] : [[name, folder] as const]
    }),
  )
}

/** Commands that work in place say what a driver has to say, one line each. */
export const stderrLog: DriverLog = {
  info: () => {},
  warn: (_, message) => process.stderr.write(`${message}\n`),
  error: (_, message) => process.stderr.write(`${message}\n`),
}
