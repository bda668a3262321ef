import { openCatalogStore } from '../catalog/file-catalog-store.ts'
import type { CatalogRef, TagCatalog } from '../catalog/tag-catalog.ts'
import { Damage } from '../damage.ts'
import type { Files } from '../files/files.ts'

/** The tags of a historian without a manifest, and the file that has them; `null` for none. */
export interface FoundCatalog {
  readonly ref: CatalogRef | null
  readonly catalog: TagCatalog
}

interface ReadCatalog extends FoundCatalog {
  readonly ref: CatalogRef
  /** Bytes at the end of the file that cannot be read. */
  readonly left: number
}

/**
 * Reads the newest of some files of a catalog, as far as it can be read: behind what the manifest named a kill may have
 * left the beginning of an append, or a new file that is not whole. Of those up to the newest whole one it is the one
 * with the most tags. Gives those of the others that cannot be read, too.
 * @param names  sorted
 */
export async function findNewestCatalog(
  files: Files,
  folder: string,
  names: readonly string[],
): Promise<{ readonly found: ReadCatalog | null; readonly unreadable: readonly string[] }> {
  const unreadable: string[] = []
  let found: ReadCatalog | null = null
  for (const name of names.toReversed()) {
    const read = await readCatalog(files, folder, name)
    if (read !== null && (found === null || read.catalog.size > found.catalog.size)) {
      if (found !== null) unreadable.push(found.ref.name)
      found = read
    } else unreadable.push(name)
    if (read?.left === 0) break
  }
  return { found, unreadable }
}

/** `null` for a file of which nothing can be read. */
async function readCatalog(files: Files, folder: string, name: string): Promise<ReadCatalog | null> {
  const store = openCatalogStore(files, folder, '')
  try {
    const { bytes, left } = await store.intactBytes(name)
    const ref = { name, bytes }
    return { ref, catalog: await store.load(ref), left }
  } catch (error) {
    if (error instanceof Damage) return null
    throw error
  }
}
