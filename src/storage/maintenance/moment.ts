import type { Damage } from '../damage.ts'
import type { Folders } from '../engine/folders.ts'
import { findNewest } from '../engine/newest-version.ts'
import type { Files } from '../files/files.ts'
import { hasMovedOn } from '../manifest/manifest-file.ts'
import type { AcceptedSegment, Version } from '../manifest/version.ts'
import { PublicationReader } from '../wal/publication.ts'
import { readLog } from '../wal/read-log.ts'
import type { WalRecord } from '../wal/wal-record.ts'

/** The owner has made another version while one was read; what is missing after all tries is damage. */
export class MovedOn extends Error {}

/** What is there of a historian at one moment. */
export interface Moment {
  /** With the segments that still count, and their bytes, as accepted ones. */
  readonly version: Version
  /** Number of the last record. */
  readonly lastSequence: number
}

/**
 * The newest one. Throws Damage, DATA_DIR_UNUSABLE where there is no historian, and MovedOn where an owner goes on
 * meanwhile.
 */
export function momentOf(files: Files, source: Folders): Moment {
  const reader = new PublicationReader(files, source.wal)
  try {
    const newest = findNewest(files, source, reader)
    if (newest === null) throw new MovedOn('the newest manifest is missing')
    const { version, bytes, place, published, isFollowed } = newest
    let found: Damage | null = null
    let lastSequence = version.flushedSequence
    const target = {
      take({ sequence }: WalRecord) {
        lastSequence = sequence
      },
      damaged(damage: Damage) {
        found ??= damage
      },
    }
    const accepted: readonly AcceptedSegment[] = readLog(
      files,
      source.wal,
      version,
      published,
      target,
      isFollowed,
    ).map(({ name, bytes }) => ({ name, bytes }))
    const damage = found as Damage | null
    if (damage === null) return { version: { ...version, accepted }, lastSequence }
    throw hasMovedOn(files, source.manifest, place, bytes) ? new MovedOn(damage.message) : damage
  } finally {
    reader.close()
  }
}
