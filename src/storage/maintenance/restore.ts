import { basename, join } from 'node:path'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { formatInstant } from '../../time/format.ts'
import { instantFromUs } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import { archiveFolderOf } from '../archive/archive-file.ts'
import {
  archivedIn,
  firstRecordBehind,
  NoWayThere,
  planReplay,
  type ReplayPlan,
} from '../archive/read-archive.ts'
import { openDataDirectory } from '../directory/data-directory.ts'
import { ELSEWHERE_FOLDER, HISTORIANS_FOLDER, SYSTEM_FOLDER } from '../directory/layout.ts'
import { foldersOf } from '../engine/folders.ts'
import type { Files } from '../files/files.ts'
import { reasonOf, unusable } from '../files/refusals.ts'
import { systemFiles } from '../files/system-files.ts'
import { listManifests, readManifest } from '../manifest/manifest-file.ts'
import type { AcceptedSegment, Version } from '../manifest/version.ts'
import { SYSTEM_DATABASE } from '../system/system-database.ts'
import { bytesBefore } from '../wal/counted.ts'
import { readAll, readLog } from '../wal/read-log.ts'
import { decodeSegmentHeader, parseSegmentName, SEGMENT_HEADER_BYTES } from '../wal/segment.ts'
import { copyHistorian } from './copy-historian.ts'
import { copyRefusal, readRefusal } from './copy-refusals.ts'
import { intoNewDirectory } from './new-directory.ts'
import { replayLog } from './replay-log.ts'

/** What is restored. */
export interface RestoreOptions {
  /** The moment, in microseconds since 1970; `null` for all that is archived. */
  readonly to: number | null
  /** Names of those that are taken there, others stay as in the backup; `null` for all. */
  readonly only: readonly string[] | null
  /** Folder of the archive of a historian; `null` for one that has none: it can only stay as in the backup. */
  archiveOf(historian: string): string | null
}

/** A historian that was restored. */
export interface RestoredHistorian {
  readonly name: string
  /** Its folder in the new data directory. */
  readonly folder: string
  readonly isInside: boolean
  /** When the backup was made, in microseconds since 1970. */
  readonly backedUpAt: number
  /** What was replayed of the archive; `null` for nothing, where it has none. */
  readonly replayed: ReplayPlan | null
}

/**
 * Makes a data directory of a backup, in a folder that is empty or missing, and takes its historians to a moment: every
 * commit up to the first one that was later, in the order of commits, and nothing after it. Keys and aliases are those
 * of the backup.
 *
 * Everything is verified before a historian is written. Throws RESTORE_IMPOSSIBLE where the archive does not lead to
 * the moment, DATA_DIR_UNUSABLE when a folder cannot be used, STORAGE_CORRUPT for a backup that cannot be read; nothing
 * is left then.
 */
export async function restoreDataDirectory(
  backup: string,
  target: string,
  options: RestoreOptions,
  signal: AbortSignal,
  files: Files = systemFiles,
): Promise<readonly RestoredHistorian[]> {
  const directory = await openDataDirectory(backup, { owner: false, create: false })
  try {
    // Before the long work: what cannot be restored is said at once.
    const found = historiansOf(files, backup).map(({ folder, place }) => {
      try {
        const version = versionOf(files, folder)
        return { folder, place, version, plan: planOf(files, folder, version, options, signal) }
      } catch (error) {
        throw signal.aborted ? error : readRefusal(error, basename(folder), folder)
      }
    })
    const missing = options.only?.find((name) => !found.some(({ version }) => version.historian === name))
    if (missing !== undefined) throw impossible(missing, 'it is not in the backup')
    return await intoNewDirectory(files, target, signal, async (unfinished) => {
      const system = join(unfinished, SYSTEM_FOLDER)
      files.makeFolder(system)
      await directory.system.copyTo(files, join(system, SYSTEM_DATABASE))
      files.syncFolder(system)
      const restored: RestoredHistorian[] = []
      for (const { folder, place, version, plan } of found) {
        signal.throwIfAborted()
        const copy = join(unfinished, place)
        await copyHistorian(files, folder, copy, { mode: 'copy' }, signal).catch((error: unknown) => {
          throw signal.aborted ? error : copyRefusal(error, version.historian, folder, copy)
        })
        if (plan !== null) await replayLog(files, copy, plan.replay, plan.accepted, signal)
        restored.push({
          name: version.historian,
          folder: join(target, place),
          isInside: place.startsWith(HISTORIANS_FOLDER),
          backedUpAt: version.copiedAt!,
          replayed: plan?.replay ?? null,
        })
      }
      return restored
    })
  } finally {
    await directory.close()
  }
}

