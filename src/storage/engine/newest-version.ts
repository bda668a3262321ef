import { Damage } from '../damage.ts'
import type { Files } from '../files/files.ts'
import { type ManifestPlace, type ReadManifest, readManifest } from '../manifest/manifest-file.ts'
import type { Publication } from '../wal/publication.ts'

/** Whether an owner published a later manifest than one that was found: it came since then, or is lost. */
export function namesLater(published: Publication, { token, number }: ManifestPlace): boolean {
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
