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
import type { AcceptedSegment, Version } from '../manifest/version.ts'
import { claimOwnership } from '../ownership/claim.ts'
import { type Ownership, tokenText } from '../ownership/ownership.ts'
import { openPartStore } from '../parts/file-part-store.ts'
import type { PartInfo } from '../parts/part.ts'
import type { PartStore } from '../parts/part-store.ts'
import { readAgain } from '../parts/read-again.ts'
import { salvagePart } from '../parts/salvage.ts'
import { type AnySegment, countedBytes } from '../wal/counted.ts'
import { type Publication, PublicationReader } from '../wal/publication.ts'
import { readAll, readLog } from '../wal/read-log.ts'
import { scanSegment, WHOLE_SEGMENT } from '../wal/scan.ts'
import { decodeSegmentHeader, parseSegmentName, SEGMENT_HEADER_BYTES } from '../wal/segment.ts'
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
import { momentOf } from './moment.ts'

/** What a repair found. */
export interface RepairReport {
  /** Whether the manifest and all parts can be read: then nothing was done. */
  readonly isSound: boolean
  readonly parts: number
  /** Files that were moved to the folder `damaged`; one that is missing cannot be. */
  readonly aside: readonly string[]
  /** What is lost, or may be, one sentence each. */
  readonly lost: readonly string[]
}

/** What is repaired. */
export interface RepairedOne {
  readonly historian: string
  /** What is known of it outside of its folder; `null` for nothing. */
  readonly before?: HistorianBefore | null
}

/** Files that cannot be read are moved here. */
const ASIDE = 'damaged'

/**
 * Keeps what is intact of damaged parts and of the catalog, in files of their own, and sets the damaged ones aside. For
 * a historian whose manifest is missing or cannot be read it makes a new one, from what the files say of themselves. Of
 * a part whose file is missing all is lost. Parts whose footer cannot be read, and segments without a header, are set
 * aside. Tags are those of the newest catalog, as far as it can be read, and of the log behind it. What of a part the
 * disk does not give (EIO) is lost when it does not at a second try either; for manifest, catalog and log that is an
 * error, as it is too much to leave out.
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
    const aside: string[] = []
    const lost: string[] = []
    if (isSound(files, folders, before))
      return await repairParts(files, folders, ownership, aside, lost, signal)
    const chosen = chooseParts(findParts(files, folders, aside, lost))
    signal.throwIfAborted()
    const namePrefix = `${tokenText(ownership.token)}-`
    const { parts, damaged, lost: lostOfParts } = await keepIntact(files, folders, chosen, namePrefix, signal)
    lost.push(...lostOfParts)
    for (const name of damaged) setAside(files, folders, folders.parts, name, aside)
    const found = await findCatalog(files, folders, aside, lost)
    const flushed = parts.reduce((last, { lastSequence }) => Math.max(last, lastSequence), 0)
    const segments = findSegments(files, folders, flushed, aside, lost)
    const { highestTag } = segments
    const highest = highestTagOf(files, folders, parts, highestTag)
    const catalog =
      highest < found.catalog.entries.nextId
        ? found.ref
        : await writeWithFreeIds(files, folders, found.catalog, ownership.token, highest)
    if (segments.first > flushed + 1 && found.ref !== null) {
      lost.push(`what records ${flushed + 1} to ${segments.first - 1} of the log said of points, if anything`)
    }
    const version: Version = {
      number: 1,
      token: ownership.token,
      historian,
      id: randomBytes(16).toString('hex'),
      parts,
      catalog,
      flushedSequence: Math.max(flushed, segments.first - 1),
      flushedGeneration: 0,
      accepted: segments.accepted,
      kept: [],
      ...(before?.id == null ? {} : { follows: before.id }),
      retention: null,
    }
    for (const place of listManifests(files, folders.manifest)) {
      setAside(files, folders, folders.manifest, manifestName(place), aside)
    }
    const lastName = segments.accepted.at(-1)?.name
    const lastToken = lastName === undefined ? 0 : parseSegmentName(lastName)!.token
    settleEnd(files, folders.wal, lastToken, segments.accepted, publishedIn(files, folders))
    ownership.check()
    const manifest = new ManifestWriter(files, folders.manifest, version)
    await manifest.begin()
    manifest.close()
    return { isSound: false, parts: parts.length, aside, lost }
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

/** As `repairHistorian`, where the manifest is sound. The log must be, too: Damage. */
async function repairParts(
  files: Files,
  folders: Folders,
  ownership: Ownership,
  aside: string[],
  lost: string[],
  signal: AbortSignal,
): Promise<RepairReport> {
  const { version: before } = momentOf(files, folders)
  const { token } = ownership
  const kept = await keepIntact(files, folders, before.parts, `${tokenText(token)}-`, signal)
  const readable = before.catalog === null ? null : await readCatalog(files, folders.catalog, before.catalog)
  const isCatalogSound = readable?.left === 0 || before.catalog === null
  if (kept.damaged.length === 0 && isCatalogSound) {
    return { isSound: true, parts: before.parts.length, aside, lost }
  }
  lost.push(...kept.lost)
  const catalog = isCatalogSound
    ? before.catalog
    : await intactCatalog(files, folders, { ...before, parts: kept.parts, token }, readable, lost)
  settleEnd(files, folders.wal, before.token, before.accepted, publishedIn(files, folders))
  ownership.check()
  const version = { ...before, number: before.number + 1, token, parts: kept.parts, catalog }
  const manifest = new ManifestWriter(files, folders.manifest, version)
  await manifest.begin()
  manifest.close()
  // Only now: until then the manifest names them.
  for (const name of kept.damaged) {
    if (files.exists(join(folders.parts, name))) setAside(files, folders, folders.parts, name, aside)
  }
  if (!isCatalogSound && files.exists(join(folders.catalog, before.catalog!.name))) {
    setAside(files, folders, folders.catalog, before.catalog!.name, aside)
  }
  return { isSound: false, parts: kept.parts.length, aside, lost }
}

