import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { Damage } from '../damage.ts'
import { type Files, readFile } from '../files/files.ts'
import { readGroupHeader } from '../wal/group.ts'
import { scanSegment, WHOLE_SEGMENT } from '../wal/scan.ts'
import { decodeSegmentHeader, SEGMENT_HEADER_BYTES, type SegmentHeader } from '../wal/segment.ts'
import {
  ARCHIVE_HEADER_BYTES,
  type ArchiveMark,
  type ArchiveName,
  archiveName,
  decodeArchiveHeader,
  decodeMark,
  MARK_NAME,
  parseArchiveName,
} from './archive-file.ts'

/** The archived segments of one historian. */
export interface Archived {
  readonly folder: string
  /** Of the historian. */
  readonly id: string
}

/** An archived segment, and how many of its bytes count up to a moment. */
export interface ReplayStep {
  readonly path: string
  readonly token: number
  readonly segment: number
  readonly bytes: number
}

/** What leads from a backup to a moment. */
export interface ReplayPlan {
  readonly steps: readonly ReplayStep[]
  /** Number of the last record that counts. */
  readonly lastSequence: number
  /** When the last group that counts was committed, in microseconds since 1970; `null` for none. */
  readonly lastTime: number | null
}

/** Why there is no way to a moment. */
export type NoWay =
  /** No file has these records, though later ones were archived. */
  | { readonly kind: 'gap'; readonly first: number; readonly last: number }
  | { readonly kind: 'damaged'; readonly file: string; readonly reason: string }
  /** The moment is later than all that is known to be there. */
  | { readonly kind: 'end'; readonly until: number }
  /** Nothing that came after is archived. */
  | { readonly kind: 'nothing' }

export class NoWayThere extends Error {
  readonly why: NoWay

  constructor(why: NoWay) {
    super(`the archive does not lead there: ${why.kind}`)
    this.name = 'NoWayThere'
    this.why = why
  }
}

/**
 * Finds what leads from a record to a moment, and verifies all of it: the groups in the order of their numbers, up to
 * the first that was committed later. Reads every file that it needs.
 * @param after  number of the last record that is there already
 * @param to     microseconds since 1970; `null` for all that is archived
 * Throws NoWayThere, the signal's reason, and the system's errors.
 */
export function planReplay(
  files: Files,
  archived: Archived,
  after: number,
  to: number | null,
  signal: AbortSignal,
): ReplayPlan {
  const names = archivedIn(files, archived.folder)
  const mark = readMark(files, archived.folder)
  if (names.length === 0 && mark === null) throw new NoWayThere({ kind: 'nothing' })
  const steps: ReplayStep[] = []
  let last = after
  let lastTime: number | null = null
  const covering = coveringFile(names)
  for (let name = covering(last + 1); name !== null; name = covering(last + 1)) {
    signal.throwIfAborted()
    const { header, bytes } = readArchived(files, archived, name)
    const end = endOf(name, bytes, header, last, to)
    checkRecords(name, header, bytes, end.bytes)
    if (end.lastSequence > last) {
      const path = join(archived.folder, archiveName(name))
      steps.push({ path, token: name.token, segment: name.segment, bytes: end.bytes })
      last = end.lastSequence
      lastTime = end.lastTime
    }
    if (end.isReached) return { steps, lastSequence: last, lastTime }
  }
  checkEnd(names, mark, last, lastTime, to)
  return { steps, lastSequence: last, lastTime }
}

/**
 * Finds the file that has a record and the most behind it, `null` for none; asked for ascending records.
 * @param names  sorted, as their folder is
 */
function coveringFile(names: readonly ArchiveName[]): (sequence: number) => ArchiveName | null {
  let at = 0
  let best: ArchiveName | null = null
  return (sequence) => {
    for (; at < names.length && names[at]!.firstSequence <= sequence; at++) {
      if (best === null || names[at]!.lastSequence > best.lastSequence) best = names[at]!
    }
    return best !== null && best.lastSequence >= sequence ? best : null
  }
}

/** What is archived of a historian, by the names of the files. */
export function archivedIn(files: Files, folder: string): readonly ArchiveName[] {
  return files.list(folder).flatMap((name) => parseArchiveName(name) ?? [])
}

/**
 * Number of the first record that archived segments behind one have: that one has none with it or a higher number.
 * Infinity where none is archived.
 */
