import { TidemarkError } from '../errors/tidemark-error.ts'
import { addSummaries } from './add-summaries.ts'
import { Meta, openDatabase, openEnvironment, type Root, reasonOf, unusable } from './environment.ts'
import type { TroubleLog } from './fold-trouble.ts'
import { FOLD_LIMITS, type FoldLimits } from './folder.ts'
import { isCurrent, makeParts, openStores } from './historian-parts.ts'
import { HistorianStore } from './historian-store.ts'
import { type LateOwnership, takeOwnershipWhenRoom } from './late-ownership.ts'
import { DATABASES, FORMAT_VERSION, META } from './names.ts'
import { rebuildSearch } from './rebuild-search.ts'

export interface HistorianStoreOptions {
  /** Name of the historian, for errors; the folder remembers the one that it was made for. */
  readonly historian: string
  /** Whether this process is to change it: one process at a time may. */
  readonly owner: boolean
  /** When points move from the journal into blocks; FOLD_LIMITS when left out. */
  readonly fold?: Partial<FoldLimits>
  /** Told when folding fails, and when it goes on; nobody is when left out. */
  readonly log?: TroubleLog
}

/**
 * Opens an embedded historian in its folder, making it when missing.
 * Throws DATA_DIR_IN_USE when it is to be owned and another process owns it, DATA_DIR_NEWER for a format that this version does
 * not know, DATA_DIR_UNUSABLE when the file system refuses or the folder is that of another historian.
 */
export async function openHistorianStore(
  folder: string,
  { historian, owner, fold, log }: HistorianStoreOptions,
): Promise<HistorianStore> {
  const root = openEnvironment(folder)
  let ownership: LateOwnership | null = null
  try {
    const metaStore = openDatabase(root, DATABASES.meta)
    const meta = new Meta(metaStore)
    meta.checkFormat(root, FORMAT_VERSION, folder)
    const stores = openStores(root, meta, metaStore)
    checkName(root, meta, folder, historian)
    if (owner) {
      ownership = takeOwnershipWhenRoom(root, meta, folder, folder)
      // What is not as this version has it must be made so first, which takes room.
      if (ownership.missing !== null && !isCurrent(meta)) throw unusable(folder, ownership.missing)
      // Earlier versions would not see the points of the journal.
      if (meta.getNumber(META.format) < FORMAT_VERSION) {
        root.transactionSync(() => meta.put(META.format, FORMAT_VERSION))
      }
      await rebuildSearch(stores)
      await addSummaries(stores)
    }
    const parts = makeParts(historian, root, stores)
    return new HistorianStore(parts, ownership, { ...FOLD_LIMITS, ...fold }, log ?? null)
  } catch (error) {
    // What stood in the way may stand in the way of this, too.
    await ownership?.release().catch(() => {})
    await root.close()
    throw error instanceof TidemarkError ? error : unusable(folder, reasonOf(error), error)
  }
}

/** Two names that differ only in case are one folder on some systems: then the second is told. */
function checkName(root: Root, meta: Meta, folder: string, historian: string): void {
  const found = meta.get(META.historian)
  if (found === undefined) root.transactionSync(() => meta.put(META.historian, historian))
  else if (found !== historian) {
    throw unusable(folder, `it holds the historian ${String(found)}, not ${historian}`)
  }
}
