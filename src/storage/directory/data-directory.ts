import { join } from 'node:path'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { historianFolder } from '../files/historian-folder.ts'
import { refuseOldFormat } from '../files/old-format.ts'
import { reasonOf, unusable } from '../files/refusals.ts'
import { systemFiles as files } from '../files/system-files.ts'
import { inUse } from '../ownership/in-use.ts'
import { type KernelLock, takeKernelLock } from '../ownership/kernel-lock.ts'
import { noteOwner } from '../ownership/owner-note.ts'
import { AlreadyOwned } from '../ownership/ownership.ts'
import { DatabaseAliasStore } from '../system/alias-database.ts'
import { DatabaseKeyStore } from '../system/key-database.ts'
import { openSystemDatabase, SYSTEM_DATABASE, type SystemDatabase } from '../system/system-database.ts'
import { KnownHistorians } from './known-historians.ts'
import { HISTORIANS_FOLDER, SYSTEM_FOLDER, UNFINISHED_FOLDER } from './layout.ts'

export interface DataDirectoryOptions {
  /**
   * Whether this process is to be the one that serves or changes historians: there is one owner at a time. Managing
   * keys and aliases, checking and backing up need no ownership and work beside a running owner.
   */
  readonly owner: boolean
  /** Whether a missing directory is made; otherwise it is DATA_DIR_UNUSABLE. */
  readonly create?: boolean
}

/** Locked by the owner for as long as it lives. */
const LOCK_FILE = 'owner.lock'
/** Says who the owner is, for messages. */
const NOTE_FILE = 'owner'

/** The folder with everything that Tidemark keeps. */
export class DataDirectory {
  readonly path: string
  readonly keys: DatabaseKeyStore
  readonly aliases: DatabaseAliasStore
  readonly known: KnownHistorians
  /** Keys and aliases as one file. */
  readonly system: SystemDatabase
  /** Whether it had an owner before it was opened: a backup has none until it is served. */
  readonly wasOwned: boolean
  readonly #lock: KernelLock | null

  /** Use {@link openDataDirectory}. */
  constructor(path: string, system: SystemDatabase, wasOwned: boolean, lock: KernelLock | null) {
    this.path = path
    this.wasOwned = wasOwned
    this.system = system
    this.keys = new DatabaseKeyStore(system)
    this.aliases = new DatabaseAliasStore(system)
    this.known = new KnownHistorians(system)
    this.#lock = lock
  }

  /** The folder of an embedded historian; it need not exist. */
  historianDirectory(name: string): string {
    return historianDirectory(this.path, name)
  }

  /** Folders of all embedded historians that were ever opened here, by folder name. */
  historianDirectories(): readonly string[] {
    return historianDirectories(this.path)
  }

  /** Gives up the ownership, after all historians inside were closed. */
  async close(): Promise<void> {
    this.system.close()
    this.#lock?.release()
  }
}

/**
 * Opens a data directory, making it when missing. Throws DATA_DIR_IN_USE when an owner is wanted and another process is
 * it; DATA_DIR_NEWER for a format that this version does not know; DATA_DIR_UNUSABLE for an older one, when the file
 * system refuses, when keys and aliases are missing although there are historians, or for a backup that was not
 * finished.
 */
export async function openDataDirectory(path: string, options: DataDirectoryOptions): Promise<DataDirectory> {
  const folder = join(path, SYSTEM_FOLDER)
  try {
    checkPlace(path, folder, options.create !== false)
    const { owner, create = true } = options
    const system = await openSystemDatabase(files, folder, { create, owner, shown: path })
    try {
      const wasOwned = files.exists(join(folder, LOCK_FILE))
      return new DataDirectory(path, system, wasOwned, options.owner ? own(path, folder) : null)
    } catch (error) {
      system.close()
      throw error
    }
  } catch (error) {
    throw error instanceof TidemarkError ? error : unusable(path, reasonOf(error), error)
  }
}

function checkPlace(path: string, folder: string, mayCreate: boolean): void {
  if (files.exists(join(path, UNFINISHED_FOLDER)))
    throw unusable(path, 'it is a backup that was not finished')
  refuseOldFormat(files, folder, path)
  if (files.exists(join(folder, SYSTEM_DATABASE))) return
  // The database is made before anything else, and is never taken for new where something else was made.
  if (files.exists(join(folder, LOCK_FILE)) || historianDirectories(path).length > 0) {
    throw unusable(
      path,
      `its keys and aliases, ${SYSTEM_FOLDER}/${SYSTEM_DATABASE}, are missing: restore a backup`,
    )
  }
  if (!mayCreate) throw unusable(path, 'there is no data directory of tidemark')
}

/**
 * The lock is all: what two owners could damage are historians, each of which has a fence of its own, and keys and
 * aliases are changed by several processes anyway.
 */
function own(path: string, folder: string): KernelLock {
  const note = join(folder, NOTE_FILE)
  try {
    const lock = takeKernelLock(files, join(folder, LOCK_FILE))
    noteOwner(files, note)
    return lock
  } catch (error) {
    throw error instanceof AlreadyOwned ? inUse(files, path, note) : error
  }
}

/** The folder of an embedded historian inside a data directory. */
export function historianDirectory(dataDirectory: string, name: string): string {
  return join(dataDirectory, HISTORIANS_FOLDER, historianFolder(name))
}

/** No historian has this name: some file systems make such a folder, where the historians have a disk of their own. */
const OF_THE_DISK = 'lost+found'

/** Folders of all embedded historians inside a data directory, by folder name; also of those whose files are lost. */
export function historianDirectories(dataDirectory: string): readonly string[] {
  const folder = join(dataDirectory, HISTORIANS_FOLDER)
  try {
    return files
      .list(folder)
      .filter((name) => name !== OF_THE_DISK)
      .map((name) => join(folder, name))
      .filter((path) => files.isFolder(path))
  } catch (error) {
    throw unusable(dataDirectory, reasonOf(error), error)
  }
}
