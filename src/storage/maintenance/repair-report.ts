import { randomBytes } from 'node:crypto'
import { systemCode } from '../../errors/system-code.ts'
import type { Folders } from '../engine/folders.ts'
import type { HistorianBefore } from '../engine/was-there.ts'
import { type Files, isWithoutSpace } from '../files/files.ts'
import { reasonOf } from '../files/refusals.ts'
import { ManifestWriter } from '../manifest/manifest-file.ts'
import type { Version } from '../manifest/version.ts'
import { type LostReports, unwritten } from './lost-reports.ts'
import type { SetAside } from './set-aside.ts'

/** What a repair found. */
export interface RepairReport {
  /** Whether manifest, catalog, log and all parts can be read, and all is told: then nothing was done. */
  readonly isSound: boolean
  /** Whether they can, and all that is told is of an earlier repair that did not end. */
  readonly isRetold: boolean
  readonly parts: number
  /** Files that were moved to the folder `damaged`; one that is missing cannot be. */
  readonly aside: readonly string[]
  /** What is lost, or may be, one sentence each; also by an earlier repair that did not end. */
  readonly lost: readonly string[]
  /** What nobody can know without the manifest that is lost, one sentence each; also of an earlier repair. */
  readonly unknown: readonly string[]
  /** Names of the files in the folder `damaged` that say it, for people. */
  readonly reports: readonly string[]
  /**
   * What counts no more and could not be moved there, is not sure to be on disk, or could not be done with those files,
   * one sentence each.
   */
  readonly left: readonly string[]
  /**
   * Whether the log was written anew, also by that earlier repair: then the historian has another id, and an archive of
   * its log begins anew.
   */
  readonly isLogAnew: boolean
  /** Whether the manifest was made anew: the same follows from it. */
  readonly isManifestAnew: boolean
}

/** What is repaired. */
export interface RepairedOne {
  readonly historian: string
  /** What is known of it outside of its folder; `null` for nothing. */
  readonly before?: HistorianBefore | null
  /** Called when all is done: the next repair tells nothing of it again once this has returned. */
  readonly tell?: (report: RepairReport) => void
}

/** What a repair keeps beside the historian, in the folder `damaged`. */
export interface Kept {
  readonly aside: SetAside
  readonly reports: LostReports
}

/** @param unknown  as of a report, where the manifest was made anew; `null` where it was there */
export const reportOf = (
  { parts }: Version,
  { aside, reports }: Kept,
  lost: readonly string[],
  isLogAnew: boolean,
  unknown: readonly string[] | null = null,
): RepairReport => ({
  isSound: false,
  isRetold: false,
  parts: parts.length,
  aside: aside.names,
  ...reports.withEarlier({ lost, unknown: unknown ?? [] }),
  reports: reports.names,
  left: [...reports.left, ...aside.left],
  isLogAnew: isLogAnew || reports.earlier.isLogAnew,
  isManifestAnew: unknown !== null,
})

/** Of a historian in which nothing is damaged. */
export const reportOfSound = (version: Version, kept: Kept): RepairReport => ({
  ...reportOf(version, kept, [], false),
  isSound: !kept.reports.hasEarlier,
  isRetold: kept.reports.hasEarlier,
})

/** Id of a historian of its own. */
export const newId = () => randomBytes(16).toString('hex')

/**
 * Writes the manifest that says what counts from now on. What is lost is told whatever fails after that: the next
 * repair finds nothing that is damaged any more, but for the report, which is on disk before.
 * @param moveAway  moves what counts no more, once the manifest is on disk
 */
export async function writeManifest(
  files: Files,
  folders: Folders,
  version: Version,
  { aside, reports }: Kept,
  moveAway: () => void,
): Promise<void> {
  const manifest = new ManifestWriter(files, folders.manifest, version)
  try {
    await begin(manifest, reports)
  } catch (error) {
    const isNamed = manifest.place.number > 0
    if (!isNamed || systemCode(error) === '') throw error
    aside.left.push(
      `the new manifest may not be on disk (${reasonOf(error)}): until the service was started a power cut may undo ` +
        'the repair, and the files that count no more stay in their folders',
    )
    return
  }
  manifest.close()
  moveAway()
}

/** Begins a manifest. Where the report has taken the last room of the disk it is taken back. */
async function begin(manifest: ManifestWriter, reports: LostReports): Promise<void> {
  try {
    await manifest.begin()
  } catch (error) {
    const isNamed = manifest.place.number > 0
    // Of any other error it is not sure that nothing came to the name.
    if (isNamed || !isWithoutSpace(error) || !reports.withdraw()) throw error
    reports.left.push(unwritten(error))
    await manifest.begin()
  }
}
