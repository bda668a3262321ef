import { Damage } from '../damage.ts'
import type { Files } from '../files/files.ts'
import { type ManifestPlace, type ReadManifest, readManifest } from '../manifest/manifest-file.ts'
import type { Publication } from '../wal/publication.ts'

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
  const isLater =
    published !== null &&
    (published.token > place.token || (published.token === place.token && published.manifest > place.number))
  if (isLater) throw new Damage('the newest manifest is missing')
  const isSame = published?.token === place.token && published.manifest === place.number
  if (isSame && published.manifestBytes > read.bytes) {
    throw new Damage('the last edit of the manifest cannot be read')
  }
  return read
}
