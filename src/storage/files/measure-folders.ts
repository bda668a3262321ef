import { lstat, readdir, statfs } from 'node:fs/promises'
import { join } from 'node:path'

const BLOCK_BYTES = 512

/** Bytes that this user may still write on the disk of a folder. Rejects when it cannot be read. */
export async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/**
 * Bytes on disk of a file, or of a folder with everything in it. One that goes while it is looked at counts nothing,
 * nor does what this user may not look into.
 */
export async function usedBytesOf(path: string): Promise<number> {
  const entry = await lstat(path).catch(() => null)
  if (entry === null) return 0
  let bytes = entry.blocks * BLOCK_BYTES
  if (!entry.isDirectory()) return bytes
  for (const name of await readdir(path).catch(() => [])) bytes += await usedBytesOf(join(path, name))
  return bytes
}
