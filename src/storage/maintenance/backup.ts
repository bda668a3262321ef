import { basename, join } from 'node:path'
import { openDataDirectory } from '../directory/data-directory.ts'
import type { HistorianElsewhere } from '../directory/elsewhere.ts'
import { ELSEWHERE_FOLDER, HISTORIANS_FOLDER, SYSTEM_FOLDER, UNFINISHED_FOLDER } from '../directory/layout.ts'
import { foldersOf } from '../engine/folders.ts'
import { checkHasAll, checkIsSame, checkIsThere } from '../engine/was-there.ts'
import type { Files } from '../files/files.ts'
import { historianFolder } from '../files/historian-folder.ts'
import { unusable } from '../files/refusals.ts'
import { systemFiles } from '../files/system-files.ts'
import { SYSTEM_DATABASE } from '../system/system-database.ts'
import { addCounts, type CopyCounts, type CopyMode, type FileCount, sizeOf } from './copied-files.ts'
import { type CopyOptions, copyHistorian } from './copy-historian.ts'
import { copyRefusal } from './copy-refusals.ts'
import { intoNewDirectory } from './new-directory.ts'
import { type StoredHistorian, storedHistorians } from './stored-historians.ts'

/** A historian that stands outside of the data directory, and its copy in a backup. */
export interface CopiedHistorian extends HistorianElsewhere {
  readonly copy: string
}

/** How a data directory is backed up. */
export interface BackupOptions {
  /** How immutable files are taken; what may still grow is always copied. */
  readonly mode: CopyMode
  /** Folder of an earlier backup, from which files that did not change are linked; `null` for none. */
  readonly since: string | null
  /** Historians that belong to it though they stand outside, as the configuration has it. */
  readonly elsewhere: readonly HistorianElsewhere[]
}

/** What a backup took. */
export interface BackupReport extends CopyCounts {
  /** Historians that stand outside of the data directory. */
  readonly elsewhere: readonly CopiedHistorian[]
}

/**
 * Copies a data directory, also beside a running service, into a folder that is empty or missing. Each historian, and
 * keys and aliases, are copied in one committed state of their own; restoring is copying the folder back. Resolves when
 * all of it is on disk (`intoNewDirectory`).
 *
 * Throws DATA_DIR_UNUSABLE when one of the folders cannot be used or a historian is missing that was there before; what
 * was copied then is removed.
 */
export async function backupDataDirectory(
  path: string,
  target: string,
  signal: AbortSignal,
  { mode, since, elsewhere }: BackupOptions = COPIED,
  files: Files = systemFiles,
): Promise<BackupReport> {
  const directory = await openDataDirectory(path, { owner: false, create: false })
  try {
    if (since !== null) checkEarlier(files, since, path)
    return await intoNewDirectory(files, target, signal, async (unfinished) => {
      const system = join(unfinished, SYSTEM_FOLDER)
      files.makeFolder(system)
      const database = join(system, SYSTEM_DATABASE)
      await directory.system.copyTo(files, database)
      files.syncFolder(system)
      let counts: CopyCounts = { ...NOTHING, copied: { files: 1, bytes: sizeOf(files, database) ?? 0 } }
      const outside: CopiedHistorian[] = []
      for (const one of await storedHistorians(files, directory, elsewhere)) {
        signal.throwIfAborted()
        const place = one.isInside
          ? join(HISTORIANS_FOLDER, basename(one.folder))
          : join(ELSEWHERE_FOLDER, historianFolder(one.name))
        const options = { mode, ...(since === null ? {} : { earlier: join(since, place) }) }
        counts = addCounts(counts, await copyStored(files, one, join(unfinished, place), options, signal))
        if (!one.isInside) outside.push({ name: one.name, folder: one.folder, copy: join(target, place) })
      }
      return { ...counts, elsewhere: outside }
    })
  } finally {
    await directory.close()
  }
}

const COPIED: BackupOptions = { mode: 'copy', since: null, elsewhere: [] }

const NONE: FileCount = { files: 0, bytes: 0 }
const NOTHING: CopyCounts = { copied: NONE, linked: NONE, reused: NONE, differing: NONE }

/** Throws DATA_DIR_UNUSABLE for a folder that holds no finished backup. */
function checkEarlier(files: Files, since: string, path: string): void {
  const database = join(SYSTEM_FOLDER, SYSTEM_DATABASE)
  if (files.exists(join(since, UNFINISHED_FOLDER)) || !files.exists(join(since, database))) {
    throw unusable(since, 'it holds no finished backup')
  }
  if (files.isSameFile(join(since, database), join(path, database))) {
    throw unusable(since, 'it is the data directory, not a backup of it')
  }
}

async function copyStored(
  files: Files,
  { name, folder, before }: StoredHistorian,
  target: string,
  options: CopyOptions,
  signal: AbortSignal,
): Promise<CopyCounts> {
  try {
    checkIsThere(files, foldersOf(folder))
    const copy = await copyHistorian(files, folder, target, options, signal)
    checkIsSame(files, foldersOf(folder), copy.source.version, before)
    checkHasAll(files, foldersOf(folder), copy.source.version, copy.source.lastSequence, before)
    return copy
  } catch (error) {
    throw signal.aborted ? error : copyRefusal(error, name, folder, target)
  }
}
