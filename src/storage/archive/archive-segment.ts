import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { Damage } from '../damage.ts'
import { type FileHandle, type Files, removeQuietly } from '../files/files.ts'
import type { RecordRange } from '../wal/counted.ts'
import { GROUP_HEADER_BYTES, readGroupHeader } from '../wal/group.ts'
import { decodeSegmentHeader, SEGMENT_HEADER_BYTES, type SegmentHeader } from '../wal/segment.ts'
import {
  ARCHIVE_HEADER_BYTES,
  type ArchiveHeader,
  type ArchiveMark,
  archiveName,
  decodeArchiveHeader,
  encodeArchiveHeader,
  encodeMark,
  MARK_NAME,
  parseArchiveName,
} from './archive-file.ts'
import { readMark } from './read-archive.ts'

/** Where a historian's log is archived. */
export interface ArchivePlace {
  /** Of all historians; it must be there: what is not mounted must not be taken for it. */
  readonly archive: string
  /** Of this one, in the archive (`archiveFolderOf`). */
  readonly folder: string
}

/** A segment that is to be archived; it can be sent to another thread. */
export interface ArchiveOrder {
  readonly place: ArchivePlace
  /** Of the historian. */
  readonly id: string
  /** The segment, and its bytes that count. */
  readonly path: string
  readonly bytes: number
}

/** The archive has other records under the same numbers: a copy of the historian was archived there, too. */
export class OtherRecords extends Error {
  readonly code = 'OTHER_RECORDS'

  constructor(name: string) {
    super(`${name} has other records under the same numbers`)
    this.name = 'OtherRecords'
  }
}

const UNFINISHED = '.new'
const STEP = 1 << 20

/**
 * Copies a segment into the archive, durably; nothing when it is there already. A file of the archive has its name when
 * all of it is on disk. Throws OtherRecords, Damage for a segment that cannot be read, and the system's errors.
 * @returns  the records before it that the archive lacks, though it has or had earlier ones; `null` for none
 */
export function archiveSegment(files: Files, { place, id, path, bytes }: ArchiveOrder): RecordRange | null {
  makePlace(files, place)
  const { folder } = place
  const source = files.open(path)
  try {
    const begin = new Uint8Array(SEGMENT_HEADER_BYTES)
    source.readNow(begin, 0)
    const header = describe(source, decodeSegmentHeader(begin), id, bytes)
    const names = files.list(folder)
    for (const left of names.filter((name) => name.endsWith(UNFINISHED))) files.remove(join(folder, left))
    const gap = gapBefore(files, folder, names, header)
    const name = archiveName(header)
    if (!isThere(files, folder, names, header, begin)) {
      putFile(files, folder, name, (target) => {
        target.writeNow(encodeArchiveHeader(header), 0)
        forEachChunk(source, bytes, (chunk, at) => target.writeNow(chunk, ARCHIVE_HEADER_BYTES + at))
      })
    }
    // Also one that is there: the try that put it there may have failed here.
    confirm(files, join(folder, name))
    return gap
  } finally {
    source.close()
  }
}

/** States up to where the archive has everything, in place of what was stated before. */
export function writeMark(files: Files, place: ArchivePlace, mark: ArchiveMark): void {
  makePlace(files, place)
  putFile(files, place.folder, MARK_NAME, (file) => file.writeNow(encodeMark(mark), 0))
}

/**
 * Makes or replaces a file durably: it has its name when all of it is on disk. Until then its name is no other's: two
 * owners may be at it at once, of which one is none any more.
 */
function putFile(files: Files, folder: string, name: string, write: (file: FileHandle) => void): void {
  const temporary = join(folder, `${name}.${randomBytes(8).toString('hex')}${UNFINISHED}`)
  const file = files.create(temporary)
  try {
    write(file)
    file.syncNow()
  } catch (error) {
    removeQuietly(files, temporary)
    throw error
  } finally {
    file.close()
  }
  files.rename(temporary, join(folder, name))
  files.syncFolder(folder)
}

/** What is archived is removed from the log, which may be on another disk. */
function confirm(files: Files, path: string): void {
  const placed = files.edit(path)
  try {
    placed.confirmNow()
  } finally {
    placed.close()
  }
}

