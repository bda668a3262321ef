import type { Damage } from '../damage.ts'
import type { Folders } from '../engine/folders.ts'
import { namesLater, readNewest } from '../engine/newest-version.ts'
import type { Files } from '../files/files.ts'
import { unusable } from '../files/refusals.ts'
import { hasMovedOn, listManifests, readManifest } from '../manifest/manifest-file.ts'
import type { AcceptedSegment, Version } from '../manifest/version.ts'
import { isOwnerAlive } from '../ownership/claim.ts'
import { PublicationReader } from '../wal/publication.ts'
import { readLog } from '../wal/read-log.ts'
import type { WalRecord } from '../wal/wal-record.ts'

/** The owner has made another version while one was read. */
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
    const highest = listManifests(files, source.manifest).at(-1)
    if (highest === undefined) throw unusable(source.root, 'there is no historian in it')
    const last = reader.read()
    const published = last?.token === highest.token ? last : null
    // Of one that has ended all is read: after a power cut what it published may be of some time before.
    const isFollowed = last !== null && isOwnerAlive(files, source.root, highest.token)
    // Another one has begun since the folder was listed, or this one has begun another manifest.
    const isMissing = last !== null && namesLater(last, highest) && !(isFollowed && published !== null)
    if (isMissing) throw new MovedOn('the newest manifest is missing')
    // An edit behind what it published may fail still, or has failed.
    const place =
      isFollowed && published !== null ? { token: published.token, number: published.manifest } : highest
    const { version, bytes } = isFollowed
      ? readManifest(files, source.manifest, place, published?.manifestBytes)
      : readNewest(files, source.manifest, place, published)
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
