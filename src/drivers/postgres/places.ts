import type { Place, Relation } from './relation.ts'
import { canHold } from './text.ts'

/** An item of a call with the text that its tag has in its relation. */
export interface Placed<Item> {
  readonly item: Item
  readonly tag: string
}

/** Where tags are: the one thing that reads have to know of a layout. */
export class Places {
  readonly #placeOf: (tag: string) => Place | null

  /** @param placeOf where the tag would be; `null` when no table can have it */
  constructor(placeOf: (tag: string) => Place | null) {
    this.#placeOf = placeOf
  }

  /** Items by the relation that their tags are in; items that no relation can have are left out. */
  group<Item extends { readonly tag: string }>(items: readonly Item[]): Map<Relation, Placed<Item>[]> {
    const groups = new Map<Relation, Placed<Item>[]>()
    for (const item of items) {
      const place = canHold(item.tag) ? this.#placeOf(item.tag) : null
      if (place === null) continue
      groups.getOrInsertComputed(place.relation, () => []).push({ item, tag: place.tag })
    }
    return groups
  }
}
