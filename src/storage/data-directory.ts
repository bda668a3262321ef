import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { KeyStore } from '../config/keys.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { LmdbAliasStore } from './alias-store.ts'
import {
  hasEnvironment,
  Meta,
  openDatabase,
  openEnvironment,
  type Root,
  reasonOf,
  unusable,
} from './environment.ts'
import { LmdbKeyStore } from './key-store.ts'
import { takeOwnershipWhenRoom } from './late-ownership.ts'
import {
  DATABASES,
  FORMAT_VERSION,
  HISTORIANS_FOLDER,
  historianFolder,
  SYSTEM_FOLDER,
  UNFINISHED_FOLDER,
} from './names.ts'
import type { Ownership } from './owner.ts'

export interface DataDirectoryOptions {
  /**
   * Whether this process is to be the one that serves or changes historians: there is one owner at a time. Managing keys and
   * aliases, checking and backing up need no ownership and work beside a running owner.
   */
  readonly owner: boolean
  /** Whether a missing directory is made; otherwise it is DATA_DIR_UNUSABLE. */
  readonly create?: boolean
}

/** The folder with everything that Tidemark keeps. */
export class DataDirectory {
  readonly path: string
  readonly keys: KeyStore
  readonly aliases: LmdbAliasStore
  readonly #root: Root
  readonly #ownership: Ownership | null

  /** Use {@link openDataDirectory}. */
  constructor(
    path: string,
    root: Root,
    stores: { readonly keys: KeyStore; readonly aliases: LmdbAliasStore },
    ownership: Ownership | null,
  ) {
    this.path = path
    this.#root = root
    this.keys = stores.keys
    this.aliases = stores.aliases
    this.#ownership = ownership
  }

  /** The folder of an embedded historian; it need not exist. */
  historianDirectory(name: string): string {
    return historianDirectory(this.path, name)
  }

  /** Folders of all embedded historians that were ever opened here, by folder name. */
  historianDirectories(): readonly string[] {
    return historianDirectories(this.path)
  }

  /** The environment with keys and aliases. */
  get system(): Root {
    return this.#root
  }

  /** Gives up the ownership, after all historians inside were closed. */
  async close(): Promise<void> {
    await this.#ownership?.release()
    await this.#root.close()
  }
}

/**
 * Opens a data directory, making it when missing.
 * Throws DATA_DIR_IN_USE when an owner is wanted and another process is it, DATA_DIR_NEWER for a format that this version does not
 * know, DATA_DIR_UNUSABLE when the file system refuses, or for a backup that was not finished.
 */
export async function openDataDirectory(path: string, options: DataDirectoryOptions): Promise<DataDirectory> {
  const folder = join(path, SYSTEM_FOLDER)
  if (existsSync(join(path, UNFINISHED_FOLDER))) throw unusable(path, 'it is a backup that was not finished')
  if (options.create === false && !hasEnvironment(folder)) {
    throw unusable(path, 'there is no data directory of tidemark')
  }
  const root = openEnvironment(folder, path)
  try {
    const store = openDatabase(root, DATABASES.meta)
    const meta = new Meta(store)
    meta.checkFormat(root, FORMAT_VERSION, path)
    const keys = new LmdbKeyStore(root, meta, openDatabase(root, DATABASES.keys))
    const ownership = options.owner ? takeOwnershipWhenRoom(root, meta, folder, path) : null
    const aliases = new LmdbAliasStore(root, openDatabase(root, DATABASES.aliases))
    return new DataDirectory(path, root, { keys, aliases }, ownership)
  } catch (error) {
    await root.close()
    throw error instanceof TidemarkError ? error : unusable(path, reasonOf(error), error)
  }
}

/** The folder of an embedded historian inside a data directory. */
export function historianDirectory(dataDirectory: string, name: string): string {
  return join(dataDirectory, HISTORIANS_FOLDER, historianFolder(name))
}

/** Folders of all embedded historians inside a data directory, by folder name. */
export function historianDirectories(dataDirectory: string): readonly string[] {
  const folder = join(dataDirectory, HISTORIANS_FOLDER)
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return []
    throw unusable(dataDirectory, reasonOf(error), error)
  }
  return names
    .sort()
    .map((name) => join(folder, name))
    .filter(hasEnvironment)
}
