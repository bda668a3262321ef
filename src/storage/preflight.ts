import { accessSync, closeSync, constants, mkdirSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DATA_FILE, LOCK_FILE } from './names.ts'

/**
 * Tries out all that lmdb will do to open an environment in a folder, and throws what stands in the way: when lmdb itself fails to
 * open, lmdb-js 3.5 ends the process with a segmentation fault instead of an error.
 */
export function checkBeforeOpening(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const isNew = !tryDataFile(join(folder, DATA_FILE))
  const needsLock = !mayWrite(join(folder, LOCK_FILE))
  if (isNew || needsLock) tryWriting(folder, FIRST_BYTES)
}

/**
 * Whether a file that exists may be written; false when there is none. Asks without opening it: closing the lock file would release
 * the locks that lmdb of this process holds on it, and the next process would take the environment for its own.
 */
function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return true
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return false
    throw error
  }
}

/** Opens the data file and looks whether lmdb made it; false when there is none or nothing in it. */
function tryDataFile(path: string): boolean {
  let file: number
  try {
    file = openSync(path, 'r+')
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return false
    throw error
  }
  try {
    return checkHeader(file)
  } finally {
    closeSync(file)
  }
}

const META_FLAG = 0x08
const MAGIC = 0xbeefc0de
const LMDB_VERSION = 2
const HEADER_BYTES = 64

/** Both meta pages must look like those of lmdb; false for an empty file. */
function checkHeader(file: number): boolean {
  const header = Buffer.alloc(HEADER_BYTES)
  const length = readSync(file, header, 0, HEADER_BYTES, 0)
  if (length === 0) return false
  checkMetaPage(header, length)
  const pageBytes = header.readUInt32LE(48)
  checkMetaPage(header, readSync(file, header, 0, HEADER_BYTES, pageBytes))
  return true
}

function checkMetaPage(header: Buffer, length: number): void {
  if (length < HEADER_BYTES || header.readUInt16LE(18) !== META_FLAG || header.readUInt32LE(24) !== MAGIC) {
    throw new Error('MDB_INVALID')
  }
  if (header.readUInt32LE(28) !== LMDB_VERSION) throw new Error('MDB_VERSION_MISMATCH')
}

/** What a new environment takes at first. */
const FIRST_BYTES = 256 * 1024
/** What a small commit takes at most. */
const COMMIT_BYTES = 64 * 1024

/** Throws what the file system says when there is no room in a folder for a small commit. */
export function tryRoom(folder: string): void {
  tryWriting(folder, COMMIT_BYTES)
}

function tryWriting(folder: string, size: number): void {
  const path = join(folder, `.try-${process.pid}`)
  const file = openSync(path, 'w')
  try {
    const bytes = Buffer.alloc(size)
    for (let written = 0; written < size; ) written += writeSync(file, bytes, written)
  } finally {
    closeSync(file)
    rmSync(path, { force: true })
  }
}
