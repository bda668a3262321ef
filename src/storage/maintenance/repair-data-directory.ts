import { TidemarkError } from '../../errors/tidemark-error.ts'
import { Damage } from '../damage.ts'
import { openDataDirectory } from '../directory/data-directory.ts'
import type { HistorianElsewhere } from '../directory/elsewhere.ts'
import { refuseOldFormat } from '../files/old-format.ts'
import { reasonOf, unusable } from '../files/refusals.ts'
import { systemFiles as files } from '../files/system-files.ts'
import { claimPath, currentToken } from '../ownership/claim.ts'
import { inUse } from '../ownership/in-use.ts'
import { AlreadyOwned } from '../ownership/ownership.ts'
import { hasFiles } from './file-folders.ts'
import { repairHistorian } from './repair-historian.ts'
import type { RepairReport } from './repair-report.ts'
import { type StoredHistorian, storedHistorians } from './stored-historians.ts'

/** What a repair did to one embedded historian; `failure` is why nothing could be done. */
export interface RepairedHistorian {
  readonly historian: string
  readonly report: RepairReport | null
  readonly failure: string | null
}

/**
 * Repairs the embedded historians of a data directory that no service owns (repairHistorian).
 * @param elsewhere  historians that belong to it though they stand outside
 * Throws DATA_DIR_IN_USE, and DATA_DIR_UNUSABLE when the directory cannot be opened.
 */
export async function repairDataDirectory(
  path: string,
  signal: AbortSignal,
  elsewhere: readonly HistorianElsewhere[] = [],
): Promise<readonly RepairedHistorian[]> {
  const directory = await openDataDirectory(path, { owner: true, create: false })
  try {
    const repaired: RepairedHistorian[] = []
    for (const one of await storedHistorians(files, directory, elsewhere)) {
      repaired.push(await repairStored(one, signal))
    }
    return repaired
  } finally {
    await directory.close()
  }
}

async function repairStored(
  { name: historian, folder, before }: StoredHistorian,
  signal: AbortSignal,
): Promise<RepairedHistorian> {
  try {
    refuseOldFormat(files, folder)
    // An empty folder may be where a disk is not mounted.
    if (!hasFiles(folder)) throw unusable(folder, 'there is no historian in it')
    const report = await repairHistorian(files, folder, { historian, before }, signal)
    return { historian, report, failure: null }
  } catch (error) {
    if (signal.aborted) throw error
    return { historian, report: null, failure: sentenceOf(error, folder) }
  }
}

function sentenceOf(error: unknown, folder: string): string {
  if (error instanceof AlreadyOwned) {
    return inUse(files, folder, claimPath(folder, currentToken(files, folder))).message
  }
  if (error instanceof Damage) return `${error.message}: export what is left, or restore a backup`
  return error instanceof TidemarkError ? error.message : unusable(folder, reasonOf(error), error).message
}
