/** Lists that are remembered; a service has as many kinds of requests that come again and again, or few more. */
const MOST_LISTS = 4
/** Longer lists are looked up tag by tag, which bounds the memory. */
const LONGEST_LIST = 131_072

interface TagList {
  readonly names: readonly string[]
  readonly ids: Uint32Array
  readonly version: number
}

/**
 * Ids of the tags of lists that come again as the same array, in one look instead of one for each of thousands of tags. Nobody changes
 * such an array. The list used last is in front.
 */
export class TagLists {
  #lists: TagList[] = []

  /** @param version  of the catalog now: what was remembered in another one counts no more */
  find(names: readonly string[], version: number): Uint32Array | null {
    const at = this.#lists.findIndex((list) => list.names === names)
    if (at < 0) return null
    const list = this.#lists[at]!
    if (at > 0 || list.version !== version) this.#lists.splice(at, 1)
    if (list.version !== version) return null
    if (at > 0) this.#lists.unshift(list)
    return list.ids
  }

  /** @param ids  of each tag, which exist in that version of the catalog; not to be changed any more */
  remember(names: readonly string[], ids: Uint32Array, version: number): void {
    if (names.length > LONGEST_LIST) return
    this.#lists.unshift({ names, ids, version })
    if (this.#lists.length > MOST_LISTS) this.#lists.pop()
  }
}
