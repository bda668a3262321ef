import { join } from 'node:path'
import { MemoryCatalog } from '../catalog/memory-catalog.ts'
import { damageOf } from '../damage.ts'
import { type Folders, tokenOf } from '../engine/folders.ts'
import { HISTORIAN_IS_RIGHT } from '../engine/was-there.ts'
import type { Files } from '../files/files.ts'
import { listManifests, manifestName } from '../manifest/manifest-file.ts'
import type { AcceptedSegment, Version } from '../manifest/version.ts'
import type { Ownership } from '../ownership/ownership.ts'
import { openPartStore } from '../parts/file-part-store.ts'
import type { PartInfo } from '../parts/part.ts'
import { readAgain } from '../parts/read-again.ts'
import type { RecordRange } from '../wal/counted.ts'
import { type Publication, PublicationReader } from '../wal/publication.ts'
import { parseSegmentName } from '../wal/segment.ts'
import { settleEnd } from '../wal/settle-end.ts'
import { chooseParts, type FoundPart } from './choose-parts.ts'
import { type FoundCatalog, findNewestCatalog, highestTagOf, writeWithFreeIds } from './find-catalog.ts'
import { findSegments } from './find-segments.ts'
import { keepIntact } from './keep-intact.ts'
import {
  hasNamelessTags,
  inspectLog,
  lostRecords,
  type ReadableLog,
  type RewrittenLog,
  rewriteLog,
  unstatedRecords,
} from './repair-log.ts'
import {
  type Kept,
  newId,
  type RepairedOne,
  type RepairReport,
  reportOf,
  writeManifest,
} from './repair-report.ts'

/** As `repairHistorian`, where no manifest can be read. */
export async function rebuildHistorian(
  files: Files,
  folders: Folders,
  ownership: Ownership,
  { aside, reports }: Kept,
  { historian, before = null }: RepairedOne,
  signal: AbortSignal,
): Promise<RepairReport> {
  const { token } = ownership
  const lost: string[] = aside.parts().map((name) => `what of part ${name} an earlier repair did not keep`)
  const unreadable: string[] = []
  const chosen = chooseParts(findParts(files, folders, unreadable, lost))
  signal.throwIfAborted()
  const { parts, damaged, lost: lostOfParts } = await keepIntact(files, folders, chosen, token, signal)
  lost.push(...lostOfParts)
  const found = await findCatalog(files, folders, lost)
  const flushed = parts.reduce((last, { lastSequence }) => Math.max(last, lastSequence), 0)
  const published = publishedIn(files, folders)
  const log = findSegments(files, folders, flushed, found.catalog.entries.nextId, published)
  for (const changes of log.changes) found.catalog.apply(changes)
  const highest = highestTagOf(files, folders, parts, log.highestTag)
  if (hasOtherTags(files, folders, parts, found)) {
    const why = found.ref === null ? 'as there is no catalog' : 'which the catalog does not have'
    lost.push(`the names of tags that parts have points of, ${why}: the points are those of no tag`)
  }
  const catalog =
    log.changes.length === 0 && highest < found.catalog.entries.nextId
      ? found.ref
      : await writeWithFreeIds(files, folders, found.catalog, token, highest)
  for (const { name, reason } of log.unreadable) lost.push(`the records of segment ${name}: ${reason}`)
  lost.push(...log.unstated.map(unstatedRecords))
  // Those of a flush that changed tags alone are in the catalog: it leaves no part with their numbers.
  if (log.first > flushed + 1) lost.push(unknownRecords(flushed + 1, log.first - 1))
  const last = Math.max(published?.lastSequence ?? 0, lastBefore(files, folders, before))
  if (last > log.last) lost.push(unknownRecords(log.last + 1, last))
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
  lost.push(...lostRecords(log.rewritten?.lost ?? []))
  const unknown = [
    ...gapsBetween(parts, flushed),
    // A flush writes its part before the catalog, and one that was written anew may be gone while that before is there.
    ...(gapsIn(log.read, flushed).length > 0 ? [UNKNOWN_CHANGES] : []),
    // Of a log that an earlier repair wrote that one has told it.
    ...(log.rewritten === null && (published?.token ?? 0) < lastOwnerOf(log.accepted, parts)
      ? [unknownEnd(last, log.last)]
      : []),
  ]
  const report = (isLogAnew: boolean) => reports.write(historian, token, { lost, unknown, isLogAnew })
  const rewritten = await rewriteIfDamaged(
    files,
    folders,
    { version, published: null },
    token,
    (lostOfLog) => {
      lost.push(...lostOfLog)
      report(true)
    },
  )
  const manifests = listManifests(files, folders.manifest).map(manifestName)
  if (rewritten === null) {
    const lastName = log.accepted.at(-1)?.name
    const lastToken = lastName === undefined ? 0 : parseSegmentName(lastName)!.token
    settleEnd(files, folders.wal, lastToken, log.accepted, published)
  }
  ownership.check()
  const newest = { ...version, accepted: rewritten?.accepted ?? log.accepted }
  const isLogAnew = rewritten !== null || log.rewritten !== null
  if (rewritten === null) report(isLogAnew)
  // Without them the parts that have what is intact of them count.
  for (const name of damaged) aside.move(folders.parts, name)
  // Only now: until then the next try needs them, to find and to tell the same.
  await writeManifest(files, folders, newest, { aside, reports }, () => {
    for (const name of unreadable) aside.tryToMove(folders.parts, name)
    for (const name of found.unreadable) aside.tryToMove(folders.catalog, name)
    for (const name of manifests) aside.tryToMove(folders.manifest, name)
    const replaced = [...log.unreadable, ...(rewritten === null ? [] : log.accepted)].map(({ name }) => name)
    for (const name of [...(log.rewritten?.replaced ?? []), ...replaced]) aside.tryToMove(folders.wal, name)
  })
  return reportOf(newest, { aside, reports }, lost, isLogAnew, unknown)
}

