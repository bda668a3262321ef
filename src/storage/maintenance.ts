import { basename } from 'node:path'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { openDataDirectory } from './data-directory.ts'
import { type HistorianElsewhere, outside } from './elsewhere.ts'
import { hasEnvironment, Meta, openDatabase, openEnvironment } from './environment.ts'
import type { HistorianCheck } from './historian-check.ts'
import { DATABASES, META } from './names.ts'
import { openHistorianStore } from './open-historian.ts'

/** What a check of one embedded historian found; `failure` is why it could not be checked at all. */
export interface CheckedHistorian {
  readonly historian: string
  readonly check: HistorianCheck | null
  readonly failure: string | null
}

/** What a check of a data directory found. */
export interface DataDirectoryCheck {
  readonly keys: number
  readonly aliases: number
  /** Aliases that cannot be read any more. */
  readonly damagedAliases: number
  readonly historians: readonly CheckedHistorian[]
  /** Whether nothing is wrong anywhere. */
  readonly isSound: boolean
}

/**
 * Verifies all that is stored in a data directory, also beside a running service; each historian in one state. Changes nothing.
 * @param elsewhere historians that belong to it though they stand outside
 * Throws DATA_DIR_NEWER and DATA_DIR_UNUSABLE when it cannot even be opened.
 */
export async function checkDataDirectory(
  path: string,
  signal: AbortSignal,
  elsewhere: readonly HistorianElsewhere[] = [],
): Promise<DataDirectoryCheck> {
  const directory = await openDataDirectory(path, { owner: false, create: false })
  try {
    const keys = (await directory.keys.list()).length
    const { aliases, damaged: damagedAliases } = await directory.aliases.check()
    const historians: CheckedHistorian[] = []
    const inside = directory.historianDirectories()
    for (const folder of inside) historians.push(await checkFolder(folder, signal))
    for (const { name, folder } of outside(inside, elsewhere)) {
      historians.push(
        hasEnvironment(folder)
          ? await checkFolder(folder, signal)
          : { historian: name, check: null, failure: `there is no historian in ${folder}` },
      )
    }
    const isSound =
      damagedAliases === 0 && historians.every(({ check }) => check !== null && check.problemCount === 0)
    return { keys, aliases, damagedAliases, historians, isSound }
  } finally {
    await directory.close()
  }
}

async function checkFolder(folder: string, signal: AbortSignal): Promise<CheckedHistorian> {
  const historian = nameOfHistorian(folder)
  try {
    const store = await openHistorianStore(folder, { historian, owner: false })
    try {
      return { historian, check: await store.check(signal), failure: null }
    } finally {
      await store.close()
    }
  } catch (error) {
    if (!(error instanceof TidemarkError) || signal.aborted) throw error
    return { historian, check: null, failure: error.message }
  }
}

/** The name that a historian's folder remembers; the folder's own when it cannot be read. */
function nameOfHistorian(folder: string): string {
  const root = openEnvironment(folder)
  try {
    const name = new Meta(openDatabase(root, DATABASES.meta)).get(META.historian)
    return typeof name === 'string' ? name : basename(folder)
  } finally {
    void root.close()
  }
}