function makePlace(files: Files, { archive, folder }: ArchivePlace): void {
  if (!files.isFolder(archive)) {
    throw Object.assign(new Error(`${archive} is no folder`), { code: 'NO_ARCHIVE' })
  }
  if (files.isFolder(folder)) return
  files.makeFolder(dirname(folder))
  files.makeFolder(folder)
}

/** What the header of an archived segment says: ranges from its groups, and the checksum of all of it. */
function describe(source: FileHandle, segment: SegmentHeader, id: string, bytes: number): ArchiveHeader {
  let checksum = 0
  let next = SEGMENT_HEADER_BYTES
  let firstTime: number | null = null
  let lastTime = 0
  let lastSequence = segment.firstSequence - 1
  const groupHeader = Buffer.alloc(GROUP_HEADER_BYTES)
  forEachChunk(source, bytes, (chunk, at) => {
    checksum = crc32(chunk, checksum)
    while (next + GROUP_HEADER_BYTES <= bytes && next < at + chunk.length) {
      source.readNow(groupHeader, next)
      const group = readGroupHeader(groupHeader, 0, segment)
      if (group === null) throw new Damage(`byte ${next} of a segment of the log begins no group`)
      firstTime ??= group.time
      lastTime = group.time
      lastSequence = group.firstSequence + group.records - 1
      next += group.bytes
    }
  })
  if (firstTime === null || next !== bytes) throw new Damage('a segment of the log does not end with a group')
  const { token, segment: number, firstSequence } = segment
  return { id, firstSequence, lastSequence, firstTime, lastTime, bytes, token, segment: number, checksum }
}

/** An owner without the archive may have dropped them. Old files may be removed; the mark says that they were there. */
function gapBefore(
  files: Files,
  folder: string,
  names: readonly string[],
  { firstSequence }: ArchiveHeader,
): RecordRange | null {
  let last = readMark(files, folder)?.lastSequence ?? 0
  for (const name of names) {
    const one = parseArchiveName(name)
    if (one !== null && one.firstSequence < firstSequence) last = Math.max(last, one.lastSequence)
  }
  return last > 0 && last + 1 < firstSequence ? { first: last + 1, last: firstSequence - 1 } : null
}

/**
 * Whether the archive has the segment already. A shorter beginning of it may be there as well: of a group whose outcome
 * was not known, and that counts since a later start.
 */
function isThere(
  files: Files,
  folder: string,
  names: readonly string[],
  header: ArchiveHeader,
  begin: Uint8Array,
): boolean {
  for (const name of names) {
    const one = parseArchiveName(name)
    if (one === null) continue
    if (one.lastSequence < header.firstSequence || one.firstSequence > header.lastSequence) continue
    const found = readBegin(files, join(folder, name))
    // One that was cut says nothing of others.
    if (found.bytes < ARCHIVE_HEADER_BYTES + SEGMENT_HEADER_BYTES) continue
    // The random numbers of the segment are in its header: only the same segment begins so.
    if (!found.segment.equals(begin)) throw new OtherRecords(name)
    const isWhole =
      found.header?.checksum === header.checksum && found.bytes === ARCHIVE_HEADER_BYTES + header.bytes
    if (name === archiveName(header) && isWhole) return true
  }
  return false
}

function readBegin(
  files: Files,
  path: string,
): { readonly header: ArchiveHeader | null; readonly segment: Buffer; readonly bytes: number } {
  const file = files.open(path)
  try {
    const bytes = Buffer.alloc(ARCHIVE_HEADER_BYTES + SEGMENT_HEADER_BYTES)
    file.readNow(bytes, 0)
    let header: ArchiveHeader | null = null
    try {
      header = decodeArchiveHeader(bytes)
    } catch {
      // It is written anew.
    }
    return { header, segment: bytes.subarray(ARCHIVE_HEADER_BYTES), bytes: file.size() }
  } finally {
    file.close()
  }
}

function forEachChunk(
  source: FileHandle,
  bytes: number,
  work: (chunk: Uint8Array, at: number) => void,
): void {
  const buffer = new Uint8Array(Math.min(STEP, bytes))
  for (let at = 0; at < bytes; at += STEP) {
    const chunk = buffer.subarray(0, Math.min(STEP, bytes - at))
    if (source.readNow(chunk, at) < chunk.length) throw new Damage('a segment of the log is too short')
    work(chunk, at)
  }
}