/** So many of the gaps between parts are told one by one. */
const MOST_GAPS = 100

/** Records from the first one up to one that are in none of some ranges. */
function gapsIn(ranges: readonly RecordRange[], upTo: number): readonly RecordRange[] {
  const gaps: RecordRange[] = []
  let next = 1
  for (const { first, last } of ranges.toSorted((a, b) => a.first - b.first)) {
    if (first > next) gaps.push({ first: next, last: Math.min(first - 1, upTo) })
    next = Math.max(next, last + 1)
  }
  return [...gaps, { first: next, last: upTo }].filter(({ first, last }) => first <= last)
}

/** Records that no part has although one has later ones: of a flush of tags alone, or of a part that is gone. */
function gapsBetween(parts: readonly PartInfo[], flushed: number): readonly string[] {
  const ranges = parts.map(({ firstSequence, lastSequence }) => ({
    first: firstSequence,
    last: lastSequence,
  }))
  const gaps = gapsIn(ranges, flushed).map(
    ({ first, last }) =>
      `what records ${first} to ${last} of the log said of points, if anything: no part has them`,
  )
  const more = gaps.length - MOST_GAPS
  return more > 0 ? [...gaps.slice(0, MOST_GAPS), `the same of ${more} more ranges of records`] : gaps
}

const UNKNOWN_CHANGES =
  'whether the catalog has all that was said of tags in records that are in parts, and not in the log any more'

/** Token of the last owner that wrote what is there; 0 for none. */
function lastOwnerOf(accepted: readonly AcceptedSegment[], parts: readonly PartInfo[]): number {
  return [...accepted, ...parts].reduce((last, { name }) => Math.max(last, tokenOf(name) ?? 0), 0)
}

const unknownEnd = (published: number, last: number) =>
  `whether there were records after number ${Math.max(published, last)}: the last owner of the data did not note any`

const unknownRecords = (first: number, last: number) =>
  `what records ${first} to ${last} of the log said of points and tags, if anything`

/** Number of the last record as it was noted outside of the folder, unless an earlier state is meant; 0 for none. */
function lastBefore(files: Files, { root }: Folders, before: RepairedOne['before']): number {
  return files.exists(join(root, HISTORIAN_IS_RIGHT)) ? 0 : (before?.lastSequence ?? 0)
}

/** Whether parts have tags that a catalog does not have; of one that is there those that it never had. */
function hasOtherTags(
  files: Files,
  folders: Folders,
  parts: readonly PartInfo[],
  { ref, catalog }: FoundCatalog,
): boolean {
  const isMissing = (tag: number) =>
    ref === null ? catalog.get(tag) === null : tag >= catalog.entries.nextId
  const store = openPartStore(files, folders.parts, { cacheBytes: 1 << 20 })
  return parts.some((info) => {
    const part = store.open(info)
    try {
      for (const tag of part.tags()) if (isMissing(tag)) return true
      return false
    } finally {
      part.close()
    }
  })
}

/** `null` for a log that is sound, and all of whose points have tags with names. @param tell  as of rewriteLog */
async function rewriteIfDamaged(
  files: Files,
  folders: Folders,
  log: ReadableLog,
  token: number,
  tell: (lost: readonly string[]) => void,
): Promise<RewrittenLog | null> {
  const isSound = inspectLog(files, folders, log).isSound && !(await hasNamelessTags(files, folders, log))
  return isSound ? null : rewriteLog(files, folders, log, token, tell)
}

export function publishedIn(files: Files, folders: Folders): Publication | null {
  const reader = new PublicationReader(files, folders.wal)
  try {
    return reader.read()
  } finally {
    reader.close()
  }
}

/** @param unreadable  takes the names of those of which nothing can be read */
function findParts(files: Files, folders: Folders, unreadable: string[], lost: string[]): FoundPart[] {
  const store = openPartStore(files, folders.parts, { cacheBytes: 1 << 20 })
  const found: FoundPart[] = []
  for (const name of files.list(folders.parts)) {
    if (!name.endsWith('.part')) continue
    try {
      const { info, origin } = readAgain(() => store.inspect(name))
      found.push({ info, replaces: origin.replaces })
    } catch (error) {
      lost.push(`the points of part ${name}: ${damageOf(error).message}`)
      unreadable.push(name)
    }
  }
  return found
}

async function findCatalog(
  files: Files,
  folders: Folders,
  lost: string[],
): Promise<FoundCatalog & { readonly unreadable: readonly string[] }> {
  const names = files.list(folders.catalog).filter((name) => name.endsWith('.tags'))
  const { found, unreadable } = await findNewestCatalog(files, folders.catalog, names)
  for (const name of unreadable) lost.push(`tags of the catalog ${name}`)
  if (found !== null && found.left > 0) {
    lost.push(
      `what the last ${found.left} bytes of the catalog ${found.ref.name} say of tags, if they counted`,
    )
  }
  return { ...(found ?? { ref: null, catalog: new MemoryCatalog() }), unreadable }
}
