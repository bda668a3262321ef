import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { MemoryCatalog } from '../catalog/memory-catalog.ts'
import type { CatalogRef } from '../catalog/tag-catalog.ts'
import { Damage, damageOf, damageOfPart } from '../damage.ts'
import { checkHasFolder } from '../engine/before-claim.ts'
import { type Folders, foldersOf, highestToken } from '../engine/folders.ts'
import { readNewest } from '../engine/newest-version.ts'
import { checkIsSame, type HistorianBefore } from '../engine/was-there.ts'
import type { Files } from '../files/files.ts'
import { listManifests, ManifestWriter, manifestName, readManifest } from '../manifest/manifest-file.ts'
import type { Version } from '../manifest/version.ts'
import { claimOwnership } from '../ownership/claim.ts'
import { type Ownership, tokenText } from '../ownership/ownership.ts'
import { openPartStore } from '../parts/file-part-store.ts'
import type { PartInfo } from '../parts/part.ts'
import type { PartStore } from '../parts/part-store.ts'
import { readAgain } from '../parts/read-again.ts'
import { salvagePart } from '../parts/salvage.ts'
import { type Publication, PublicationReader } from '../wal/publication.ts'
import { readLog } from '../wal/read-log.ts'
import { parseSegmentName } from '../wal/segment.ts'
import { settleEnd } from '../wal/settle-end.ts'
import { chooseParts, type FoundPart } from './choose-parts.ts'
import {
  type FoundCatalog,
  findNewestCatalog,
  highestTagOf,
  type ReadCatalog,
  readCatalog,
  writeWithFreeIds,
} from './find-catalog.ts'
import { findSegments } from './find-segments.ts'
import {
  inspectLog,
  type ReadableLog,
  type RewrittenLog,
  replacedSegments,
  rewriteLog,
  unstatedRecords,
} from './repair-log.ts'
import { SetAside } from './set-aside.ts'

/** What a repair found. */
export interface RepairReport {
  /** Whether the manifest, the catalog, the log and all parts can be read: then nothing was done. */
  readonly isSound: boolean
  readonly parts: number
  /** Files that were moved to the folder `damaged`; one that is missing cannot be. */
  readonly aside: readonly string[]
  /** What is lost, or may be, one sentence each. */
  readonly lost: readonly string[]
  /** Whether the log was written anew: then the historian has another id, and an archive of its log begins anew. */
  readonly isLogAnew: boolean
}

/** What is repaired. */
export interface RepairedOne {
  readonly historian: string
  /** What is known of it outside of its folder; `null` for nothing. */
  readonly before?: HistorianBefore | null
}

/**
 * Keeps what is intact of damaged parts, of the catalog and of a damaged log, in files of their own, and sets the
 * damaged ones aside. For a historian whose manifest is missing or cannot be read it makes a new one, from what the
 * files say of themselves. Of a part whose file is missing all is lost. Parts whose footer cannot be read, and segments
 * of which nothing can be, are set aside. Tags are those of the newest catalog, as far as it can be read, and of the
 * log behind it. What of a part the disk does not give (EIO) is lost when it does not at a second try either; for
 * manifest, catalog and log that is an error, as it is too much to leave out.
 *
 * Throws DATA_DIR_UNUSABLE when another historian is in the folder or its folder of parts is missing, AlreadyOwned when
 * a process owns the historian, and the system's errors; what was set aside stays so then, and it can be tried again.
 */
export async function repairHistorian(
  files: Files,
  folder: string,
  { historian, before = null }: RepairedOne,
  signal: AbortSignal,
): Promise<RepairReport> {
  const folders = foldersOf(folder)
  checkFolders(files, folders)
  for (const one of Object.values(folders)) files.makeFolder(one)
  const ownership = claimOwnership(files, folder, highestToken(files, folders))
  try {
    const aside = new SetAside(files, folder)
    const sound = soundVersion(files, folders, before)
    return sound === null
      ? await rebuild(files, folders, ownership, aside, { historian, before }, signal)
      : await repairParts(files, folders, ownership, aside, { ...sound, before }, signal)
  } finally {
    ownership.release()
  }
}

