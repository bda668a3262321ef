import { join } from 'node:path'
import { systemCode } from '../../errors/system-code.ts'
import { Damage, LostRecords } from '../damage.ts'
import { type Files, readFile } from '../files/files.ts'
import type { AcceptedSegment, Version } from '../manifest/version.ts'
import { type AnySegment, type RecordRange, unstatedGroup } from './counted.ts'
import { scanSegment, WHOLE_SEGMENT } from './scan.ts'
import { decodeSegmentHeader, parseSegmentName, SEGMENT_HEADER_BYTES, type SegmentHeader } from './segment.ts'
import type { WalPosition, WalRecord } from './wal-record.ts'

/** Takes what is read of the WAL, in the order in which it counts. */
export interface LogTarget {
  /** The next record; its number is the one after that of the record before, unless damage was reported. */
  take(record: WalRecord): void
  damaged(damage: Damage): void
  /** These count, but others may have been acknowledged under their numbers, in a segment that is missing. */
  unstated?(records: RecordRange): void
  /** What follows belongs to another generation of the same owner. */
  rotate?(): void
}

/**
 * Finds out what the header of a segment said that cannot be read; `null` where that is not known.
 * @param before  segments of the same owner that come before it
 */
export type FindHeader = (name: string, bytes: Buffer, before: readonly AnySegment[]) => SegmentHeader | null

/** A segment that was read. */
export interface ReadSegment extends AcceptedSegment {
  readonly header: SegmentHeader
}

interface FoundSegment {
  readonly name: string
  readonly header: SegmentHeader
  readonly bytes: Buffer
  /** Of an accepted one; Infinity for those of the version's owner. */
  readonly limit: number
}

/**
 * Reads all records of a historian that are not flushed: those of segments that its version accepted, then those of its
 * last owner. What cannot be read of the latter is the torn end of the log only where nothing says that it was durable:
 * the owner's publication, another group, another segment.
 * @param published  the last that is known of the owner; `null` for nothing
 * @param isFollowed whether the owner goes on: what lies behind `published` is none of the reader's then, and none of
 *                   its groups where that is `null`
 * @param findHeader for who keeps what is left of a damaged log; without it a segment with a damaged header is left out
 * @returns          the segments that have records, and their bytes that count
 */
export function readLog(
  files: Files,
  folder: string,
  version: Version,
  published: WalPosition | null,
  target: LogTarget,
  isFollowed = false,
  findHeader: FindHeader | null = null,
): readonly ReadSegment[] {
  const isKnown = isFollowed && published === null
  const own = (isKnown ? [] : readOwn(files, folder, version, target, findHeader)).filter(
    ({ header }) => !isFollowed || published === null || header.segment <= published.segment,
  )
  const found = [...readAccepted(files, folder, version, target, findHeader), ...own]
  const sequence = new SequenceCheck(version.flushedSequence + 1, target)
  const read: ReadSegment[] = []
  checkChain(own, isFollowed ? null : missingEnd(version, published, found), target)
  let generation: number | null = null
  for (const { name, header, bytes, limit } of found) {
    const next = own.find(
      (one) => one.header.previous === header.segment && one.header.token === header.token,
    )
    const isOwn = limit === Number.POSITIVE_INFINITY
    const isPublished = published?.token === header.token && published.segment === header.segment
    const most = isFollowed && isPublished ? published.offset : limit
    const counts = isOwn ? (next?.header.previousBytes ?? most) : limit
    const later = own.find((one) => one.header.segment > header.segment)
    const isLeft = isOwn && later !== undefined && later.header.previous < header.segment
    // A segment that another one follows, whose owner knew of none of its groups, has none.
    const range = {
      ...WHOLE_SEGMENT,
      limit: isLeft && !isPublished ? SEGMENT_HEADER_BYTES : counts,
      atLeast: counts < Number.POSITIVE_INFINITY ? counts : isPublished ? published.offset : 0,
    }
    if (isOwn) {
      if (generation !== null && header.generation !== generation) target.rotate?.()
      generation = header.generation
    }
    const end = scanSegment(bytes, header, range, sequence)
    const unstated = isOwn && target.unstated ? unstatedGroup({ header, bytes }, own, published) : null
    if (unstated !== null) target.unstated?.(unstated)
    if (end > SEGMENT_HEADER_BYTES) read.push({ name, bytes: end, header })
  }
  if (published?.token === version.token && published.lastSequence >= sequence.next) {
    target.damaged(missing(sequence.next, published.lastSequence))
  }
  return read
}

/** Tells records that are missing. */
export class SequenceCheck {
  #next: number
  readonly #target: LogTarget

  constructor(next: number, target: LogTarget) {
    this.#next = next
    this.#target = target
  }

  /** Number of the next record. */
  get next(): number {
    return this.#next
  }

