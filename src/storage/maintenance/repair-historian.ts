import { join } from 'node:path'
import { MemoryCatalog } from '../catalog/memory-catalog.ts'
import type { CatalogRef } from '../catalog/tag-catalog.ts'
import { Damage } from '../damage.ts'
import { checkHasFolder } from '../engine/before-claim.ts'
import { type Folders, foldersOf, highestToken } from '../engine/folders.ts'
import { readNewest } from '../engine/newest-version.ts'
import { checkHasAll, checkIsSame, type HistorianBefore } from '../engine/was-there.ts'
import type { Files } from '../files/files.ts'
import { listManifests, readManifest } from '../manifest/manifest-file.ts'
import type { Version } from '../manifest/version.ts'
import { claimOwnership } from '../ownership/claim.ts'
import type { Ownership } from '../ownership/ownership.ts'
import type { Publication } from '../wal/publication.ts'
import { readLog } from '../wal/read-log.ts'
import { settleEnd } from '../wal/settle-end.ts'
import { highestTagOf, type ReadCatalog, readCatalog, writeWithFreeIds } from './find-catalog.ts'
import { keepIntact } from './keep-intact.ts'
import { LostReports } from './lost-reports.ts'
import { publishedIn, rebuildHistorian } from './rebuild-historian.ts'
import {
  hasNamelessTags,
  inspectLog,
  type ReadableLog,
  type RewrittenLog,
  replacedSegments,
  rewriteLog,
} from './repair-log.ts'
import {
  type Kept,
  newId,
  type RepairedOne,
  type RepairReport,
  reportOf,
  reportOfSound,
  writeManifest,
} from './repair-report.ts'
import { SetAside } from './set-aside.ts'

/**
 * Keeps what is intact of damaged parts, of the catalog and of a damaged log, in files of their own, and sets the
 * damaged ones aside. For a historian whose manifest is missing or cannot be read it makes a new one, from what the
 * files say of themselves. Of a part whose file is missing all is lost. Parts whose footer cannot be read, and segments
 * of which nothing can be, are set aside. Tags are those of the newest catalog, as far as it can be read, and of the
 * log behind it. What of a part the disk does not give (EIO) is lost when it does not at a second try either; for
 * manifest, catalog and log that is an error, as it is too much to leave out. What is lost is on disk before anything
 * is changed by which it is found (LostReports): where an earlier repair did not end, what that lost is told, too.
 *
 * Throws DATA_DIR_UNUSABLE when another historian is in the folder or its folder of parts is missing, AlreadyOwned when
 * a process owns the historian, and the system's errors; what was set aside stays so then, and it can be tried again.
 * Errors after the new manifest came to its name are told beside what is lost.
 */
export async function repairHistorian(
  files: Files,
  folder: string,
  { historian, before = null, tell = () => {} }: RepairedOne,
  signal: AbortSignal,
): Promise<RepairReport> {
  const folders = foldersOf(folder)
  checkFolders(files, folders)
  for (const one of Object.values(folders)) files.makeFolder(one)
  const ownership = claimOwnership(files, folder, highestToken(files, folders))
  try {
    const sound = soundVersion(files, folders, before)
    const token = listManifests(files, folders.manifest).at(-1)?.token ?? 0
    const reports = new LostReports(files, folder, { token, isSound: sound !== null })
    const kept = { aside: new SetAside(files, folder), reports }
    const report =
      sound === null
        ? await rebuildHistorian(files, folders, ownership, kept, { historian, before }, signal)
        : await repairParts(files, folders, ownership, kept, { ...sound, before }, signal)
    tell(report)
    reports.end()
    return report
  } finally {
    ownership.release()
  }
}

/** Throws DATA_DIR_UNUSABLE where the folder of the parts is missing that a manifest names. */
function checkFolders(files: Files, folders: Folders): void {
  const place = listManifests(files, folders.manifest).at(-1)
  if (place === undefined) return
  let version: Version
  try {
    version = readManifest(files, folders.manifest, place).version
  } catch (error) {
    // It is made anew.
    if (error instanceof Damage) return
    throw error
  }
  checkHasFolder(files, folders, version)
}

/** What the newest manifest says, and its owner. */
interface SoundVersion {
  readonly newest: Version
  /** `null` for nothing. */
  readonly published: Publication | null
}

