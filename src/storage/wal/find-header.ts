import { type AnySegment, endBefore } from './counted.ts'
import { GROUP_HEADER_BYTES, RECORD_HEADER_BYTES, readGroupHeader } from './group.ts'
import { nextGroup } from './scan.ts'
import { parseSegmentName, SEGMENT_HEADER_BYTES, type SegmentHeader } from './segment.ts'

/** Where the header of a segment has its random numbers. */
const NONCE_AT = 40

/**
 * What the header of a segment said that cannot be read, from the name of its file and from its groups, which have
 * checksums of their own; `null` where no group is found. The random numbers that groups begin with are those of the
 * first one, which stands behind the header, or those of the header where that one is damaged. A client knows neither,
 * so nothing that it sent is taken for a group.
 * @param before      segments of the same owner that come before it, in order
 * @param generation  which one it is taken to be of, as that is not known
 */
export function findHeader(
  name: string,
  bytes: Buffer,
  before: readonly AnySegment[],
  generation: number,
): SegmentHeader | null {
  const place = parseSegmentName(name)
  if (place === null) return null
  for (const at of [SEGMENT_HEADER_BYTES, NONCE_AT]) {
    if (bytes.length < at + 8) continue
    const nonce = bytes.readUInt32LE(at)
    if (nonce === 0) continue
    const nonce2 = bytes.readUInt32LE(at + 4)
    const header = {
      ...place,
      generation,
      previous: 0,
      firstSequence: 0,
      previousBytes: 0,
      nonce,
      nonce2,
    }
    const group = nextGroup(bytes, SEGMENT_HEADER_BYTES, bytes.length, header)
    if (group === null) continue
    const hidden = recordsBefore(bytes, group, header)
    // Where the first group is damaged, it had one record at least.
    const firstSequence = readGroupHeader(bytes, group, header)!.firstSequence - (hidden ?? 1)
    const previous = previousOf(before, place.token, firstSequence)
    return { ...header, firstSequence, ...previous, ...(hidden === null ? { isUnclear: true } : {}) }
  }
  return null
}

/**
 * How many records stand before the first group that can be read, by their lengths; `null` where these do not lead to
 * it. A length is a multiple of 8, and the random number that a group begins with is odd.
 */
function recordsBefore(bytes: Buffer, group: number, { nonce }: SegmentHeader): number | null {
  let records = 0
  let at = SEGMENT_HEADER_BYTES
  while (at < group) {
    if (at === SEGMENT_HEADER_BYTES || bytes.readUInt32LE(at) === nonce) {
      at += GROUP_HEADER_BYTES
      continue
    }
    const length = bytes.readUInt32LE(at)
    if (length % 8 !== 0 || length < RECORD_HEADER_BYTES || at + length > group) return null
    at += length
    records++
  }
  return at === group ? records : null
}

/** The segment before, and where it ends: a group whose sync failed has numbers that its successor has, too. */
function previousOf(
  before: readonly AnySegment[],
  token: number,
  firstSequence: number,
): Pick<SegmentHeader, 'previous' | 'previousBytes'> {
  for (const segment of before.toReversed()) {
    if (segment.header.token !== token) continue
    const previousBytes = endBefore(segment, firstSequence)
    if (previousBytes === SEGMENT_HEADER_BYTES) continue
    return { previous: segment.header.segment, previousBytes }
  }
  return { previous: 0, previousBytes: 0 }
}
