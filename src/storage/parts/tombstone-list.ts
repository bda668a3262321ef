import { indexOfTag } from './tag-search.ts'

/**
 * Points of a tag in [from, to) are gone, as far as they came with a WAL record before `sequence`: those of a part
 * whose `lastSequence` is below it. Of a part that begins before it and ends at or after it they are gone already.
 */
export interface Tombstone {
  readonly tag: number
  /** Microseconds; infinite for all that the tag had. */
  readonly from: number
  readonly to: number
  readonly sequence: number
}

/** Tombstones in columns, sorted by tag and then by sequence: as data that threads send to each other. */
export interface TombstoneColumns {
  readonly tags: Uint32Array
  readonly from: Float64Array
  readonly to: Float64Array
  readonly sequences: Float64Array
}

const NONE: readonly Tombstone[] = []

/**
 * The tombstones of a part, sorted by tag and then by sequence. In columns, as a deletion of very many tags leaves one
 * for each: objects of them would hold up the event loop when they are made, sent and collected.
 */
export class TombstoneList implements Iterable<Tombstone> {
  readonly columns: TombstoneColumns

  constructor(columns: TombstoneColumns) {
    this.columns = columns
  }

  /** @param tombstones  in any order */
  static of(tombstones: Iterable<Tombstone>): TombstoneList {
    const sorted = sortTombstones(tombstones)
    return new TombstoneList({
      tags: Uint32Array.from(sorted, ({ tag }) => tag),
      from: Float64Array.from(sorted, ({ from }) => from),
      to: Float64Array.from(sorted, ({ to }) => to),
      sequences: Float64Array.from(sorted, ({ sequence }) => sequence),
    })
  }

  /** Whether the columns are sorted as they must be. */
  get isInOrder(): boolean {
    const { tags, sequences } = this.columns
    for (let i = 1; i < tags.length; i++) {
      if (tags[i - 1]! > tags[i]! || (tags[i - 1] === tags[i] && sequences[i - 1]! > sequences[i]!))
        return false
    }
    return true
  }

  get length(): number {
    return this.columns.tags.length
  }

  at(index: number): Tombstone {
    const { tags, from, to, sequences } = this.columns
    return { tag: tags[index]!, from: from[index]!, to: to[index]!, sequence: sequences[index]! }
  }

  /** Those of a tag. */
  of(tag: number): readonly Tombstone[] {
    const { tags } = this.columns
    const first = indexOfTag(tags, tag)
    if (first < 0) return NONE
    const found: Tombstone[] = []
    for (let index = first; tags[index] === tag; index++) found.push(this.at(index))
    return found
  }

  *[Symbol.iterator](): Generator<Tombstone, void> {
    for (let index = 0; index < this.length; index++) yield this.at(index)
  }
}

/** As they stand in a part: by tag, and then by sequence. */
export function sortTombstones(tombstones: Iterable<Tombstone>): readonly Tombstone[] {
  const sorted = [...tombstones]
  return isInOrder(sorted) ? sorted : sorted.sort(compareTombstones)
}

function isInOrder(tombstones: readonly Tombstone[]): boolean {
  for (let i = 1; i < tombstones.length; i++) {
    if (compareTombstones(tombstones[i - 1]!, tombstones[i]!) > 0) return false
  }
  return true
}

function compareTombstones(a: Tombstone, b: Tombstone): number {
  return a.tag - b.tag || a.sequence - b.sequence
}
