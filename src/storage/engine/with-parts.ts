import { setTimeout as sleep } from 'node:timers/promises'
import { type Files, isGone } from '../files/files.ts'
import type { Version } from '../manifest/version.ts'
import type { PublicationReader } from '../wal/publication.ts'
import type { Folders } from './folders.ts'
import { findNewest } from './newest-version.ts'
import type { MissingFile } from './part-set.ts'

/** Looks for the file of a part that the newest version names, before it is taken for missing, and pauses between. */
const LOOKS = 6
const LOOK_AGAIN_MS = 20

/**
 * Opens the parts of a version. One whose file is missing was dropped if a newer version is there by now: then ENOENT
 * or ESTALE is thrown, and all is to be read anew. Otherwise it is looked for again some times, and is damage then.
 */
export async function withParts<T>(
  files: Files,
  folders: Folders,
  reader: PublicationReader,
  { number, token }: Version,
  open: (missing: MissingFile) => T | Promise<T>,
): Promise<T> {
  for (let looks = 1; ; looks++) {
    try {
      return await open(looks < LOOKS ? 'error' : 'damage')
    } catch (error) {
      if (!isGone(error) || looks >= LOOKS) throw error
      const newest = findNewest(files, folders, reader)?.version
      if (newest?.number !== number || newest.token !== token) throw error
      await sleep(LOOK_AGAIN_MS)
    }
  }
}
