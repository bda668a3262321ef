import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { openDataDirectory } from './data-directory.ts'
import { syncEntries, syncFolder, syncTree } from './durable-files.ts'
import { type HistorianElsewhere, outside } from './elsewhere.ts'
import { hasEnvironment, Meta, openDatabase, openEnvironment, reasonOf, unusable } from './environment.ts'
import {
  DATABASES,
  ELSEWHERE_FOLDER,
  FORMAT_VERSION,
  HISTORIANS_FOLDER,
  historianFolder,
  SYSTEM_FOLDER,
  UNFINISHED_FOLDER,
} from './names.ts'

/** A historian that stands outside of the data directory, and its copy in a backup. */
export interface CopiedHistorian extends HistorianElsewhere {
  readonly copy: string
}

/**
 * Copies a data directory, also beside a running service, into a folder that is empty or missing. Each historian, and keys and
 * aliases, are copied in one committed state of their own, compacted; restoring is copying the folder back.
 *
 * Resolves when all of it is on disk. Until then it stands in a folder of its own inside of the target, and what holds such a folder is no
 * data directory: a backup that was killed is never taken for a whole one.
 *
 * @param elsewhere historians that belong to it though they stand outside: they are copied to folders of their own in the copy
 * @returns what was copied of `elsewhere`, and where to
 * Throws DATA_DIR_UNUSABLE when one of the folders cannot be used; what was copied then is removed.
 */
export async function backupDataDirectory(
  path: string,
  target: string,
  signal: AbortSignal,
  elsewhere: readonly HistorianElsewhere[] = [],
): Promise<readonly CopiedHistorian[]> {
  const directory = await openDataDirectory(path, { owner: false, create: false })
  try {
    const unfinished = begin(target)
    try {
      await copyEnvironment(join(path, SYSTEM_FOLDER), join(unfinished, SYSTEM_FOLDER))
      const inside = directory.historianDirectories()
      for (const folder of inside) {
        signal.throwIfAborted()
        await copyEnvironment(folder, join(unfinished, HISTORIANS_FOLDER, basename(folder)))
      }
      const copied: CopiedHistorian[] = []
      for (const { name, folder } of outside(inside, elsewhere)) {
        signal.throwIfAborted()
        if (!hasEnvironment(folder)) throw unusable(folder, 'there is no historian in it')
        const place = join(ELSEWHERE_FOLDER, historianFolder(name))
        await copyEnvironment(folder, join(unfinished, place))
        copied.push({ name, folder, copy: join(target, place) })
      }
      signal.throwIfAborted()
      finish(target, unfinished)
      return copied
    } catch (error) {
      try {
        for (const name of [...FOLDERS, UNFINISHED_FOLDER]) {
          rmSync(join(target, name), { recursive: true, force: true })
        }
      } catch {
        // The folder that says that it is not finished goes last.
      }
      throw error instanceof TidemarkError || signal.aborted
        ? error
        : unusable(target, reasonOf(error), error)
    }
  } finally {
    await directory.close()
  }
}

async function copyEnvironment(source: string, target: string): Promise<void> {
  const root = openEnvironment(source)
  try {
    const meta = new Meta(openDatabase(root, DATABASES.meta))
    meta.checkFormat(root, FORMAT_VERSION, source)
    mkdirSync(target, { recursive: true })
    await root.backup(target, true)
  } catch (error) {
    throw error instanceof TidemarkError ? error : unusable(target, reasonOf(error), error)
  } finally {
    await root.close()
  }
}

/** What stands in a backup. The last of them makes a data directory of it. */
const FOLDERS = [HISTORIANS_FOLDER, ELSEWHERE_FOLDER, SYSTEM_FOLDER]

/** So many folders above a backup are synced, since its own were made with it. */
const NEW_FOLDERS = 3

/** Puts what was copied into its place, and has everything on disk, the contents before the places. */
function finish(target: string, unfinished: string): void {
  syncTree(unfinished)
  for (const name of FOLDERS) {
    if (existsSync(join(unfinished, name))) renameSync(join(unfinished, name), join(target, name))
  }
  syncFolder(target)
  rmdirSync(unfinished)
  syncEntries(resolve(target), NEW_FOLDERS)
}

/** Makes the folder that takes what is copied, in one that must be empty otherwise. */
function begin(target: string): string {
  const unfinished = join(target, UNFINISHED_FOLDER)
  let entries: readonly string[]
  try {
    mkdirSync(target, { recursive: true })
    if (existsSync(unfinished)) throw unusable(target, NOT_FINISHED)
    // A data directory must not look like such a one, not for a moment.
    if (readdirSync(target).length > 0) throw unusable(target, NOT_EMPTY)
    // Before all others: of two that come at the same time one fails here.
    mkdirSync(unfinished)
    entries = readdirSync(target)
    if (entries.length > 1) rmdirSync(unfinished)
  } catch (error) {
    throw error instanceof TidemarkError ? error : unusable(target, reasonOf(error), error)
  }
  if (entries.length > 1) throw unusable(target, NOT_EMPTY)
  return unfinished
}

const NOT_EMPTY = 'a backup needs an empty folder'
const NOT_FINISHED = 'a backup into it was not finished, or is under way: empty it, or choose another folder'
