import { randomBytes } from 'node:crypto'
import { systemCode } from '../../errors/system-code.ts'
import type { Folders } from '../engine/folders.ts'
import type { HistorianBefore } from '../engine/was-there.ts'
import type { Files } from '../files/files.ts'
import { reasonOf } from '../files/refusals.ts'
import { ManifestWriter } from '../manifest/manifest-file.ts'
import type { Version } from '../manifest/version.ts'
import type { SetAside } from './set-aside.ts'

/** What a repair found. */
export interface RepairReport {
  /** Whether the manifest, the catalog, the log and all parts can be read: then nothing was done. */
  readonly isSound: boolean
  readonly parts: number
  /** Files that were moved to the folder `damaged`; one that is missing cannot be. */
  readonly aside: readonly string[]
  /** What is lost, or may be, one sentence each. */
  readonly lost: readonly string[]
  /** What counts no more and could not be moved there, or is not sure to be on disk, one sentence each. */
  readonly left: readonly string[]
  /** Whether the log was written anew: then the historian has another id, and an archive of its log begins anew. */
  readonly isLogAnew: boolean
}

/** What is repaired. */
export interface RepairedOne {
  readonly historian: string
  /** What is known of it outside of its folder; `null` for nothing. */
  readonly before?: HistorianBefore | null
}

export const reportOf = (
  { parts }: Version,
  { names, left }: SetAside,
  lost: readonly string[],
  isLogAnew: boolean,
): RepairReport => ({
  isSound: false,
  parts: parts.length,
  aside: names,
  lost: [...new Set(lost)],
  left,
  isLogAnew,
})

/** Id of a historian of its own. */
export const newId = () => randomBytes(16).toString('hex')

/**
 * Writes the manifest that says what counts from now on. What is lost is told whatever fails after that: the next
 * repair finds nothing that is damaged any more.
 * @param moveAway  moves what counts no more, once the manifest is on disk
 */
export async function writeManifest(
  files: Files,
  folders: Folders,
  version: Version,
  { left }: SetAside,
  moveAway: () => void,
): Promise<void> {
  const manifest = new ManifestWriter(files, folders.manifest, version)
  try {
    await manifest.begin()
  } catch (error) {
    const isNamed = manifest.place.number > 0
    if (!isNamed || systemCode(error) === '') throw error
    left.push(
      `the new manifest may not be on disk (${reasonOf(error)}): until the service was started a power cut may undo ` +
        'the repair, and the files that count no more stay in their folders',
    )
    return
  }
  manifest.close()
  moveAway()
}
