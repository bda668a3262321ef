import { dirname, join, resolve } from 'node:path'
import { systemCode } from '../../errors/system-code.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { ELSEWHERE_FOLDER, HISTORIANS_FOLDER, SYSTEM_FOLDER, UNFINISHED_FOLDER } from '../directory/layout.ts'
import type { Files } from '../files/files.ts'
import { reasonOf, unusable } from '../files/refusals.ts'

/**
 * Makes a data directory in a folder that is empty or missing. Resolves when all of it is on disk. Until then it stands
 * in a folder of its own inside of the target, and what holds such a folder is no data directory: one that was killed
 * is never taken for a whole one.
 * @param fill  makes the content in the folder that it is given, durably
 * Throws DATA_DIR_UNUSABLE when the folder cannot be used, and what `fill` throws; nothing is left then.
 */
export async function intoNewDirectory<T>(
  files: Files,
  target: string,
  signal: AbortSignal,
  fill: (unfinished: string) => Promise<T>,
): Promise<T> {
  const unfinished = begin(files, target)
  try {
    const result = await fill(unfinished)
    signal.throwIfAborted()
    finish(files, target, unfinished)
    return result
  } catch (error) {
    try {
      for (const name of [...FOLDERS, UNFINISHED_FOLDER]) files.removeFolder(join(target, name))
    } catch {
      // The folder that says that it is not finished goes last.
    }
    throw error instanceof TidemarkError || signal.aborted ? error : unusable(target, reasonOf(error), error)
  }
}

/** What stands in a data directory. The last of them makes a data directory of it. */
const FOLDERS = [HISTORIANS_FOLDER, ELSEWHERE_FOLDER, SYSTEM_FOLDER]

/** So many folders above a backup are synced, since its own were made with it. */
const NEW_FOLDERS = 3

/** Puts what was copied, and is on disk, into its place, durably. */
function finish(files: Files, target: string, unfinished: string): void {
  files.syncFolder(unfinished)
  for (const name of FOLDERS) {
    if (files.exists(join(unfinished, name))) files.rename(join(unfinished, name), join(target, name))
  }
  files.syncFolder(target)
  files.removeFolder(unfinished)
  for (let path = resolve(target), left = NEW_FOLDERS; left >= 0; path = dirname(path), left--) {
    files.syncFolder(path)
  }
}

/** Makes the folder that takes what is copied, in one that must be empty otherwise. */
function begin(files: Files, target: string): string {
  const unfinished = join(target, UNFINISHED_FOLDER)
  let entries: readonly string[]
  try {
    files.makeFolder(target)
    if (files.exists(unfinished)) throw unusable(target, NOT_FINISHED)
    // A data directory must not look like such a one, not for a moment.
    if (files.list(target).length > 0) throw unusable(target, NOT_EMPTY)
    // Before all others: of two that come at the same time one fails here.
    makeUnfinished(files, target, unfinished)
    entries = entriesBeside(files, target, unfinished)
  } catch (error) {
    throw error instanceof TidemarkError ? error : unusable(target, reasonOf(error), error)
  }
  if (entries.length > 1) throw unusable(target, NOT_EMPTY)
  return unfinished
}

/** What stands there, with the unfinished folder, which is removed where something else does, or nobody knows. */
function entriesBeside(files: Files, target: string, unfinished: string): readonly string[] {
  let isAlone = false
  try {
    const entries = files.list(target)
    isAlone = entries.length === 1
    return entries
  } finally {
    if (!isAlone) files.removeFolder(unfinished)
  }
}

function makeUnfinished(files: Files, target: string, unfinished: string): void {
  try {
    files.makeNewFolder(unfinished)
  } catch (error) {
    throw systemCode(error) === 'EEXIST' ? unusable(target, NOT_FINISHED) : error
  }
}

const NOT_EMPTY = 'a backup needs an empty folder'
const NOT_FINISHED = 'a backup into it was not finished, or is under way: empty it, or choose another folder'
