import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { Files } from '../files/files.ts'
import { unusable } from '../files/refusals.ts'
import { listManifests, readManifest } from '../manifest/manifest-file.ts'
import type { Version } from '../manifest/version.ts'
import { PublicationReader } from '../wal/publication.ts'
import { readLog } from '../wal/read-log.ts'
import type { Folders } from './folders.ts'
import { checkHasAll, checkIsSame, type HistorianBefore } from './was-there.ts'

/**
 * In the folder of another historian, which may have an owner on another machine, nothing is claimed, nor in that of an
 * earlier state, or where the folder of the parts is missing.
 */
export function checkBeforeClaim(
  files: Files,
  folders: Folders,
  { historian, before = null }: { readonly historian: string; readonly before?: HistorianBefore | null },
): void {
  const place = listManifests(files, folders.manifest).at(-1)
  if (place === undefined) return
  try {
    const { version } = readManifest(files, folders.manifest, place)
    checkName(folders, version, historian)
    checkIsSame(files, folders, version, before)
    checkHasFolder(files, folders, version)
    if ((before?.lastSequence ?? 0) <= version.flushedSequence) return
    const lastSequence = lastSequenceOf(files, folders, version)
    if (lastSequence !== null) checkHasAll(files, folders, version, lastSequence, before)
  } catch (error) {
    // What cannot be read now, as an owner on another machine goes on, is read again by the owner.
    if (error instanceof TidemarkError) throw error
  }
}

/**
 * A folder that is not mounted, or was moved, is not taken for one whose parts are lost. Throws DATA_DIR_UNUSABLE; to
 * be called before the folder is made.
 */
export function checkHasFolder(files: Files, { root, parts }: Folders, version: Version): void {
  if (version.parts.length === 0 || files.exists(parts)) return
  throw unusable(root, 'its folder "parts" is missing: put it back, or restore a backup')
}

/** Two names that differ only in case are one folder on some systems: then the second is refused. */
export function checkName(folders: Folders, version: Version, historian: string): void {
  if (version.historian === historian) return
  throw unusable(folders.root, `it holds the historian ${version.historian}, not ${historian}`)
}

/** Number of the last record that is there of a version; `null` where the log is damaged. */
function lastSequenceOf(files: Files, { wal }: Folders, version: Version): number | null {
  const reader = new PublicationReader(files, wal)
  try {
    let last: number | null = version.flushedSequence
    readLog(files, wal, version, reader.read(), {
      take({ sequence }) {
        if (last !== null) last = sequence
      },
      damaged() {
        last = null
      },
    })
    return last
  } finally {
    reader.close()
  }
}
