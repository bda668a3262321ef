import { lstat, readdir, readFile, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

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
const BLOCK_BYTES = 512

/** Says when the last backup was made; beside the data, so that every process that serves them knows. */
const BACKUP_NOTE = 'last-backup.json'

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
    const { bavail, bsize } = await statfs(dataDir)
    let usedBytes = 0
    for (const folder of new Set([dataDir, ...elsewhere])) usedBytes += await bytesIn(folder)
    return { freeBytes: bavail * bsize, usedBytes, lastBackup: await readBackupNote(dataDir) }
  }
  return () => {
    if (performance.now() - measuredAt >= FRESH_MS) {
      measuredAt = performance.now()
      measured = look().catch(() => null)
    }
    return measured
  }
}

/** A file that goes while it is looked at counts nothing. */
async function bytesIn(path: string): Promise<number> {
  const entry = await lstat(path).catch(() => null)
  if (entry === null) return 0
  const own = entry.blocks * BLOCK_BYTES
  if (!entry.isDirectory()) return own
  let bytes = own
  for (const name of await readdir(path).catch(() => [])) bytes += await bytesIn(join(path, name))
  return bytes
}

/** Remembers that a backup is done. Rejects when the data directory cannot be written to. */
export async function noteBackup(dataDir: string, at: Date): Promise<void> {
  await writeFile(join(dataDir, BACKUP_NOTE), `${JSON.stringify({ at: at.toISOString() })}\n`)
}

async function readBackupNote(dataDir: string): Promise<number | null> {
  try {
    const { at } = JSON.parse(await readFile(join(dataDir, BACKUP_NOTE), 'utf8')) as { readonly at?: unknown }
    const ms = Date.parse(String(at))
    return Number.isNaN(ms) ? null : ms / 1_000
  } catch {
    return null
  }
}
