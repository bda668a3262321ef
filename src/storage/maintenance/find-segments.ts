import { join } from 'node:path'
import { Damage, LostRecords } from '../damage.ts'
import type { Folders } from '../engine/folders.ts'
import type { Files } from '../files/files.ts'
import type { AcceptedSegment } from '../manifest/version.ts'
import { type AnySegment, countedRange, type RecordRange, unstatedGroup } from '../wal/counted.ts'
import { findHeader } from '../wal/find-header.ts'
import { REWRITTEN_GENERATION } from '../wal/log-rewriter.ts'
import { type FindHeader, headerOf, readAll, readSegmentHeader } from '../wal/read-log.ts'
import { type ScanRange, scanSegment } from '../wal/scan.ts'
import { parseSegmentName, SEGMENT_HEADER_BYTES, type SegmentHeader, segmentName } from '../wal/segment.ts'
import type { WalPosition } from '../wal/wal-record.ts'
import { FlushedChanges } from './flushed-changes.ts'

/** What the segments say that no manifest names. */
export interface FoundLog {
  /** Those with records that are not in parts, in order, and their bytes that count; some may be damaged. */
  readonly accepted: readonly AcceptedSegment[]
  /** Number of the first record that they have. */
  readonly first: number
  /** Records that any segment has, also those that are in parts. */
  readonly read: readonly RecordRange[]
  /** Number of the last one; that of the last one that is flushed where they have none. */
  readonly last: number
  /** The highest id of a tag that they have points of. */
  readonly highestTag: number
  /** Records that count, but in whose place others may have been acknowledged. */
  readonly unstated: readonly RecordRange[]
  /** Those that cannot be read at all. */
  readonly unreadable: readonly { readonly name: string; readonly reason: string }[]
  /** Changes of tags that the catalog may not have, of records that are in parts, in order. */
  readonly changes: readonly Uint8Array[]
  /** What an earlier repair, which came to no manifest, wrote anew; `null` for nothing. */
  readonly rewritten: RewrittenBefore | null
}

/** A log that an earlier repair wrote anew, where what it replaces is there still. */
export interface RewrittenBefore {
  /** Names of the segments that do not count any more. */
  readonly replaced: readonly string[]
  /** Records that it has in place of lost ones. */
  readonly lost: readonly RecordRange[]
}

interface Segment extends AnySegment {
  readonly name: string
}

/**
 * Finds what of the log counts where no manifest says it.
 * @param flushed    number of the last record that is in parts
 * @param nextId     of the catalog: the id of the next new tag
 * @param published  the last that is known of an owner: below it nothing is a torn end; `null` for nothing
 */
export function findSegments(
  files: Files,
  folders: Folders,
  flushed: number,
  nextId: number,
  published: WalPosition | null,
): FoundLog {
  const unreadable: { name: string; reason: string }[] = []
  const found: Segment[] = []
  const { names, replaced } = namesIn(files, folders.wal)
  const empty = new RangeList()
  const changes = new FlushedChanges(flushed, nextId)
  for (const name of names) {
    const bytes = readAll(files, folders.wal, name)
    try {
      found.push({ name, bytes, header: headerOf(name, bytes, found, findNext) })
    } catch (error) {
      if (!(error instanceof Damage)) throw error
      unreadable.push({ name, reason: error.message })
    }
  }
  const accepted: AcceptedSegment[] = []
  const unstated: RecordRange[] = []
  let first = Number.POSITIVE_INFINITY
  let last = flushed
  let highestTag = 0
  const read = new RangeList()
  for (const segment of found) {
    const { name, header, bytes } = segment
    let lastHere = 0
    let isUnclear = false
    const range = withPublished(countedRange(segment, found), header, published)
    const end = scanSegment(bytes, header, range, {
      take(record) {
        const { sequence, catalog, removed, points } = record
        changes.take(record)
        read.add(sequence)
        lastHere = Math.max(lastHere, sequence)
        const isEmpty = catalog === null && removed.length === 0 && points === null
        if (isEmpty && header.generation === REWRITTEN_GENERATION) empty.add(sequence)
        for (const tag of points?.tags ?? []) highestTag = Math.max(highestTag, tag)
      },
      damaged(damage) {
        if (damage instanceof LostRecords) lastHere = Math.max(lastHere, damage.last)
        else isUnclear = true
      },
    })
    // What is damaged is read once more with what counts, and is told then.
    const counted = Math.max(end, range.atLeast)
    if (counted <= SEGMENT_HEADER_BYTES || (lastHere <= flushed && !isUnclear)) continue
    accepted.push({ name, bytes: counted })
    const own = found.filter((one) => one.header.token === header.token)
    const group = unstatedGroup(segment, own, published)
    if (group !== null && group.last > flushed) unstated.push(group)
    first = Math.min(first, Math.max(header.firstSequence, flushed + 1))
    last = Math.max(last, lastHere)
  }
  const isAny = first < Number.POSITIVE_INFINITY
  return {
    accepted,
    first: isAny ? first : flushed + 1,
    read: read.ranges,
    last,
    highestTag,
    unstated,
    unreadable,
    changes: changes.until(Math.max(flushed, published?.lastSequence ?? 0)),
    rewritten: replaced.length === 0 ? null : { replaced, lost: empty.ranges },
  }
}

/** Numbers that grow, as ranges. */
class RangeList {
  readonly ranges: RecordRange[] = []

  add(number: number): void {
    const before = this.ranges.at(-1)
    if (before?.last !== number - 1) this.ranges.push({ first: number, last: number })
    else this.ranges[this.ranges.length - 1] = { first: before.first, last: number }
  }
}

/** Names of segments. */
interface SegmentNames {
  /** Of those that may count. */
  readonly names: readonly string[]
  /** Of those in whose place a repair wrote others. */
  readonly replaced: readonly string[]
}

/**
 * Names of all segments. Where a repair wrote the log anew, what it wrote stands in the place of all that earlier
 * owners wrote, also of what they published; unless it was cut off before: its first segment is there when all are.
 */
function namesIn(files: Files, folder: string): SegmentNames {
  const all = files.list(folder).filter((name) => parseSegmentName(name) !== null)
  const rewritten = all.filter((name) => isRewritten(files, folder, name))
  const tokenOf = (name: string) => parseSegmentName(name)!.token
  const isWhole = (token: number) => all.includes(segmentName(token, 1))
  const since = Math.max(0, ...rewritten.map(tokenOf).filter(isWhole))
  const counted = all.filter((name) => !rewritten.includes(name) || isWhole(tokenOf(name)))
  return {
    names: counted.filter((name) => tokenOf(name) >= since),
    replaced: counted.filter((name) => tokenOf(name) < since),
  }
}

function isRewritten(files: Files, folder: string, name: string): boolean {
  try {
    return readSegmentHeader(files, join(folder, name))?.generation === REWRITTEN_GENERATION
  } catch (error) {
    if (error instanceof Damage) return false
    throw error
  }
}

/** What is found out of the header of a segment is taken to be of the generation after the one before. */
const findNext: FindHeader = (name, bytes, before) => {
  const { token } = parseSegmentName(name)!
  const own = before.filter(({ header }) => header.token === token)
  return findHeader(name, bytes, own, (own.at(-1)?.header.generation ?? 0) + 1)
}

function withPublished(range: ScanRange, header: SegmentHeader, published: WalPosition | null): ScanRange {
  if (published?.token !== header.token || published.segment !== header.segment) return range
  const atLeast = Math.max(range.atLeast, published.offset)
  return { ...range, atLeast, limit: Math.max(range.limit, atLeast) }
}
