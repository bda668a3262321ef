import { Damage, LostRecords } from '../damage.ts'
import { atOnce } from '../pause.ts'
import { GROUP_HEADER_BYTES, type GroupHeader, readGroupHeader, readRecord } from './group.ts'
import { SEGMENT_HEADER_BYTES, type SegmentHeader } from './segment.ts'
import { BYTES_OF_STEP } from './steps.ts'
import type { WalRecord } from './wal-record.ts'

/** Takes what a scan of a segment finds, in order. */
export interface ScanTarget {
  take(record: WalRecord): void
  /** A record, or records, that were acknowledged and cannot be read: LostRecords where their numbers are known. */
  damaged(damage: Damage): void
}

/** Which part of a segment is read. */
export interface ScanRange {
  /** Where the first group begins that is wanted; the end of the segment's header for all. */
  readonly from: number
  /** Bytes that are known to have been durable: what cannot be read below it is damage. */
  readonly atLeast: number
  /** Bytes that count; Infinity where nobody has said it. */
  readonly limit: number
}

export const WHOLE_SEGMENT: ScanRange = {
  from: SEGMENT_HEADER_BYTES,
  atLeast: 0,
  limit: Number.POSITIVE_INFINITY,
}

/**
 * Reads the groups of a segment. The first one that cannot be read ends it when it is what a power cut leaves of a
 * group that nobody was answered for: it lies above `atLeast`, and no group follows, since a group is only written when
 * the one before it is durable. Anything else is damage, which is reported, and the scan goes on behind it.
 * @param bytes  the segment from its first byte on, at a multiple of 8 bytes of their memory; records share it
 * @returns      where the last group ends that counts
 */
export function scanSegment(
  bytes: Buffer,
  segment: SegmentHeader,
  range: ScanRange,
  target: ScanTarget,
): number {
  return atOnce(scanInSteps(bytes, segment, range, target))
}

/** The same in steps, between which the caller may yield to the event loop. */
export function* scanInSteps(
  bytes: Buffer,
  segment: SegmentHeader,
  range: ScanRange,
  target: ScanTarget,
): Generator<void, number> {
  const end = Math.min(bytes.length, range.limit)
  const atLeast = Math.min(range.atLeast, range.limit)
  let at = range.from
  let passed = at
  for (;;) {
    if (at - passed >= BYTES_OF_STEP) {
      passed = at
      yield
    }
    if (at >= end && at >= atLeast) return at
    const header = at + GROUP_HEADER_BYTES <= end ? readGroupHeader(bytes, at, segment) : null
    const isWhole = header !== null && at + header.bytes <= end && header.bytes >= GROUP_HEADER_BYTES
    if (isWhole) {
      const groupEnd = at + header.bytes
      const found = yield* readGroup(bytes, at, header)
      const isAcknowledged =
        found.damages.length === 0 || groupEnd <= atLeast || nextGroup(bytes, groupEnd, end, segment) !== null
      if (!isAcknowledged) return at
      for (const one of found.records) target.take(one)
      for (const damage of found.damages) target.damaged(damage)
      at = groupEnd
      continue
    }
    const next = nextGroup(bytes, at + 8, end, segment)
    if (next === null && at >= atLeast) return at
    const until = next ?? Math.max(end, atLeast)
    target.damaged(new Damage(`bytes ${at} to ${until} of a segment of the log cannot be read`))
    if (next === null) return at
    at = next
  }
}

/** What a group has that can be read. */
interface FoundGroup {
  readonly records: readonly WalRecord[]
  readonly damages: readonly Damage[]
}

function* readGroup(
  bytes: Buffer,
  at: number,
  { bytes: size, records, firstSequence }: GroupHeader,
): Generator<void, FoundGroup> {
  const found: WalRecord[] = []
  const damages: Damage[] = []
  const end = at + size
  let place = at + GROUP_HEADER_BYTES
  let passed = place
  for (let i = 0; i < records; i++) {
    if (place - passed >= BYTES_OF_STEP) {
      passed = place
      yield
    }
    const sequence = firstSequence + i
    try {
      const { record, end: next } = yield* readRecord(bytes, place, end, sequence)
      found.push(record)
      place = next
    } catch (error) {
      if (!(error instanceof Damage)) throw error
      damages.push(new LostRecords(error.message, sequence, sequence, error))
      // Its length leads to the next one, unless that is what is wrong.
      const length = place + 4 <= end ? bytes.readUInt32LE(place) : 0
      if (length < 8 || length % 8 !== 0 || place + length > end) {
        for (let rest = i + 1; rest < records; rest++) {
          const lost = firstSequence + rest
          damages.push(new LostRecords(`record ${lost} of the log cannot be found`, lost, lost))
        }
        break
      }
      place += length
    }
  }
  return { records: found, damages }
}

/** Where the next group begins at or after an offset; `null` when there is none. */
export function nextGroup(bytes: Buffer, from: number, end: number, segment: SegmentHeader): number | null {
  const nonce = Buffer.alloc(8)
  nonce.writeUInt32LE(segment.nonce, 0)
  nonce.writeUInt32LE(segment.nonce2, 4)
  for (let at = bytes.indexOf(nonce, from); at >= 0 && at < end; at = bytes.indexOf(nonce, at + 1)) {
    if (at % 8 === 0 && readGroupHeader(bytes, at, segment) !== null) return at
  }
  return null
}