/** As `repairHistorian`, where the manifest is sound. */
async function repairParts(
  files: Files,
  folders: Folders,
  ownership: Ownership,
  { aside, reports }: Kept,
  { newest, published, before }: SoundVersion & Pick<RepairedOne, 'before'>,
  signal: AbortSignal,
): Promise<RepairReport> {
  const { token } = ownership
  const log = { version: newest, published: published?.token === newest.token ? published : null }
  const { isSound: isLogSound, accepted, last } = inspectLog(files, folders, log)
  const kept = await keepIntact(files, folders, newest.parts, token, signal)
  const readable = newest.catalog === null ? null : await readCatalog(files, folders.catalog, newest.catalog)
  const isCatalogSound = readable?.left === 0 || newest.catalog === null
  const lost = [...kept.lost]
  if (kept.damaged.length === 0 && isCatalogSound && isLogSound) {
    return reportOfSound(newest, { aside, reports })
  }
  const { parts } = kept
  const catalog = isCatalogSound
    ? newest.catalog
    : await intactCatalog(files, folders, { ...log, version: { ...newest, parts } }, token, readable, lost)
  const repaired = { ...newest, parts, catalog }
  const repairedLog = { ...log, version: repaired }
  const isLogKept = isLogSound && (isCatalogSound || !(await hasNamelessTags(files, folders, repairedLog)))
  // With another id a start would not notice it any more.
  if (!isLogKept) checkHasAll(files, folders, newest, last, before ?? null)
  const rewritten = isLogKept ? null : await rewriteLog(files, folders, repairedLog, token)
  if (rewritten === null) settleEnd(files, folders.wal, newest.token, accepted, published)
  lost.push(...(rewritten?.lost ?? []))
  ownership.check()
  const version = {
    ...(rewritten === null ? { ...repaired, accepted } : anew(repaired, rewritten, before)),
    number: newest.number + 1,
    token,
  }
  const replaced = rewritten === null ? [] : replacedSegments(files, folders, newest)
  reports.write(newest.historian, token, { lost, unknown: [], isLogAnew: rewritten !== null })
  // Only now: until then the manifest names them.
  await writeManifest(files, folders, version, { aside, reports }, () => {
    for (const name of kept.damaged) {
      if (files.exists(join(folders.parts, name))) aside.tryToMove(folders.parts, name)
    }
    if (!isCatalogSound && files.exists(join(folders.catalog, newest.catalog!.name))) {
      aside.tryToMove(folders.catalog, newest.catalog!.name)
    }
    for (const name of replaced) aside.tryToMove(folders.wal, name)
  })
  return reportOf(version, { aside, reports }, lost, rewritten !== null)
}

/**
 * A version with its log written anew. What follows goes apart from what was archived, where the lost records may be
 * under their numbers: so it is a historian of its own, in the place of the one before, and no copy any more that an
 * archive could be replayed in.
 */
function anew(
  { copiedAt, ...version }: Version,
  { accepted }: RewrittenLog,
  before: RepairedOne['before'],
): Version {
  return { ...version, id: newId(), follows: before?.id ?? version.id, accepted, kept: [] }
}

/** A new file of the catalog with what is intact of the one of a version. */
async function intactCatalog(
  files: Files,
  folders: Folders,
  { version, published }: ReadableLog,
  token: number,
  readable: ReadCatalog | null,
  lost: string[],
): Promise<CatalogRef> {
  const { name, bytes } = version.catalog!
  const { catalog } = readable ?? { catalog: new MemoryCatalog() }
  lost.push(`what bytes ${readable?.ref.bytes ?? 0} to ${bytes} of the catalog ${name} said of tags`)
  let highestTag = 0
  readLog(files, folders.wal, version, published, {
    take({ points }) {
      for (const tag of points?.tags ?? []) highestTag = Math.max(highestTag, tag)
    },
    damaged() {
      // It is written anew then, and says itself which ids are not free.
    },
  })
  const highest = highestTagOf(files, folders, version.parts, highestTag)
  return writeWithFreeIds(files, folders, catalog, token, highest)
}

/** The version of a manifest that can be read; `null` where none can be. */
function soundVersion(files: Files, folders: Folders, before: HistorianBefore | null): SoundVersion | null {
  const place = listManifests(files, folders.manifest).at(-1)
  if (place === undefined) return null
  try {
    const published = publishedIn(files, folders)
    const { version } = readNewest(files, folders.manifest, place, published)
    checkIsSame(files, folders, version, before)
    return { newest: version, published }
  } catch (error) {
    if (error instanceof Damage) return null
    throw error
  }
}
