import { join } from 'node:path'
import type { Files } from './files.ts'
import { unusable } from './refusals.ts'

/** The data file of formats 1 and 2, which no release wrote. */
const OLD_DATA_FILE = 'data.mdb'

/**
 * Throws DATA_DIR_UNUSABLE for a folder that holds data of format 1 or 2: they are not read any more, and must not be
 * taken for nothing.
 * @param shown  the folder named in the error
 */
export function refuseOldFormat(files: Files, folder: string, shown = folder): void {
  if (!files.exists(join(folder, OLD_DATA_FILE))) return
  const reason =
    'it holds data in format 2 of a development version, which this version does not read: ' +
    'export them with that version, and import them into a new folder'
  throw unusable(shown, reason)
}
