import { type CatalogStores, readId } from './catalog.ts'
import { META } from './names.ts'
import { searchKeys } from './search-keys.ts'
import { decodeTagRecord } from './tag-record.ts'

/**
 * Makes the search index anew when the case folding in it is that of another Unicode version: a newer one knows more
 * letters. One transaction, at the start, before anything is answered.
 */
export async function rebuildSearch({ meta, tags, search }: CatalogStores): Promise<void> {
  const unicode = process.versions.unicode
  const found = meta.get(META.unicode)
  if (found === unicode) return
  await search.transaction(() => {
    meta.put(META.unicode, unicode)
    // A new historian has no tags.
    if (found === undefined) return
    search.clearSync()
    for (const { key, value } of tags.getRange({})) {
      for (const searchKey of searchKeys(decodeTagRecord(readId(key as Uint8Array), value))) {
        search.put(searchKey, Buffer.of(1))
      }
    }
  })
}
