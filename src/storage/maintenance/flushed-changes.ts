import { readChanges, verifyChanges } from '../catalog/tag-changes.ts'
import type { WalRecord } from '../wal/wal-record.ts'

/**
 * Changes of tags of records that are in parts, as segments that are there still have them: a flush writes the part
 * before the catalog, so a file of the catalog may be of before them. Which records it has is not known. Changes that
 * it has may be applied again where all that follow are applied, too: a sequence of them must have no gap up to the
 * last record, or begin to be behind the file, as with a tag that the file has never had.
 */
export class FlushedChanges {
  readonly #flushed: number
  readonly #nextId: number
  #changes: Uint8Array[] = []
  /** Number of the record behind the last one. */
  #next = 0
  /** Whether the file was written before the records that come now. */
  #isBehind = false

  /**
   * @param flushed  number of the last record that is in parts
   * @param nextId   of the catalog in the file: no tag had this id or a higher one
   */
  constructor(flushed: number, nextId: number) {
    this.#flushed = flushed
    this.#nextId = nextId
  }

  /** Takes the records that are there, in order. Throws Damage for changes that cannot be read. */
  take({ sequence, catalog }: WalRecord): void {
    if (sequence < this.#next) return
    if (sequence > this.#next && !this.#isBehind) this.#changes = []
    this.#next = sequence + 1
    if (catalog === null || sequence > this.#flushed) return
    this.#isBehind ||= this.#isNew(catalog)
    this.#changes.push(catalog)
  }

  /** Those to be applied. @param last  number of the last record that is known to have been there */
  until(last: number): readonly Uint8Array[] {
    return this.#isBehind || this.#next > last ? this.#changes : []
  }

  /** Whether changes are about a tag that the file has never had. */
  #isNew(changes: Uint8Array): boolean {
    let isNew = false
    const look = (id: number) => {
      isNew ||= id >= this.#nextId
    }
    readChanges(changes, verifyChanges(changes), { put: look, remove: look, nextId() {} })
    return isNew
  }
}
