import { indexOfTag } from './tag-search.ts'
import { areInOrder, type Tombstone, TombstoneBuilder, type TombstoneColumns } from './tombstone-columns.ts'

const NONE: readonly Tombstone[] = []

/**
 * The tombstones of a part, sorted by tag and then by sequence. In columns, as a deletion of very many tags leaves one
 * for each: objects of them would hold up the event loop when they are made, sent and collected.
 */
export class TombstoneList implements Iterable<Tombstone> {
  readonly columns: TombstoneColumns

  /** @param columns  sorted by tag and then by sequence */
  constructor(columns: TombstoneColumns) {
    this.columns = columns
  }

  /** @param tombstones  in any order */
  static of(tombstones: Iterable<Tombstone>): TombstoneList {
    const builder = new TombstoneBuilder()
    for (const { tag, from, to, sequence } of tombstones) builder.add(tag, from, to, sequence)
    return new TombstoneList(builder.sorted())
  }

  /** Whether the columns are sorted as they must be. */
  get isInOrder(): boolean {
    return areInOrder(this.columns)
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