/** Folders of the historians in a backup, and their places in it. Throws DATA_DIR_UNUSABLE. */
function historiansOf(files: Files, backup: string) {
  try {
    return [HISTORIANS_FOLDER, ELSEWHERE_FOLDER].flatMap((kind) =>
      files
        .list(join(backup, kind))
        .map((name) => ({ folder: join(backup, kind, name), place: join(kind, name) }))
        .filter(({ folder }) => files.isFolder(folder)),
    )
  } catch (error) {
    throw unusable(backup, reasonOf(error), error)
  }
}

function versionOf(files: Files, folder: string): Version {
  const { manifest } = foldersOf(folder)
  const place = listManifests(files, manifest).at(-1)
  if (place === undefined) throw impossible(basename(folder), 'there is no historian in its folder')
  const { version } = readManifest(files, manifest, place)
  if (version.copiedAt === undefined) {
    throw impossible(version.historian, 'it was served since the backup was made, or its folder is no backup')
  }
  return version
}

/** How a historian is taken to a moment. */
interface HistorianPlan {
  /** What counts of the backup's log. */
  readonly accepted: readonly AcceptedSegment[]
  readonly replay: ReplayPlan
}

/** `null` for a historian that stays as in the backup. */
function planOf(
  files: Files,
  folder: string,
  version: Version,
  { to, only, archiveOf }: RestoreOptions,
  signal: AbortSignal,
): HistorianPlan | null {
  const { historian, id, copiedAt } = version
  if (only !== null && !only.includes(historian)) return null
  const archive = archiveOf(historian)
  if (archive === null) {
    if (to === null) return null
    throw impossible(historian, 'no archive of it is configured: name it, or the historians that have one')
  }
  if (to !== null && to < copiedAt!) {
    throw impossible(historian, `the backup was made at ${text(copiedAt!)}: take an earlier one`)
  }
  const archived = { folder: archiveFolderOf(archive, historian, id), id }
  const accepted = countedLog(files, folder, version, archived.folder)
  const last = lastRecordOf(files, folder, { ...version, accepted })
  try {
    return { accepted, replay: planReplay(files, archived, last, to, signal) }
  } catch (error) {
    if (error instanceof NoWayThere) throw impossible(historian, wayThere(error, archived.folder))
    throw signal.aborted ? error : readRefusal(error, historian, archived.folder)
  }
}

/**
 * What counts of a backup's log. Its last group may be one that nobody was answered for and that its owner gave up, as
 * the sync failed (docs/storage.md, Copies): then the archive has others under the same numbers, and those count.
 */
function countedLog(
  files: Files,
  folder: string,
  { accepted }: Version,
  archive: string,
): readonly AcceptedSegment[] {
  const { wal } = foldersOf(folder)
  const archived = archivedIn(files, archive)
  return accepted.flatMap((one) => {
    const next = firstRecordBehind(archived, parseSegmentName(one.name)!)
    // A missing one is told with the others.
    if (next === Number.POSITIVE_INFINITY || !files.exists(join(wal, one.name))) return [one]
    const content = readAll(files, wal, one.name).subarray(0, one.bytes)
    const bytes = bytesBefore({ header: decodeSegmentHeader(content), bytes: content }, next)
    // All of it counts, or it is damaged, which is told with the others, too.
    if (bytes === content.length) return [one]
    return bytes > SEGMENT_HEADER_BYTES ? [{ name: one.name, bytes }] : []
  })
}

/** Number of the last record that a copy has. Throws Damage. */
function lastRecordOf(files: Files, folder: string, version: Version): number {
  let last = version.flushedSequence
  readLog(files, foldersOf(folder).wal, version, null, {
    take({ sequence }) {
      last = sequence
    },
    damaged(damage) {
      throw damage
    },
  })
  return last
}

function wayThere({ why }: NoWayThere, folder: string): string {
  switch (why.kind) {
    case 'gap':
      return `records ${why.first} to ${why.last} of the log are missing in ${folder}`
    case 'damaged':
      return `${why.file} in ${folder} is damaged: ${why.reason}`
    case 'end':
      return `the archive ends at ${text(why.until)}: choose a moment until then, or leave it out`
    case 'nothing':
      return `nothing that came after the backup is archived in ${folder}`
    default:
      return why satisfies never
  }
}

const text = (us: number) => formatInstant(instantFromUs(us), UTC)

const impossible = (historian: string, reason: string) =>
  new TidemarkError('RESTORE_IMPOSSIBLE', { historian, reason })
