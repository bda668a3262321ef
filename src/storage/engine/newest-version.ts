import { Damage } from '../damage.ts'
import type { Files } from '../files/files.ts'
import { unusable } from '../files/refusals.ts'
import {
  listManifests,
  type ManifestPlace,
  type ReadManifest,
  readManifest,
} from '../manifest/manifest-file.ts'
import { isOwnerAlive } from '../ownership/claim.ts'
import type { Publication, PublicationReader } from '../wal/publication.ts'
import type { Folders } from './folders.ts'

/** Whether an owner published a later manifest than one that was found: it came since then, or is lost. */
function namesLater(published: Publication, { token, number }: ManifestPlace): boolean {
  return published.token > token || (published.token === token && published.manifest > number)
}

/**
 * What the highest manifest says of a historian whose owner adds nothing any more. Throws Damage, also where an owner
 * published more than is there.
 */
export function readNewest(
  files: Files,
  folder: string,
  place: ManifestPlace,
  published: Publication | null,
): ReadManifest {
  const read = readManifest(files, folder, place)
  if (published !== null && namesLater(published, place)) throw new Damage('the newest manifest is missing')
  const isSame = published?.token === place.token && published.manifest === place.number
  if (isSame && published.manifestBytes > read.bytes) {
    throw new Damage('the last edit of the manifest cannot be read')
  }
  return read
}

/** The newest version of a historian, and how to read what is not in it. */
export interface NewestVersion extends ReadManifest {
  readonly place: ManifestPlace
  /** What its owner published; `null` for nothing yet. */
  readonly published: Publication | null
  /** Whether its owner goes on, so that only what it published counts. */
  readonly isFollowed: boolean
}

/**
 * Finds what counts of a historian that another process may change. `null` when the newest manifest came after the
 * folder was listed, or is lost. Throws DATA_DIR_UNUSABLE where there is no historian, and Damage.
 */
export function findNewest(files: Files, folders: Folders, reader: PublicationReader): NewestVersion | null {
  const highest = listManifests(files, folders.manifest).at(-1)
  if (highest === undefined) throw unusable(folders.root, 'there is no historian in it')
  const last = reader.read()
  // One that has just begun has published nothing yet, and so has no group that counts.
  const published = last?.token === highest.token ? last : null
  // Of one that has ended all is read: after a power cut what it published may be of some time before.
  const isFollowed = last !== null && isOwnerAlive(files, folders.root, highest.token)
  if (!isFollowed || published === null) {
    // A manifest is there before its owner publishes anything.
    if (last !== null && namesLater(last, highest)) return null
    const read = isFollowed
      ? readManifest(files, folders.manifest, highest)
      : readNewest(files, folders.manifest, highest, published)
    return { ...read, place: highest, published, isFollowed }
  }
  // An edit behind what it published may fail still, or has failed.
  const place = { token: published.token, number: published.manifest }
  const read = readManifest(files, folders.manifest, place, published.manifestBytes)
  return { ...read, place, published, isFollowed }
}
