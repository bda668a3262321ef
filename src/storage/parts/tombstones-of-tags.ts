import type { Tombstone } from './tombstone-columns.ts'

/** So many of a tag are kept as they were made, since making and joining them anew for each read would take long. */
export const MANY_TOMBSTONES = 64
/** Of all tags together, some 50 MB, unless one has more: beyond, those that are asked for again are made anew. */
const MOST_KEPT = 500_000

const NONE: readonly Tombstone[] = []

/** Tombstones of tags that have many, as long as they are the same: the same list each time. */
export class TombstonesOfTags {
  readonly #kept = new Map<number, readonly Tombstone[]>()
  #count = 0

  /** Those of a tag; none of them is changed. @param make  gives them where they are not kept */
  of(tag: number, make: (tag: number) => readonly Tombstone[]): readonly Tombstone[] {
    const known = this.#kept.get(tag)
    if (known !== undefined) return known
    const made = make(tag)
    if (made.length < MANY_TOMBSTONES) return made
    if (this.#count + made.length > MOST_KEPT) this.clear()
    this.#kept.set(tag, made)
    this.#count += made.length
    return made
  }

  /** To be called when a tag has others. */
  forget(tag: number): void {
    const known = this.#kept.get(tag)
    if (known === undefined) return
    this.#kept.delete(tag)
    this.#count -= known.length
  }

  clear(): void {
    this.#kept.clear()
    this.#count = 0
  }
}

/** Of lists, by the one that comes last: the one before it, and both together. */
const together = new WeakMap<
  readonly Tombstone[],
  { readonly older: readonly Tombstone[]; readonly all: readonly Tombstone[] }
>()

/** All tombstones of two lists: the same list each time for the same two of which one is long. May be one of them. */
export function concatTombstones(
  older: readonly Tombstone[],
  newer: readonly Tombstone[],
): readonly Tombstone[] {
  if (older.length === 0) return newer.length === 0 ? NONE : newer
  if (newer.length === 0) return older
  const known = together.get(newer)
  if (known?.older === older) return known.all
  const all = older.concat(newer)
  if (all.length >= MANY_TOMBSTONES) together.set(newer, { older, all })
  return all
}
