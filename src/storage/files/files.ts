import { dirname, resolve } from 'node:path'
import { systemCode } from '../../errors/system-code.ts'

/**
 * Everything that the engine asks of the file system. It touches files through one of these and in no other way, so
 * that a test can put one in its place that fails, cuts writes short, or forgets what was not synced.
 *
 * All throw, or reject with, what the system says: an error with `code` (ENOSPC, EDQUOT, EIO, ENOENT, EEXIST ...).
 * Names ending in `Now` block the thread: they are for what is in the page cache or small, and for threads of their
 * own.
 */
export interface Files {
  /** Opens an existing file to read it. */
  open(path: string): FileHandle
  /** Opens an existing file to read and write it. */
  edit(path: string): FileHandle
  /** Makes a file that must not exist (EEXIST). Its entry is durable after `syncFolder` of its folder. */
  create(path: string): FileHandle
  /** Names in a folder, sorted; none when the folder is missing. */
  list(folder: string): readonly string[]
  exists(path: string): boolean
  isFolder(path: string): boolean
  /** Makes a folder and those above it that are missing, durably. */
  makeFolder(path: string): void
  /** Makes a folder in one that is there, as `create` does a file; EEXIST when it is there, too. */
  makeNewFolder(path: string): void
  /** Replaces what stands at `to`. Durable after `syncFolder` of the folder. */
  rename(from: string, to: string): void
  /** Removes a file; nothing when it is missing. */
  remove(path: string): void
  /** The same beside this thread: giving back the pages of a large file takes a third of a millisecond for each MB. */
  removeAside(path: string): Promise<void>
  /** Removes a folder with everything in it; nothing when it is missing. */
  removeFolder(path: string): void
  /** A second name of the same file. */
  link(from: string, to: string): void
  /** Whether two paths are names of one file that is there. */
  isSameFile(one: string, other: string): boolean
  /** Has the entries of a folder on disk; nothing where the system has no such thing. */
  syncFolder(path: string): void
  /** The same beside this thread: it waits for what else is being written to the disk. */
  syncFolderAside(path: string): Promise<void>
  /** Bytes that this process may still write in the file system of a folder; infinite where that cannot be told. */
  freeBytes(folder: string): number
}

/** An open file. Positions and sizes are in bytes. Nothing is asked of it after `close`. */
export interface FileHandle {
  readonly path: string
  size(): number
  /** Whether a path leads to this very file; false as well where that cannot be told. */
  isAt(path: string): boolean
  /** Fills `target` from `at` on; gives how much was read, less than asked only at the end of the file. */
  readNow(target: Uint8Array, at: number): number
  read(target: Uint8Array, at: number): Promise<number>
  /** Writes all of it: a write that the system cuts short goes on, and fails with what keeps it from going on. */
  writeNow(bytes: Uint8Array, at: number): void
  /** The same; `bytes` are lent until it resolves. */
  write(bytes: Uint8Array, at: number): Promise<void>
  /**
   * Has content and size on disk. After it failed nothing is known of what was written before: it is never tried again.
   */
  syncNow(): void
  sync(): Promise<void>
  /**
   * Throws where a sync that is just done may have been none. To be called when it had a length of the file to write:
   * ext4 that gives up its journal meanwhile says that all is done, and has the file as it was before.
   */
  confirmNow(): void
  /** Takes the end of the file away. */
  truncateNow(bytes: number): void
  close(): void
}

/**
 * makeFolder of a layer, from its other calls. Each folder has its entry on disk before one is made in it, and that of
 * a folder which is there is synced, too: who made it may have been killed before.
 */
export function makeFolderDurably(
  files: Pick<Files, 'isFolder' | 'makeNewFolder' | 'syncFolder'>,
  path: string,
): void {
  const folder = resolve(path)
  const above = dirname(folder)
  const isThere = files.isFolder(folder)
  if (!isThere) {
    if (above !== folder) makeFolderDurably(files, above)
    try {
      files.makeNewFolder(folder)
    } catch (error) {
      // Another process may have made it meanwhile.
      if (systemCode(error) !== 'EEXIST' || !files.isFolder(folder)) throw error
    }
  }
  try {
    files.syncFolder(above)
  } catch (error) {
    // One that stands in a folder which we may not read is none that we made.
    if (!isThere || systemCode(error) !== 'EACCES') throw error
  }
}

/** Whether the disk, or the file system's own checks, failed a call on what is there. */
export function isDiskError(error: unknown): boolean {
  return DISK_ERRORS.has(systemCode(error))
}

const DISK_ERRORS = new Set(['EIO', 'EBADMSG', 'EUCLEAN'])

/**
 * Whether something failed because a file is gone: nothing has its name, or another machine removed it while it was
 * open, which a network file system then forgets.
 */
export function isGone(error: unknown): boolean {
  const code = systemCode(error)
  return code === 'ENOENT' || code === 'ESTALE'
}

/** Whether something failed because there is no room: a full disk, a quota, a limit of file sizes. */
export function isWithoutSpace(error: unknown): boolean {
  return NO_SPACE.has(systemCode(error))
}

const NO_SPACE = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/** All of a file. Throws as `open` does. */
export function readFile(files: Files, path: string): Uint8Array<ArrayBuffer> {
  const file = files.open(path)
  try {
    const bytes = new Uint8Array(file.size())
    const length = file.readNow(bytes, 0)
    return length === bytes.length ? bytes : bytes.slice(0, length)
  } finally {
    file.close()
  }
}

/** Removes a file, and leaves it where that fails: one that nothing names is removed by a later owner, or no harm. */
export function removeQuietly(files: Pick<Files, 'remove'>, path: string): void {
  try {
    files.remove(path)
  } catch {
    // As above.
  }
}
