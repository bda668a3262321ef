interface TagList {
  readonly ids: Uint32Array
  readonly version: number
}

/**
 * Ids of the tags of lists that come again as the same array, in one look instead of one for each of thousands of tags.
 * Nobody changes such an array. A list is remembered for as long as somebody else keeps its array.
 */
export class TagLists {
  readonly #lists = new WeakMap<readonly string[], TagList>()

  /** @param version  of the catalog now: what was remembered in another one counts no more */
  find(names: readonly string[], version: number): Uint32Array | null {
    const list = this.#lists.get(names)
    return list?.version === version ? list.ids : null
  }

  /** @param ids  of each tag, which exist in that version of the catalog; not to be changed any more */
  remember(names: readonly string[], ids: Uint32Array, version: number): void {
    this.#lists.set(names, { ids, version })
  }
}
