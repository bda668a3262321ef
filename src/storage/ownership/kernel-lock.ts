import { DatabaseSync } from 'node:sqlite'
import { systemCode } from '../../errors/system-code.ts'
import type { Files } from '../files/files.ts'
import { AlreadyOwned } from './ownership.ts'

/** Primary result codes of SQLite: another one has the lock, in this process or elsewhere. */
const SQLITE_BUSY = 5
const SQLITE_LOCKED = 6

/** How long somebody who looks whether it is locked may be in the way, in milliseconds. */
const LOOK_MS = 20

/** A lock of the kernel, held until it is released or the process ends, however it ends. */
export interface KernelLock {
  /** Frees it; nothing the second time. */
  release(): void
}

/**
 * Takes the lock of SQLite on an empty file, which is made when it is missing. It stays while the process stands still,
 * and is free at once when it is killed.
 *
 * Nothing but SQLite may open the file: closing it anywhere in the process would free the lock, as POSIX has it.
 * Throws AlreadyOwned, what Files throws, and errors of node:sqlite.
 */
export function takeKernelLock(files: Files, path: string): KernelLock {
  // Made here, it fails with the system's reason, which SQLite does not tell.
  if (!files.exists(path)) createUnlessThere(files, path)
  const lock = new DatabaseSync(path, { timeout: LOOK_MS })
  try {
    // Nothing is ever written, also not a journal: the file stays empty, and a full disk is in nobody's way.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    throw isBusy(error) ? new AlreadyOwned() : error
  }
  return {
    release() {
      if (lock.isOpen) lock.close()
    },
  }
}

/** Whether a process holds the lock; true as well where that cannot be told. Changes nothing. */
export function isLocked(files: Files, path: string): boolean {
  if (!files.exists(path)) return false
  try {
    const look = new DatabaseSync(path, { readOnly: true, timeout: 0 })
    try {
      look.exec('SELECT 1 FROM sqlite_schema LIMIT 1')
      return false
    } finally {
      look.close()
    }
  } catch {
    return true
  }
}

function createUnlessThere(files: Files, path: string): void {
  try {
    files.create(path).close()
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error
  }
}

function isBusy(error: unknown): boolean {
  const { errcode } = error as { readonly errcode?: unknown }
  return typeof errcode === 'number' && [SQLITE_BUSY, SQLITE_LOCKED].includes(errcode & 0xff)
}
