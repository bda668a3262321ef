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
 * Repairs the embedded historians of a data directory that no service owns (repairHistorian). What is noted of
 * historians that were opened before is removed where it cannot be read.
 * @param tell       called for each historian as soon as it is done, before the next one
 * @param elsewhere  historians that belong to it though they stand outside
 * Throws DATA_DIR_IN_USE, and DATA_DIR_UNUSABLE when the directory cannot be opened.
 */
export async function repairDataDirectory(
  path: string,
  tell: (repaired: RepairedHistorian) => void,
  signal: AbortSignal,
  elsewhere: readonly HistorianElsewhere[] = [],
): Promise<void> {
  const directory = await openDataDirectory(path, { owner: true, create: false })
  try {
    for (const one of await storedHistorians(files, directory, elsewhere)) {
      await repairStored(one, tell, signal)
    }
    await directory.known.forgetDamaged().catch((error: unknown) => {
      throw directory.system.refusalOf(error)
    })
  } finally {
    await directory.close()
  }
}

async function repairStored(
  { name: historian, folder, before }: StoredHistorian,
  tell: (repaired: RepairedHistorian) => void,
  signal: AbortSignal,
): Promise<void> {
  try {
    refuseOldFormat(files, folder)
    // An empty folder may be where a disk is not mounted.
    if (!hasFiles(folder)) throw unusable(folder, 'there is no historian in it')
    const one = {
      historian,
      before,
      tell: (report: RepairReport) => tell({ historian, report, failure: null }),
    }
    await repairHistorian(files, folder, one, signal)
  } catch (error) {
    if (signal.aborted) throw error
    tell({ historian, report: null, failure: sentenceOf(error, folder) })
  }
}

function sentenceOf(error: unknown, folder: string): string {
  if (error instanceof AlreadyOwned) {
    return inUse(files, folder, claimPath(folder, currentToken(files, folder))).message
  }
  if (error instanceof Damage) return `${error.message}: export what is left, or restore a backup`
  return error instanceof TidemarkError ? error.message : unusable(folder, reasonOf(error), error).message
}
