import { TidemarkError } from '../../errors/tidemark-error.ts'
import { openDataDirectory } from '../directory/data-directory.ts'
import type { HistorianElsewhere } from '../directory/elsewhere.ts'
import type { HistorianCheck } from '../engine/check-store.ts'
import { openFileStore } from '../engine/open-file-store.ts'
import { systemFiles } from '../files/system-files.ts'
import { type StoredHistorian, storedHistorians } from './stored-historians.ts'

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
  /** What is wrong with the file of keys and aliases, one sentence each. */
  readonly system: readonly string[]
  readonly historians: readonly CheckedHistorian[]
  /** Whether nothing is wrong anywhere. */
  readonly isSound: boolean
}

/**
 * Verifies all that is stored in a data directory, also beside a running service; each historian in one state. Changes
 * nothing. Historians that were opened from the directory before and are missing now are failures.
 * @param elsewhere historians that belong to it though they stand outside, as the configuration has it
 * Throws DATA_DIR_NEWER and DATA_DIR_UNUSABLE when it cannot even be opened.
 */
export async function checkDataDirectory(
  path: string,
  signal: AbortSignal,
  elsewhere: readonly HistorianElsewhere[] = [],
): Promise<DataDirectoryCheck> {
  const directory = await openDataDirectory(path, { owner: false, create: false })
  try {
    const { keys, damaged: damagedKeys } = await directory.keys.check()
    const { aliases, damaged: damagedAliases } = await directory.aliases.check()
    const system = [...directory.system.check()]
    if (damagedKeys > 0) system.push(`${damagedKeys} of ${keys} keys cannot be read: make them anew`)
    const { historians: known, damaged: damagedNotes } = await directory.known.check()
    if (damagedNotes > 0) {
      system.push(
        `${damagedNotes} of ${known} notes of historians that were opened before cannot be read: a repair removes them, and the next start makes them anew`,
      )
    }
    const historians: CheckedHistorian[] = []
    for (const one of await storedHistorians(systemFiles, directory, elsewhere)) {
      historians.push(await checkStored(one, signal))
    }
    const isSound =
      damagedAliases === 0 &&
      system.length === 0 &&
      historians.every(({ check }) => check !== null && check.problemCount === 0)
    return { keys, aliases, damagedAliases, system, historians, isSound }
  } finally {
    await directory.close()
  }
}

/** Nothing but that it should be there. */
const UNKNOWN = { id: null, token: null, lastSequence: null }

async function checkStored(
  { name: historian, folder, before }: StoredHistorian,
  signal: AbortSignal,
): Promise<CheckedHistorian> {
  try {
    const store = await openFileStore(folder, { historian, owner: false, before: before ?? UNKNOWN })
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
