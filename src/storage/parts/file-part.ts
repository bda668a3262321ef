import { Damage, damageOf } from '../damage.ts'
import type { Files } from '../files/files.ts'
import { type BlockCache, PageReader } from './block-cache.ts'
import { checkPart } from './check-part.ts'
import { readFooter } from './footer.ts'
import { INDEX, SMALL, TABLE } from './page-kinds.ts'
import { type PageList, PageTable } from './page-table.ts'
import type { Part, PartCheck, PartInfo, RunExtent, Section } from './part.ts'
import { LargeRun, SmallRun } from './runs.ts'
import { SmallPage } from './small-page.ts'
import { TagSet } from './tag-set.ts'
import type { TombstoneList } from './tombstone-list.ts'
import { decodeTombstones } from './tombstones.ts'

/** What is in memory of a part as long as it is open, and where the rest is. */
export interface PartContent {
  /** Where the table of pages stands, or what was found in its place. */
  readonly table: Section | PageTable
  readonly tombstones: TombstoneList
  /** Tags with small runs, and those with large ones. */
  readonly small: TagSet
  readonly large: TagSet
}

/** An open part file (docs/formats/part-v1.md). */
export class FilePart implements Part {
  readonly info: PartInfo
  readonly tombstones: TombstoneList
  damage: Damage | null
  readonly #reader: PageReader
  readonly #table: Section | PageTable
  readonly #small: TagSet
  readonly #large: TagSet

  /**
   * Use `open`. The reader is closed with the part.
   * @param damage  of the table of pages
   */
  constructor(info: PartInfo, reader: PageReader, content: PartContent, damage: Damage | null = null) {
    const { table, tombstones, small, large } = content
    this.info = info
    this.tombstones = tombstones
    this.damage = damage
    this.#reader = reader
    this.#table = table
    this.#small = small
    this.#large = large
  }

  /** Throws Damage, and the system's errors. */
  static open(files: Files, folder: string, info: PartInfo, cache: BlockCache): FilePart {
    const file = files.open(`${folder}/${info.name}`)
    try {
      const { info: stored, sections } = withName(info.name, () => readFooter(file))
      checkIsSame(stored, info)
      const reader = new PageReader(file, info.name, info.bytes, cache)
      const read = <T>({ at, bytes }: Section, parse: (page: Uint8Array<ArrayBuffer>) => T) =>
        withName(info.name, () => parse(reader.readNow(at, bytes)))
      const { table } = sections
      const tombstones = read(sections.tombstones, decodeTombstones)
      const small = read(sections.smallTags, (page) => new TagSet(page))
      const large = read(sections.largeTags, (page) => new TagSet(page))
      const isWhole = small.size + large.size === info.tags && tombstones.length === info.tombstones
      if (!isWhole) reader.damaged('the footer contradicts the file')
      return new FilePart(info, reader, { table, tombstones, small, large })
    } catch (error) {
      file.close()
      throw error
    }
  }

  has(tag: number): boolean {
    return this.#small.has(tag) || this.#large.has(tag)
  }

  run(tag: number): SmallRun | LargeRun | null {
    if (this.#large.has(tag)) return this.#largeRun(tag)
    return this.#small.has(tag) ? this.#smallRun(tag) : null
  }

  /** The pages of small runs. */
  smallPages(): PageList {
    return this.#pages().small
  }

  /** A page of small runs, read past the cache. */
  smallPage(pages: PageList, number: number): SmallPage {
    return this.named(() => new SmallPage(this.#reader.readNow(pages.at(number), pages.bytes(number))))
  }

  /** Has Damage name the part. */
  named<T>(read: () => T): T {
    return withName(this.info.name, read)
  }

  /** Tags with large runs, and those with small ones. */
  get largeTags(): TagSet {
    return this.#large
  }

  get smallTags(): TagSet {
    return this.#small
  }

  measure(tag: number, extent: RunExtent): void {
    if (this.#large.has(tag)) {
      const { count, firstTime, lastTime } = this.#largeRun(tag)
      Object.assign(extent, { count, firstTime, lastTime })
    } else this.#inSmallPage(tag, (page, run) => page.measure(run, extent))
  }

  #smallRun(tag: number): SmallRun {
    return new SmallRun(
      tag,
      this.#inSmallPage(tag, (page, run) => page.points(run)),
    )
  }

  #inSmallPage<T>(tag: number, read: (page: SmallPage, run: number) => T): T {
    const { small } = this.#pages()
    const number = small.find(tag)
    if (number < 0) this.#reader.damaged('a tag stands in no page')
    const page = this.#reader.page(small.at(number), small.bytes(number), SMALL)
    const run = page.indexOf(tag)
    if (run < 0) this.#reader.damaged('a tag is missing in its page')
    return withName(this.info.name, () => read(page, run))
  }

  #largeRun(tag: number): LargeRun {
    const { index } = this.#pages()
    const number = index.find(tag)
    if (number < 0) this.#reader.damaged('a tag stands in no page of the index')
    const page = this.#reader.page(index.at(number), index.bytes(number), INDEX)
    const run = page.indexOf(tag)
    if (run < 0) this.#reader.damaged('a tag is missing in its page of the index')
    return new LargeRun(this.#reader, page, run)
  }

  #pages(): PageTable {
    const table = this.#table
    if (table instanceof PageTable) return table
    try {
      return this.#reader.page(table.at, table.bytes, TABLE)
    } catch (error) {
      this.damage = damageOf(error)
      throw error
    }
  }

  *tags(): Generator<number> {
    const small = this.#small[Symbol.iterator]()
    const large = this.#large[Symbol.iterator]()
    let oneSmall = small.next()
    let oneLarge = large.next()
    while (oneSmall.done !== true || oneLarge.done !== true) {
      if (oneLarge.done === true || (oneSmall.done !== true && oneSmall.value < oneLarge.value)) {
        yield oneSmall.value as number
        oneSmall = small.next()
      } else {
        yield oneLarge.value
        oneLarge = large.next()
      }
    }
  }

  async check(signal: AbortSignal): Promise<PartCheck> {
    const table = this.#table
    if (table instanceof PageTable) {
      return { points: 0, blocks: 0, problems: [`part ${this.info.name}: its table of pages is damaged`] }
    }
    return checkPart(
      { info: this.info, reader: this.#reader, table, small: this.#small, large: this.#large },
      signal,
    )
  }

  close(): void {
    this.#reader.close()
  }
}

/** Throws Damage when a footer is not the one of the part that a manifest names. */
export function checkIsSame(stored: PartInfo, info: PartInfo): void {
  for (const key of Object.keys(stored) as (keyof PartInfo)[]) {
    if (stored[key] !== info[key]) throw new Damage(`part ${info.name}: the footer has another ${key}`)
  }
}

/** Has Damage name the part. */
function withName<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    const isBare = error instanceof Damage && !error.message.startsWith('part ')
    throw isBare ? new Damage(`part ${name}: ${error.message}`) : error
  }
}
