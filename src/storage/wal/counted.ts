import { GROUP_HEADER_BYTES, type GroupHeader, readGroupHeader } from './group.ts'
import { nextGroup, type ScanRange, WHOLE_SEGMENT } from './scan.ts'
import { SEGMENT_HEADER_BYTES, type SegmentHeader } from './segment.ts'
import type { WalPosition } from './wal-record.ts'

/** A segment of any owner. */
export interface AnySegment {
  readonly header: SegmentHeader
  readonly bytes: Buffer
}

/**
 * What of a segment counts by what the others say, where no manifest does. Its owner says in the next segment where it
 * ends: a group whose sync failed lies behind that, and its numbers are those of others. A successor says with its
 * first segment which numbers are its own: what an owner wrote that was none any more is not there.
 * @param all  all segments that are there, in the order of their names
 */
export function countedRange(segment: AnySegment, all: readonly AnySegment[]): ScanRange {
  const { header, bytes } = segment
  const own = all.filter((one) => one.header.token === header.token)
  const next = own.find((one) => one.header.previous === header.segment)
  if (next !== undefined) return until(next.header.previousBytes)
  const later = own.find((one) => one.header.segment > header.segment)
  // One that another one follows, whose owner knew of none of its groups, has none.
  if (later !== undefined && later.header.previous < header.segment) return until(SEGMENT_HEADER_BYTES)
  // The one that says where it ends is missing.
  let taken = later?.header.firstSequence ?? Number.POSITIVE_INFINITY
  for (const one of all) {
    if (one.header.token > header.token) taken = Math.min(taken, one.header.firstSequence)
  }
  return taken === Number.POSITIVE_INFINITY
    ? { ...WHOLE_SEGMENT, limit: bytes.length }
    : until(endBefore(segment, taken))
}

const until = (end: number): ScanRange => ({ from: SEGMENT_HEADER_BYTES, atLeast: end, limit: end })

/** Numbers of records, first and last. */
export interface RecordRange {
  readonly first: number
  readonly last: number
}

/**
 * Records of the last group of a segment where nobody says whether it counts: the next segment would, and is missing,
 * or its header and first group are damaged. The sync of the group may have failed; then records of that segment, under
 * the same numbers, were acknowledged.
 * @param own        all segments of its owner that are there, in order
 * @param published  the last that is known of the owner; `null` for nothing
 */
export function unstatedGroup(
  segment: AnySegment,
  own: readonly AnySegment[],
  published: WalPosition | null,
): RecordRange | null {
  const { header } = segment
  const next = own.find((one) => one.header.previous === header.segment)
  if (next !== undefined) return next.header.isUnclear === true ? unclearGroup(segment, next.header) : null
  const later = own.find((one) => one.header.segment > header.segment)
  const isFollowed =
    later === undefined
      ? published?.token === header.token && published.segment > header.segment
      : later.header.previous > header.segment
  if (!isFollowed) return null
  const limit = later?.header.firstSequence ?? Number.POSITIVE_INFINITY
  let last: RecordRange | null = null
  for (const group of groupsOf(segment)) {
    const range = rangeOf(group)
    if (range.last < limit) last = range
  }
  return last
}

/** The last group before a segment that is unclear; `null` where its numbers are those of others, so it has failed. */
function unclearGroup(segment: AnySegment, next: SegmentHeader): RecordRange | null {
  let last: RecordRange | null = null
  for (const group of groupsOf(segment)) last = rangeOf(group)
  return last !== null && last.last < next.firstSequence ? last : null
}

const rangeOf = ({ firstSequence, records }: GroupHeader): RecordRange => ({
  first: firstSequence,
  last: firstSequence + records - 1,
})

/** Where the first group of a segment begins whose records have a number or higher ones; its end where none has. */
export function bytesBefore({ header, bytes }: AnySegment, sequence: number): number {
  for (let at = SEGMENT_HEADER_BYTES; at + GROUP_HEADER_BYTES <= bytes.length; ) {
    const group = readGroupHeader(bytes, at, header)
    if (group === null) break
    if (group.firstSequence >= sequence) return at
    at += group.bytes
  }
  return bytes.length
}

/** Where the last group of a segment ends all of whose records have numbers below one; damaged ones are passed over. */
export function endBefore(segment: AnySegment, sequence: number): number {
  let end = SEGMENT_HEADER_BYTES
  for (const group of groupsOf(segment)) {
    if (group.firstSequence + group.records > sequence) break
    end = Math.min(group.end, segment.bytes.length)
  }
  return end
}

/** Headers of all groups that can be read, and where the groups end. */
function* groupsOf({ header, bytes }: AnySegment): Generator<GroupHeader & { readonly end: number }> {
  for (let at: number | null = SEGMENT_HEADER_BYTES; at !== null && at < bytes.length; ) {
    const group = readGroupHeader(bytes, at, header)
    if (group === null) at = nextGroup(bytes, at + 8, bytes.length, header)
    else {
      at += group.bytes
      yield { ...group, end: at }
    }
  }
}
