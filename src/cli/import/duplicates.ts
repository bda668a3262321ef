import type { Instant } from '../../time/instant.ts'

/** Times kept of tags whose rows are not in time order, some 40 bytes each. */
const MOST_KEPT = 500_000

/**
 * Counts points that have the time of an earlier one of their tag, of which the last one counts. In a file in time
 * order such a point stands right behind the other; for any other file times are kept, as many as memory allows.
 */
export class Duplicates {
  readonly #tags = new Map<string, { last: Instant; readonly times: Set<Instant> }>()
  #count = 0
  #kept = 0

  get count(): number {
    return this.#count
  }

  /** Whether there can be more, as not all times were kept. */
  get isAtLeast(): boolean {
    return this.#kept >= MOST_KEPT
  }

  add(address: string, at: Instant): void {
    const tag = this.#tags.get(address)
    if (tag === undefined) {
      this.#tags.set(address, { last: at, times: new Set([at]) })
      return
    }
    if (at === tag.last || (at < tag.last && tag.times.has(at))) this.#count++
    else if (this.#kept < MOST_KEPT) {
      tag.times.add(at)
      this.#kept++
    }
    tag.last = at > tag.last ? at : tag.last
  }
}