/** A new file of the catalog with what is intact of the one of a version. */
async function intactCatalog(
  files: Files,
  folders: Folders,
  version: Version,
  readable: ReadCatalog | null,
  lost: string[],
): Promise<CatalogRef> {
  const { name, bytes } = version.catalog!
  const { catalog } = readable ?? { catalog: new MemoryCatalog() }
  lost.push(`what bytes ${readable?.ref.bytes ?? 0} to ${bytes} of the catalog ${name} said of tags`)
  let highestTag = 0
  readLog(files, folders.wal, version, null, {
    take({ points }) {
      for (const tag of points?.tags ?? []) highestTag = Math.max(highestTag, tag)
    },
    damaged() {
      // It was read before, without damage.
    },
  })
  const highest = highestTagOf(files, folders, version.parts, highestTag)
  return writeWithFreeIds(files, folders, catalog, version.token, highest)
}

function isSound(files: Files, folders: Folders, before: HistorianBefore | null): boolean {
  const place = listManifests(files, folders.manifest).at(-1)
  if (place === undefined) return false
  try {
    const published = publishedIn(files, folders)
    checkIsSame(files, folders, readNewest(files, folders.manifest, place, published).version, before)
    return true
  } catch (error) {
    if (error instanceof Damage) return false
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

function findParts(files: Files, folders: Folders, aside: string[], lost: string[]): FoundPart[] {
  const store = openPartStore(files, folders.parts, { cacheBytes: 1 << 20 })
  const found: FoundPart[] = []
  for (const name of files.list(folders.parts)) {
    if (!name.endsWith('.part')) continue
    try {
      const { info, origin } = readAgain(() => store.inspect(name))
      found.push({ info, replaces: origin.replaces })
    } catch (error) {
      lost.push(`the points of part ${name}: ${damageOf(error).message}`)
      setAside(files, folders, folders.parts, name, aside)
    }
  }
  return found
}

/** Verifies parts, and writes what is intact of a damaged one to a new one, which counts in its place. */
async function keepIntact(
  files: Files,
  folders: Folders,
  chosen: readonly PartInfo[],
  namePrefix: string,
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
    const newName = `${namePrefix}${tokenText(++number)}.part`
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
  aside: string[],
  lost: string[],
): Promise<FoundCatalog> {
  const names = files.list(folders.catalog).filter((name) => name.endsWith('.tags'))
  const { found, unreadable } = await findNewestCatalog(files, folders.catalog, names)
  for (const name of unreadable) {
    lost.push(`tags of the catalog ${name}`)
    setAside(files, folders, folders.catalog, name, aside)
  }
  if (found !== null && found.left > 0) {
    lost.push(
      `what the last ${found.left} bytes of the catalog ${found.ref.name} say of tags, if they counted`,
    )
  }
  return found ?? { ref: null, catalog: new MemoryCatalog() }
}

/**
 * Segments with records that are not in parts, in order; `first` is the number of the first record, `highestTag` the
 * highest id of a tag that they have points of.
 */
function findSegments(
  files: Files,
  folders: Folders,
  flushed: number,
  aside: string[],
  lost: string[],
): { readonly accepted: readonly AcceptedSegment[]; readonly first: number; readonly highestTag: number } {
  const found: (AnySegment & { readonly name: string })[] = []
  for (const name of files.list(folders.wal)) {
    if (parseSegmentName(name) === null) continue
    try {
      const bytes = readAll(files, folders.wal, name)
      found.push({ name, bytes, header: decodeSegmentHeader(bytes) })
    } catch (error) {
      if (!(error instanceof Damage)) throw error
      lost.push(`the records of segment ${name}: ${error.message}`)
      setAside(files, folders, folders.wal, name, aside)
    }
  }
  const accepted: AcceptedSegment[] = []
  let first = Number.POSITIVE_INFINITY
  let highestTag = 0
  for (const one of found) {
    const { name, header, bytes } = one
    let last = 0
    const range = { ...WHOLE_SEGMENT, limit: countedBytes(one, found) }
    const end = scanSegment(bytes, header, range, {
      take({ sequence, points }) {
        last = sequence
        for (const tag of points?.tags ?? []) highestTag = Math.max(highestTag, tag)
      },
      damaged(damage) {
        lost.push(`${damage.message} (${name})`)
      },
    })
    if (end === SEGMENT_HEADER_BYTES || last <= flushed) continue
    accepted.push({ name, bytes: end })
    first = Math.min(first, Math.max(header.firstSequence, flushed + 1))
  }
  return { accepted, first: first === Number.POSITIVE_INFINITY ? flushed + 1 : first, highestTag }
}

function setAside(files: Files, folders: Folders, folder: string, name: string, aside: string[]): void {
  const target = join(folders.root, ASIDE)
  files.makeFolder(target)
  files.rename(join(folder, name), join(target, name))
  files.syncFolder(target)
  files.syncFolder(folder)
  aside.push(name)
}
