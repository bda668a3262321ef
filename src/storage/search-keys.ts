import { foldCase } from '../series/tag-names.ts'
import { SEARCH_KINDS, SEARCH_PREFIX_BYTES } from './names.ts'
import type { TagRecord } from './tag-record.ts'

/**
 * Keys of `search`: the kind, the first SEARCH_PREFIX_BYTES bytes of a text in UTF-8, a 0 byte and the tag's id (u32, big-endian).
 * Those of names stand in name order, except that names with the same beginning of that length stand by their ids.
 */
export function searchKeys(record: TagRecord): Buffer[] {
  const keys = [
    searchKey(SEARCH_KINDS.name, record.name, record.id),
    searchKey(SEARCH_KINDS.foldedName, foldCase(record.name), record.id),
  ]
  // An empty description matches only patterns that match every name, too.
  if (record.description !== null && record.description !== '') {
    keys.push(searchKey(SEARCH_KINDS.foldedDescription, foldCase(beginning(record.description)), record.id))
  }
  return keys
}

export function searchKey(kind: number, text: string, id: number): Buffer {
  const prefix = searchPrefix(text)
  const key = Buffer.allocUnsafe(1 + prefix.length + 1 + 4)
  key[0] = kind
  prefix.copy(key, 1)
  key[1 + prefix.length] = 0
  key.writeUInt32BE(id, prefix.length + 2)
  return key
}

/** The part of a text that stands in keys. */
export function searchPrefix(text: string): Buffer {
  return Buffer.from(beginning(text)).subarray(0, SEARCH_PREFIX_BYTES)
}

/** The tag's id in a key. */
export function idOfSearchKey(key: Uint8Array): number {
  return Buffer.from(key.buffer, key.byteOffset, key.length).readUInt32BE(key.length - 4)
}

/** The bytes of text in a key. */
export function prefixOfSearchKey(key: Uint8Array): Uint8Array {
  return key.subarray(1, key.length - 5)
}

/** Enough of a text for its prefix: a UTF-16 unit is at least one byte. One more, so that no surrogate pair is cut that matters. */
function beginning(text: string): string {
  return text.length > SEARCH_PREFIX_BYTES + 1 ? text.slice(0, SEARCH_PREFIX_BYTES + 1) : text
}