/** As `repairHistorian`, where no manifest can be read. */
async function rebuild(
  files: Files,
  folders: Folders,
  ownership: Ownership,
  aside: SetAside,
  { historian, before = null }: RepairedOne,
  signal: AbortSignal,
): Promise<RepairReport> {
  const { token } = ownership
  const lost: string[] = []
  const chosen = chooseParts(findParts(files, folders, aside, lost))
  signal.throwIfAborted()
  const { parts, damaged, lost: lostOfParts } = await keepIntact(files, folders, chosen, token, signal)
  lost.push(...lostOfParts)
  for (const name of damaged) aside.move(folders.parts, name)
  const found = await findCatalog(files, folders, aside, lost)
  const flushed = parts.reduce((last, { lastSequence }) => Math.max(last, lastSequence), 0)
  const published = publishedIn(files, folders)
  const log = findSegments(files, folders, flushed, published)
  const highest = highestTagOf(files, folders, parts, log.highestTag)
  const catalog =
    highest < found.catalog.entries.nextId
      ? found.ref
      : await writeWithFreeIds(files, folders, found.catalog, token, highest)
  for (const { name, reason } of log.unreadable) lost.push(`the records of segment ${name}: ${reason}`)
  lost.push(...log.unstated.map(unstatedRecords))
  if (log.first > flushed + 1 && found.ref !== null) lost.push(unknownRecords(flushed + 1, log.first - 1))
  if ((published?.lastSequence ?? 0) > log.last)
    lost.push(unknownRecords(log.last + 1, published!.lastSequence))
  const version: Version = {
    number: 1,
    token,
    historian,
    id: newId(),
    parts,
    catalog,
    flushedSequence: Math.max(flushed, log.first - 1),
    flushedGeneration: 0,
    accepted: log.accepted,
    kept: [],
    ...(before?.id == null ? {} : { follows: before.id }),
    retention: null,
  }
  const rewritten = await rewriteIfDamaged(files, folders, { version, published: null }, token)
  lost.push(...(rewritten?.lost ?? []))
  for (const place of listManifests(files, folders.manifest)) {
    aside.move(folders.manifest, manifestName(place))
  }
  if (rewritten === null) {
    const lastName = log.accepted.at(-1)?.name
    const lastToken = lastName === undefined ? 0 : parseSegmentName(lastName)!.token
    settleEnd(files, folders.wal, lastToken, log.accepted, published)
  }
  ownership.check()
  await writeManifest(files, folders, { ...version, accepted: rewritten?.accepted ?? log.accepted })
  // Only now: until then they would count at the next try.
  const replaced = rewritten === null ? [] : log.accepted
  for (const { name } of [...log.unreadable, ...replaced]) aside.move(folders.wal, name)
  return { isSound: false, parts: parts.length, aside: aside.names, lost, isLogAnew: rewritten !== null }
}

const unknownRecords = (first: number, last: number) =>
  `what records ${first} to ${last} of the log said of points, if anything`

const newId = () => randomBytes(16).toString('hex')

/** `null` for a log that is sound. */
async function rewriteIfDamaged(
  files: Files,
  folders: Folders,
  log: ReadableLog,
  token: number,
): Promise<RewrittenLog | null> {
  return inspectLog(files, folders, log).isSound ? null : rewriteLog(files, folders, log, token)
}

