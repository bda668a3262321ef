import { mkdirSync, readdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { openDataDirectory } from './data-directory.ts'
import { hasEnvironment, Meta, openDatabase, openEnvironment, reasonOf, unusable } from './environment.ts'
import type { HistorianCheck } from './historian-check.ts'
import { openHistorianStore } from './historian-store.ts'
import {
  DATABASES,
  ELSEWHERE_FOLDER,
  FORMAT_VERSION,
  HISTORIANS_FOLDER,
  historianFolder,
  META,
  SYSTEM_FOLDER,
} from './names.ts'

/** An embedded historian that is configured to keep its data in a folder of its own. */
export interface HistorianElsewhere {
  readonly name: string
  readonly folder: string
}

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

/** Those of the historians that are not among the folders of the data directory anyway. */
function outside(
  inside: readonly string[],
  elsewhere: readonly HistorianElsewhere[],
): readonly HistorianElsewhere[] {
  const known = new Set(inside.map((folder) => resolve(folder)))
  return elsewhere.filter(({ folder }) => !known.has(resolve(folder)))
}

/**
 * Copies a data directory, also beside a running service, into a folder that is empty or missing. Each historian, and keys and
 * aliases, are copied in one committed state of their own, compacted; restoring is copying the folder back.
 * @param elsewhere historians that belong to it though they stand outside: they are copied to folders of their own in the copy
 * @returns what was copied of `elsewhere`, and where to
 * Throws DATA_DIR_UNUSABLE when one of the folders cannot be used; what was copied then stays.
 */
export async function backupDataDirectory(
  path: string,
  target: string,
  signal: AbortSignal,
  elsewhere: readonly HistorianElsewhere[] = [],
): Promise<readonly CopiedHistorian[]> {
  const directory = await openDataDirectory(path, { owner: false, create: false })
  try {
    makeEmptyFolder(target)
    await copyEnvironment(join(path, SYSTEM_FOLDER), join(target, SYSTEM_FOLDER))
    const inside = directory.historianDirectories()
    for (const folder of inside) {
      signal.throwIfAborted()
      await copyEnvironment(folder, join(target, HISTORIANS_FOLDER, basename(folder)))
    }
    const copied: CopiedHistorian[] = []
    for (const { name, folder } of outside(inside, elsewhere)) {
      signal.throwIfAborted()
      if (!hasEnvironment(folder)) throw unusable(folder, 'there is no historian in it')
      const copy = join(target, ELSEWHERE_FOLDER, historianFolder(name))
      await copyEnvironment(folder, copy)
      copied.push({ name, folder, copy })
    }
    return copied
  } finally {
    await directory.close()
  }
}

/** A historian that stands outside of the data directory, and its copy in a backup. */
export interface CopiedHistorian extends HistorianElsewhere {
  readonly copy: string
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

function makeEmptyFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true })
    if (readdirSync(path).length === 0) return
  } catch (error) {
    throw unusable(path, reasonOf(error), error)
  }
  throw unusable(path, 'a backup needs an empty folder')
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
