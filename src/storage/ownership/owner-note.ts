import { hostname } from 'node:os'
import { type Files, readFile } from '../files/files.ts'

/** Who owns something, for messages alone. */
export interface OwnerNote {
  readonly pid: number
  readonly host: string
}

/**
 * Writes into a file who this process is; the file is made when it is missing. Nothing depends on it: what cannot be
 * written is left out.
 */
export function noteOwner(files: Files, path: string): void {
  try {
    const file = files.exists(path) ? files.edit(path) : files.create(path)
    try {
      const note = JSON.stringify({ pid: process.pid, host: hostname() } satisfies OwnerNote)
      file.writeNow(Buffer.from(note), 0)
      file.truncateNow(Buffer.byteLength(note))
    } finally {
      file.close()
    }
  } catch {
    // A full disk, perhaps.
  }
}

/** What the last owner said of itself; `null` when that cannot be read. */
export function readOwnerNote(files: Files, path: string): OwnerNote | null {
  try {
    const { pid, host } = JSON.parse(Buffer.from(readFile(files, path)).toString()) as Partial<OwnerNote>
    return typeof pid === 'number' && typeof host === 'string' ? { pid, host } : null
  } catch {
    return null
  }
}