async function writeManifest(files: Files, folders: Folders, version: Version): Promise<void> {
  const manifest = new ManifestWriter(files, folders.manifest, version)
  await manifest.begin()
  manifest.close()
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
  aside: SetAside,
  { newest, published, before }: SoundVersion & Pick<RepairedOne, 'before'>,
  signal: AbortSignal,
): Promise<RepairReport> {
  const { token } = ownership
  const log = { version: newest, published: published?.token === newest.token ? published : null }
  const { isSound: isLogSound, accepted } = inspectLog(files, folders, log)
  const kept = await keepIntact(files, folders, newest.parts, token, signal)
  const readable = newest.catalog === null ? null : await readCatalog(files, folders.catalog, newest.catalog)
  const isCatalogSound = readable?.left === 0 || newest.catalog === null
  const lost = [...kept.lost]
  if (kept.damaged.length === 0 && isCatalogSound && isLogSound) {
    return { isSound: true, parts: newest.parts.length, aside: [], lost, isLogAnew: false }
  }
  const { parts } = kept
  const catalog = isCatalogSound
    ? newest.catalog
    : await intactCatalog(files, folders, { ...log, version: { ...newest, parts } }, token, readable, lost)
  const repaired = { ...newest, parts, catalog }
  const rewritten = isLogSound ? null : await rewriteLog(files, folders, { ...log, version: repaired }, token)
  if (rewritten === null) settleEnd(files, folders.wal, newest.token, accepted, published)
  lost.push(...(rewritten?.lost ?? []))
  ownership.check()
  await writeManifest(files, folders, {
    ...(rewritten === null ? { ...repaired, accepted } : anew(repaired, rewritten, before)),
    number: newest.number + 1,
    token,
  })
  // Only now: until then the manifest names them.
  for (const name of kept.damaged) {
    if (files.exists(join(folders.parts, name))) aside.move(folders.parts, name)
  }
  if (!isCatalogSound && files.exists(join(folders.catalog, newest.catalog!.name))) {
    aside.move(folders.catalog, newest.catalog!.name)
  }
  const replaced = rewritten === null ? [] : replacedSegments(files, folders, newest)
  for (const name of replaced) aside.move(folders.wal, name)
  return { isSound: false, parts: parts.length, aside: aside.names, lost, isLogAnew: rewritten !== null }
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

function publishedIn(files: Files, folders: Folders): Publication | null {
  const reader = new PublicationReader(files, folders.wal)
  try {
    return reader.read()
  } finally {
    reader.close()
  }
}

function findParts(files: Files, folders: Folders, aside: SetAside, lost: string[]): FoundPart[] {
  const store = openPartStore(files, folders.parts, { cacheBytes: 1 << 20 })
  const found: FoundPart[] = []
  for (const name of files.list(folders.parts)) {
    if (!name.endsWith('.part')) continue
    try {
      const { info, origin } = readAgain(() => store.inspect(name))
      found.push({ info, replaces: origin.replaces })
    } catch (error) {
      lost.push(`the points of part ${name}: ${damageOf(error).message}`)
      aside.move(folders.parts, name)
    }
  }
  return found
}

/** Verifies parts, and writes what is intact of a damaged one to a new one, which counts in its place. */
async function keepIntact(
  files: Files,
  folders: Folders,
  chosen: readonly PartInfo[],
  token: number,
  signal: AbortSignal,
): Promise<{
  readonly parts: readonly PartInfo[]
  readonly damaged: readonly string[]
  readonly lost: readonly string[]
}> {
  const damaged: string[] = []
  const lost: string[] = []
  const store = openPartStore(files, folders.parts, { cacheBytes: 1 << 20 })
  const kept: PartInfo[] = []
  let number = 0
  for (const info of chosen) {
    const problems = await problemsOf(store, info, signal)
    if (problems.length === 0) {
      kept.push(info)
      continue
    }
    const newName = `${tokenText(token)}-${tokenText(++number)}.part`
    const salvage = await salvagePart(files, folders.parts, { name: info.name, newName, known: info }, signal)
    lost.push(...salvage.lost.map((what) => `part ${info.name}: ${what}`))
    if (salvage.info !== null) kept.push(salvage.info)
    damaged.push(info.name)
  }
  return { parts: kept, damaged, lost }
}

async function problemsOf(store: PartStore, info: PartInfo, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const part = store.open(info)
    try {
      return (await part.check(signal)).problems
    } finally {
      part.close()
    }
  } catch (error) {
    return [damageOfPart(error).message]
  }
}

async function findCatalog(
  files: Files,
  folders: Folders,
  aside: SetAside,
  lost: string[],
): Promise<FoundCatalog> {
  const names = files.list(folders.catalog).filter((name) => name.endsWith('.tags'))
  const { found, unreadable } = await findNewestCatalog(files, folders.catalog, names)
  for (const name of unreadable) {
    lost.push(`tags of the catalog ${name}`)
    aside.move(folders.catalog, name)
  }
  if (found !== null && found.left > 0) {
    lost.push(
      `what the last ${found.left} bytes of the catalog ${found.ref.name} say of tags, if they counted`,
    )
  }
  return found ?? { ref: null, catalog: new MemoryCatalog() }
}