export function firstRecordBehind(
  archived: readonly ArchiveName[],
  { token, segment }: { readonly token: number; readonly segment: number },
): number {
  const later = archived.filter((one) => one.token > token || (one.token === token && one.segment > segment))
  return later.reduce((first, one) => Math.min(first, one.firstSequence), Number.POSITIVE_INFINITY)
}

/** Throws where the archive should have more than was found, or says nothing of the moment. */
function checkEnd(
  names: readonly ArchiveName[],
  mark: ArchiveMark | null,
  last: number,
  lastTime: number | null,
  to: number | null,
): void {
  const later = names.find(({ firstSequence }) => firstSequence > last + 1)
  if (later !== undefined) {
    throw new NoWayThere({ kind: 'gap', first: last + 1, last: later.firstSequence - 1 })
  }
  if (mark !== null && mark.lastSequence > last) {
    throw new NoWayThere({ kind: 'gap', first: last + 1, last: mark.lastSequence })
  }
  // Groups that are not archived may have been committed in the same step of the clock as the last one.
  const before = lastTime === null ? Number.NEGATIVE_INFINITY : lastTime - 1
  const until = Math.max(before, mark?.until ?? Number.NEGATIVE_INFINITY)
  if (to !== null && until === Number.NEGATIVE_INFINITY) throw new NoWayThere({ kind: 'nothing' })
  if (to !== null && to > until) throw new NoWayThere({ kind: 'end', until })
}

/** `null` where there is none, or it cannot be read. */
export function readMark(files: Files, folder: string): ArchiveMark | null {
  const path = join(folder, MARK_NAME)
  return files.exists(path) ? decodeMark(readFile(files, path)) : null
}

function readArchived(
  files: Files,
  { folder, id }: Archived,
  name: ArchiveName,
): { readonly header: SegmentHeader; readonly bytes: Buffer } {
  const file = archiveName(name)
  try {
    const all = readFile(files, join(folder, file))
    const said = decodeArchiveHeader(all)
    const bytes = Buffer.from(all.buffer, all.byteOffset + ARCHIVE_HEADER_BYTES)
    if (said.id !== id || archiveName(said) !== file) throw new Damage('it is another one than its name says')
    if (bytes.length !== said.bytes) throw new Damage(`it has ${bytes.length} of ${said.bytes} bytes`)
    if (crc32(bytes) !== said.checksum) throw new Damage('its checksum is wrong')
    return { header: decodeSegmentHeader(bytes), bytes }
  } catch (error) {
    if (!(error instanceof Damage)) throw error
    throw new NoWayThere({ kind: 'damaged', file, reason: error.message })
  }
}

/** Throws where a record cannot be read: it was damaged in the log before its segment was archived. */
function checkRecords(name: ArchiveName, header: SegmentHeader, bytes: Buffer, limit: number): void {
  scanSegment(
    bytes,
    header,
    { ...WHOLE_SEGMENT, atLeast: limit, limit },
    {
      take() {},
      damaged({ message: reason }) {
        throw new NoWayThere({ kind: 'damaged', file: archiveName(name), reason })
      },
    },
  )
}

/**
 * Up to where a segment counts. Throws NoWayThere.
 * @param after  number of the last record that counts already: what is not behind it ends nothing
 */
function endOf(name: ArchiveName, bytes: Buffer, header: SegmentHeader, after: number, to: number | null) {
  let at = SEGMENT_HEADER_BYTES
  let lastSequence = after
  let lastTime: number | null = null
  while (at < bytes.length) {
    const group = readGroupHeader(bytes, at, header)
    if (group === null) {
      // The checksum of the whole was right: what wrote it went wrong.
      const reason = `byte ${at} of its segment begins no group`
      throw new NoWayThere({ kind: 'damaged', file: archiveName(name), reason })
    }
    const last = group.firstSequence + group.records - 1
    if (last > after) {
      if (to !== null && group.time > to) return { bytes: at, lastSequence, lastTime, isReached: true }
      lastSequence = last
      lastTime = group.time
    }
    at += group.bytes
  }
  return { bytes: at, lastSequence, lastTime, isReached: false }
}

/** Copies of an archived segment the bytes of the log that count. */
export function segmentBytes(files: Files, { path, bytes }: ReplayStep): Uint8Array {
  const file = files.open(path)
  try {
    const segment = new Uint8Array(bytes)
    if (file.readNow(segment, ARCHIVE_HEADER_BYTES) < bytes) throw new Error(`${path} is shorter than it was`)
    return segment
  } finally {
    file.close()
  }
}