  take(record: WalRecord): void {
    if (record.sequence > this.#next) {
      this.#target.damaged(missing(this.#next, record.sequence - 1))
    }
    if (record.sequence < this.#next) return
    this.#next = record.sequence + 1
    this.#target.take(record)
  }

  damaged(damage: Damage): void {
    this.#target.damaged(damage)
  }
}

const missing = (first: number, last: number) =>
  new LostRecords(`records ${first} to ${last} of the log are missing`, first, last)

function readAccepted(
  files: Files,
  folder: string,
  version: Version,
  target: LogTarget,
  findHeader: FindHeader | null,
): FoundSegment[] {
  return version.accepted.flatMap(({ name, bytes: limit }) => {
    try {
      const bytes = readAll(files, folder, name)
      return [{ name, bytes, header: headerOf(name, bytes, [], findHeader), limit }]
    } catch (error) {
      target.damaged(damageOf(error, name))
      return []
    }
  })
}

function readOwn(
  files: Files,
  folder: string,
  version: Version,
  target: LogTarget,
  findHeader: FindHeader | null,
): FoundSegment[] {
  const found: FoundSegment[] = []
  // Those of a copy are accepted ones, and have the token of the owner that it was made of.
  const accepted = new Set(version.accepted.map(({ name }) => name))
  const names = files
    .list(folder)
    .filter((name) => parseSegmentName(name)?.token === version.token && !accepted.has(name))
  for (const name of names) {
    try {
      const first = readHeader(files, folder, name, findHeader !== null)
      // Those that wait for an archive are not read, and go at any time: one that is needed would leave a gap.
      if (first === null || (first !== 'damaged' && first.generation <= version.flushedGeneration)) continue
      const bytes = readAll(files, folder, name)
      const header = headerOf(name, bytes, found, findHeader)
      found.push({ name, bytes, header, limit: Number.POSITIVE_INFINITY })
    } catch (error) {
      target.damaged(damageOf(error, name))
    }
  }
  return found
}

/**
 * Number of the segment with the last record that the owner published, where that is not flushed and the segment is not
 * among those that were found; `null` otherwise. It was durable before it was published.
 */
function missingEnd(
  version: Version,
  published: WalPosition | null,
  found: readonly FoundSegment[],
): number | null {
  if (published?.token !== version.token || published.lastSequence <= version.flushedSequence) return null
  const { token, segment } = published
  // Before the first group of an owner all is in segments of others, which its manifest names.
  if (segment === 0) return null
  // In a copy it is an accepted one.
  return found.some(({ header }) => header.token === token && header.segment === segment) ? null : segment
}

/**
 * Tells segments that are missing: every one names the one before it. Behind the last one a group whose sync failed
 * would otherwise be taken for what was acknowledged under its numbers in the missing one.
 * @param end  number of the one that is missing at the end; `null` for none
 */
function checkChain(own: readonly FoundSegment[], end: number | null, target: LogTarget): void {
  const has = (segment: number) => own.some(({ header }) => header.segment === segment)
  const first = own[0]
  const missing = new Set(end === null ? [] : [end])
  for (const { header } of own) {
    // Those before the first one that is left are flushed and gone.
    if (header.previous === 0 || header.previous < first!.header.segment || has(header.previous)) continue
    missing.add(header.previous)
  }
  for (const segment of missing) target.damaged(new Damage(`segment ${segment} of the log is missing`))
}

/** The header of a segment, if need be as it is found out. Throws Damage. */
export function headerOf(
  name: string,
  bytes: Buffer,
  before: readonly AnySegment[],
  findHeader: FindHeader | null,
): SegmentHeader {
  try {
    return decodeSegmentHeader(bytes)
  } catch (error) {
    const found = error instanceof Damage && findHeader !== null ? findHeader(name, bytes, before) : null
    if (found === null) throw error
    return found
  }
}

/**
 * `null` for a segment that has gone since its folder was listed, or was not begun. Throws Damage, unless a damaged one
 * is to be looked at.
 */
function readHeader(
  files: Files,
  folder: string,
  name: string,
  mayBeDamaged: boolean,
): SegmentHeader | 'damaged' | null {
  try {
    return readSegmentHeader(files, join(folder, name))
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null
    if (mayBeDamaged && error instanceof Damage) return 'damaged'
    throw error
  }
}

/**
 * The header of a segment; `null` for what is left of one that could not be begun: the header is durable before
 * anything follows it. Throws Damage and the system's errors.
 */
export function readSegmentHeader(files: Files, path: string): SegmentHeader | null {
  const file = files.open(path)
  try {
    const bytes = new Uint8Array(SEGMENT_HEADER_BYTES)
    return decodeSegmentHeader(bytes.subarray(0, file.readNow(bytes, 0)))
  } catch (error) {
    if (error instanceof Damage && file.size() <= SEGMENT_HEADER_BYTES) return null
    throw error
  } finally {
    file.close()
  }
}

/** All of a segment, in memory of its own. */
export function readAll(files: Files, folder: string, name: string): Buffer {
  return Buffer.from(readFile(files, join(folder, name)).buffer)
}

function damageOf(error: unknown, name: string): Damage {
  if (error instanceof Damage) return error
  if (systemCode(error) === 'ENOENT') return new Damage(`segment ${name} of the log is missing`)
  throw error
}
