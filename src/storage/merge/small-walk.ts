import type { PointColumns } from '../../series/columns.ts'
import type { FilePart } from '../parts/file-part.ts'
import type { PageList } from '../parts/page-table.ts'
import type { SmallPage } from '../parts/small-page.ts'

/** The small runs of a part one after the other; each page is read once, past the cache. Throws Damage. */
export class SmallWalk {
  readonly #part: FilePart
  readonly #pages: PageList
  #number = -1
  #page: SmallPage | null = null
  #run = 0
  /** The tag in hand; Infinity behind the last. */
  tag = 0

  constructor(part: FilePart) {
    this.#part = part
    this.#pages = part.smallPages()
    this.next()
  }

  /** Goes on to the next tag. */
  next(): void {
    this.#run++
    if (this.#page === null || this.#run === this.#page.tags.length) {
      this.#number++
      this.#run = 0
      this.#page = this.#number < this.#pages.count ? this.#part.smallPage(this.#pages, this.#number) : null
    }
    this.tag = this.#page === null ? Number.POSITIVE_INFINITY : this.#page.tags[this.#run]!
  }

  /** Decodes the points of the tag into columns from index `to` on. Gives their number. */
  decode(target: PointColumns, to: number): number {
    return this.#part.named(() => this.#page!.decode(this.#run, target, to))
  }
}
