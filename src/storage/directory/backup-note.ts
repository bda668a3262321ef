import { join } from 'node:path'
import { type Files, readFile } from '../files/files.ts'

/** Says when the last backup was made; beside the data, so that every process that serves them knows. */
const BACKUP_NOTE = 'last-backup.json'

/**
 * Remembers that a backup is done. The note before stays where that fails, with the system's error: when the data
 * directory cannot be written to, say.
 */
export function noteBackup(files: Files, dataDir: string, at: Date): void {
  const path = join(dataDir, BACKUP_NOTE)
  const coming = `${path}.new`
  files.remove(coming)
  const file = files.create(coming)
  try {
    file.writeNow(Buffer.from(`${JSON.stringify({ at: at.toISOString() })}\n`), 0)
    file.syncNow()
  } finally {
    file.close()
  }
  files.rename(coming, path)
  files.syncFolder(dataDir)
}

/** When the last backup was made, in seconds since 1970; `null` when none was, or the note cannot be read. */
export function readBackupNote(files: Files, dataDir: string): number | null {
  try {
    const text = Buffer.from(readFile(files, join(dataDir, BACKUP_NOTE))).toString()
    const { at } = JSON.parse(text) as { readonly at?: unknown }
    const ms = Date.parse(String(at))
    return Number.isNaN(ms) ? null : ms / 1_000
  } catch {
    return null
  }
}
