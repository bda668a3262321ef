import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { Files } from '../files/files.ts'
import { readOwnerNote } from './owner-note.ts'

/** DATA_DIR_IN_USE for a folder that another process owns. @param note  path of what its owner said of itself */
export function inUse(files: Files, directory: string, note: string): TidemarkError {
  const pid = readOwnerNote(files, note)?.pid ?? 'unknown'
  const hint = ': stop it first, or go through it with --url'
  return new TidemarkError('DATA_DIR_IN_USE', { directory, pid, hint })
}
