import { joinSpans, type Span } from '../blocks/spans.ts'
import type { TombstoneColumns } from '../parts/tombstone-columns.ts'

const NONE: readonly Span[] = []

/**
 * Tombstones by tag, from lists that are sorted by tag: in columns, as those of some deletions of very many tags would
 * fill the heap as objects. Fast where tags are asked about in ascending order.
 */
export class TombstoneMap {
  readonly #lists: readonly TombstoneColumns[]
  /** Of each list, the first place whose tag is not below `#tag`. */
  readonly #places: Uint32Array
  #tag = 0

  constructor(lists: readonly TombstoneColumns[]) {
    this.#lists = lists.filter(({ tags }) => tags.length > 0)
    this.#places = new Uint32Array(this.#lists.length)
  }

  /** Whether there are any of a tag. */
  has(tag: number): boolean {
    this.#seek(tag)
    for (let i = 0; i < this.#lists.length; i++) {
      if (this.#lists[i]!.tags[this.#places[i]!] === tag) return true
    }
    return false
  }

  /**
   * What is taken from the points of a tag in a part with such numbers: ascending, apart from each other.
   * @param others  spans that are taken from all parts, ascending and apart from each other
   */
  cuts(tag: number, lastSequence: number, others: readonly Span[] = NONE): readonly Span[] {
    this.#seek(tag)
    const all: Span[] = [...others]
    for (let i = 0; i < this.#lists.length; i++) {
      const { tags, from, to, sequences } = this.#lists[i]!
      for (let at = this.#places[i]!; tags[at] === tag; at++) {
        if (sequences[at]! > lastSequence) all.push({ from: from[at]!, to: to[at]! })
      }
    }
    return joinSpans(all)
  }

  #seek(tag: number): void {
    if (tag === this.#tag) return
    if (tag < this.#tag) this.#places.fill(0)
    this.#tag = tag
    for (let i = 0; i < this.#lists.length; i++) {
      const { tags } = this.#lists[i]!
      let place = this.#places[i]!
      while (place < tags.length && tags[place]! < tag) place++
      this.#places[i] = place
    }
  }
}
