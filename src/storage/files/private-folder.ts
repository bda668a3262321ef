import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Rights of a folder and of a file that only their owner may use. */
const PRIVATE_FOLDER = 0o700
const PRIVATE_FILE = 0o600
const OTHERS = 0o007

/** From now on this process makes files and folders that only its user may read. Does nothing on Windows. */
export function makePrivateFiles(): void {
  process.umask(0o077)
}

/**
 * Takes a folder and all in it away from the other users of the machine, where an earlier version, or somebody, made it
 * readable for everybody. One that is closed to others is left as it is, so that an operator may give its group rights.
 * Never throws: what belongs to somebody else, or stands on a file system without rights, stays as it is.
 * @returns whether other users of the machine cannot read the folder afterwards; true when it does not exist
 */
export function closeToOthers(folder: string): boolean {
  if (process.platform === 'win32' || !isOpenToOthers(folder)) return true
  // The folder last: a start that ends before it begins again.
  close(folder)
  return !isOpenToOthers(folder)
}

function isOpenToOthers(path: string): boolean {
  try {
    return (lstatSync(path).mode & OTHERS) !== 0
  } catch {
    return false
  }
}

function close(path: string): void {
  try {
    const entry = lstatSync(path)
    if (entry.isDirectory()) {
      for (const name of readdirSync(path)) close(join(path, name))
      chmodSync(path, PRIVATE_FOLDER)
    } else if (entry.isFile()) chmodSync(path, PRIVATE_FILE)
  } catch {
    // Of another user, who alone may change it.
  }
}
