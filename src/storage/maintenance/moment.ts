import type { Damage } from '../damage.ts'
import type { Folders } from '../engine/folders.ts'
import type { Files } from '../files/files.ts'
import { unusable } from '../files/refusals.ts'
import { hasMovedOn, listManifests, readManifest } from '../manifest/manifest-file.ts'
import type { AcceptedSegment, Version } from '../manifest/version.ts'
import { PublicationReader } from '../wal/publication.ts'
import { readLog } from '../wal/read-log.ts'

/** The owner has made another version while one was read. */
export class MovedOn extends Error {}

/**
 * The newest version, with the segments that still count and their bytes as accepted ones, and without those that only
 * an archive needs. Throws Damage,
 * DATA_DIR_UNUSABLE where there is no historian, and MovedOn where an owner goes on meanwhile.
 */
export function momentOf(files: Files, source: Folders): Version {
  const reader = new PublicationReader(files, source.wal)
  try {
    const place = listManifests(files, source.manifest).at(-1)
    if (place === undefined) throw unusable(source.root, 'there is no historian in it')
    const last = reader.read()
    const published = last?.token === place.token ? last : null
    const { version, bytes } = readManifest(files, source.manifest, place)
    let damage: Damage | null = null
    const target = {
      take() {},
      damaged(found: Damage) {
        damage ??= found
      },
    }
    const accepted: readonly AcceptedSegment[] = readLog(
      files,
      source.wal,
      version,
      published,
      target,
      published !== null,
    ).map(({ name, bytes }) => ({ name, bytes }))
    if (damage !== null) throw hasMovedOn(files, source.manifest, place, bytes) ? new MovedOn() : damage
    return { ...version, accepted, kept: [] }
  } finally {
    reader.close()
  }
}
