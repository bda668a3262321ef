import { closeSync, fsyncSync, openSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Has a folder and all files and folders in it on disk, entries and contents. Throws what the disk reports. */
export function syncTree(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) syncTree(path)
    else syncFile(path)
  }
  syncFolder(folder)
}

/**
 * Has the entries of a folder on disk. Throws what the disk reports; nothing where the system has no such thing: Windows does not
 * open folders, some network file systems do not sync them, and one that may not be read was not made just now.
 */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  try {
    syncFile(path, 'r')
  } catch (error) {
    if (!NOT_SYNCED.has(String((error as { code?: unknown }).code))) throw error
  }
}

const NOT_SYNCED = new Set([
  'EINVAL',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EACCES',
  'EPERM',
  'EBADF',
  'EISDIR',
])

/** Has the entry of a new folder on disk, and those of so many folders above it, which can be new as well. */
export function syncEntries(folder: string, levels: number): void {
  for (let path = folder, left = levels; left >= 0; path = dirname(path), left--) syncFolder(path)
}

function syncFile(path: string, flags = 'r+'): void {
  const descriptor = openSync(path, flags)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
