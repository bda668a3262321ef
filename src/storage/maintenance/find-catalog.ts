import { openCatalogStore, removeUnfinishedCatalogs } from '../catalog/file-catalog-store.ts'
import type { CatalogRef, TagCatalog } from '../catalog/tag-catalog.ts'
import { ChangeWriter } from '../catalog/tag-changes.ts'
import { Damage } from '../damage.ts'
import type { Folders } from '../engine/folders.ts'
import type { Files } from '../files/files.ts'
import { tokenText } from '../ownership/ownership.ts'
import { openPartStore } from '../parts/file-part-store.ts'
import type { PartInfo } from '../parts/part.ts'

/** The tags of a historian without a manifest, and the file that has them; `null` for none. */
export interface FoundCatalog {
  readonly ref: CatalogRef | null
  readonly catalog: TagCatalog
}

/** What can be read of a file. */
export interface ReadCatalog extends FoundCatalog {
  readonly ref: CatalogRef
  /** Bytes at its end that count, or may, and cannot be read. */
  readonly left: number
}

/**
 * Reads the newest of some files of a catalog, as far as it can be read: behind what the manifest named a kill may have
 * left the beginning of an append. A new file has its name when it is whole, so that one that ends before is damaged.
 * Of those up to the newest whole one it is the one with the most tags. Gives those of the others that cannot be read,
 * too.
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
    const read = await readCatalog(files, folder, { name })
    if (read !== null && (found === null || read.catalog.size > found.catalog.size)) {
      if (found !== null) unreadable.push(found.ref.name)
      found = read
    } else unreadable.push(name)
    if (read?.left === 0) break
  }
  return { found, unreadable }
}

/**
 * Reads a file of a catalog as far as it can be read; `null` where nothing of it can.
 * @param bytes  that count; all when left out
 */
export async function readCatalog(
  files: Files,
  folder: string,
  { name, bytes = Number.POSITIVE_INFINITY }: { readonly name: string; readonly bytes?: number },
): Promise<ReadCatalog | null> {
  const store = openCatalogStore(files, folder, '')
  try {
    const intact = await store.intactBytes({ name, bytes })
    const ref = { name, bytes: intact.bytes }
    return { ref, catalog: await store.load(ref), left: intact.left }
  } catch (error) {
    if (error instanceof Damage) return null
    throw error
  }
}

/** The highest id of a tag of which parts have points. @param least  what it is at least */
export function highestTagOf(
  files: Files,
  folders: Folders,
  parts: readonly PartInfo[],
  least: number,
): number {
  const store = openPartStore(files, folders.parts, { cacheBytes: 1 << 20 })
  let highest = least
  for (const info of parts) {
    const part = store.open(info)
    for (const tag of part.tags()) highest = Math.max(highest, tag)
    part.close()
  }
  return highest
}

/**
 * Writes a new file of a catalog, which says that no tag to come has the id of one whose points are there: of tags that
 * are lost the points must not seem to be those of others.
 */
export async function writeWithFreeIds(
  files: Files,
  folders: Folders,
  catalog: TagCatalog,
  token: number,
  highestTag: number,
): Promise<CatalogRef> {
  removeUnfinishedCatalogs(files, folders.catalog)
  const writer = new ChangeWriter()
  writer.nextId(highestTag + 1)
  catalog.apply(writer.take()!)
  return openCatalogStore(files, folders.catalog, tokenText(token)).append(catalog, [], null)
}
