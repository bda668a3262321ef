import { freeBytesOf, usedBytesOf } from '../files/measure-folders.ts'
import { systemFiles } from '../files/system-files.ts'
import { readBackupNote } from './backup-note.ts'

/** What is worth watching of the folders with data. */
export interface DataMeasures {
  /** That this user may still write on the disk of the data directory. */
  readonly freeBytes: number
  /** Of all files, as they are on disk. */
  readonly usedBytes: number
  /** Seconds since 1970; `null` when no backup was made yet, or is not known of. */
  readonly lastBackup: number | null
}

/** Folders are gone through at most this often. */
const FRESH_MS = 30_000

/**
 * Measures the data directory, and folders of historians elsewhere.
 * @returns gives what was found within the last half minute; `null` when the data directory cannot be read
 */
export function measureData(
  dataDir: string,
  elsewhere: readonly string[],
): () => Promise<DataMeasures | null> {
  let measuredAt = Number.NEGATIVE_INFINITY
  let measured: Promise<DataMeasures | null> = Promise.resolve(null)
  const look = async (): Promise<DataMeasures> => {
    const freeBytes = await freeBytesOf(dataDir)
    let usedBytes = 0
    for (const folder of new Set([dataDir, ...elsewhere])) usedBytes += await usedBytesOf(folder)
    return { freeBytes, usedBytes, lastBackup: readBackupNote(systemFiles, dataDir) }
  }
  return () => {
    if (performance.now() - measuredAt >= FRESH_MS) {
      measuredAt = performance.now()
      measured = look().catch(() => null)
    }
    return measured
  }
}
