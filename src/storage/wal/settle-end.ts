import { join } from 'node:path'
import { type Files, readFile } from '../files/files.ts'
import type { AcceptedSegment } from '../manifest/version.ts'
import { GROUP_HEADER_BYTES, readGroupHeader } from './group.ts'
import { decodeSegmentHeader, parseSegmentName, SEGMENT_HEADER_BYTES } from './segment.ts'
import type { WalPosition } from './wal-record.ts'

/**
 * Has the end of a log on disk that a successor is about to accept. An owner that was killed may have written its last
 * group and not synced it, or the sync may have failed: then the group is in the page cache, is read, and would be gone
 * with the next power cut. It is written again, as a sync alone says nothing after one that failed; those before it
 * were durable when it was written.
 * @param token      of the owner; what is of an earlier one was accepted before
 * @param published  the last that is known of it: what lies before is durable
 */
export function settleEnd(
  files: Files,
  folder: string,
  token: number,
  segments: readonly AcceptedSegment[],
  published: WalPosition | null,
): void {
  const last = segments.at(-1)
  const name = last === undefined ? null : parseSegmentName(last.name)
  if (last === undefined || name?.token !== token) return
  const isPublished =
    published?.token === token &&
    (published.segment > name.segment ||
      (published.segment === name.segment && published.offset >= last.bytes))
  if (isPublished) return
  const path = join(folder, last.name)
  const bytes = Buffer.from(readFile(files, path).buffer)
  const file = files.edit(path)
  try {
    const from = lastGroupOf(bytes, last.bytes)
    file.writeNow(bytes.subarray(from, last.bytes), from)
    file.syncNow()
    // Its owner may have ended before its own sync had the length of the file on disk.
    file.confirmNow()
  } finally {
    file.close()
  }
}

/** Where the last group begins of those up to an offset; those behind a damaged one are taken for it. */
function lastGroupOf(bytes: Buffer, end: number): number {
  const header = decodeSegmentHeader(bytes)
  let at = SEGMENT_HEADER_BYTES
  for (;;) {
    const group = at + GROUP_HEADER_BYTES <= end ? readGroupHeader(bytes, at, header) : null
    if (group === null || group.bytes < GROUP_HEADER_BYTES || at + group.bytes >= end) return at
    at += group.bytes
  }
}
