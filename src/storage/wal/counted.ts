import { GROUP_HEADER_BYTES, readGroupHeader } from './group.ts'
import { SEGMENT_HEADER_BYTES, type SegmentHeader } from './segment.ts'

/** A segment of any owner. */
export interface AnySegment {
  readonly header: SegmentHeader
  readonly bytes: Buffer
}

/**
 * Up to where a segment counts by what the others say, where no manifest does. Its owner says in the next segment where
 * it ends: a group whose sync failed lies behind that, and its numbers are those of others. A successor says with its
 * first segment which numbers are its own: what an owner wrote that was none any more is not there.
 * @param all  all segments that are there
 */
export function countedBytes({ header, bytes }: AnySegment, all: readonly AnySegment[]): number {
  const own = all.filter((one) => one.header.token === header.token)
  const next = own.find((one) => one.header.previous === header.segment)
  if (next !== undefined) return Math.min(next.header.previousBytes, bytes.length)
  // One that another one follows, whose owner knew of none of its groups, has none.
  if (own.some((one) => one.header.segment > header.segment)) return SEGMENT_HEADER_BYTES
  let taken = Number.POSITIVE_INFINITY
  for (const one of all) {
    if (one.header.token > header.token) taken = Math.min(taken, one.header.firstSequence)
  }
  return taken === Number.POSITIVE_INFINITY ? bytes.length : bytesBefore({ header, bytes }, taken)
}

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
