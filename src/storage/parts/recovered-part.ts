import { Damage, damageOf } from '../damage.ts'
import type { Files } from '../files/files.ts'
import { type BlockCache, PageReader } from './block-cache.ts'
import { checkIsSame, FilePart, type PartContent } from './file-part.ts'
import { readFooter } from './footer.ts'
import { TABLE } from './page-kinds.ts'
import { PageTable, PageTableBuilder } from './page-table.ts'
import type { Part, PartInfo, Section, Sections } from './part.ts'
import { type ReadHandle, readAgain, readingAgain } from './read-again.ts'
import type { LargeRun, SmallRun } from './runs.ts'
import { type Found, scanPages } from './scan-pages.ts'
import { TagSet, TagSetBuilder } from './tag-set.ts'
import { TombstoneList } from './tombstone-list.ts'
import { decodeTombstones } from './tombstones.ts'

/** Where the parts of a historian are read from. */
export interface PartPlace {
  readonly files: Files
  readonly folder: string
  readonly cache: BlockCache
}

/**
 * Opens what is intact of a part that cannot be opened as a whole: with the places that the manifest repeats from its
 * footer, or where table or sets of tags are damaged by a search for its pages, which reads all of the file. `null`
 * where nothing of it can be trusted: its footer is that of another part, or its pages contradict each other or the
 * manifest. Rejects with the system's errors but EIO, and with the signal's reason.
 * @param damage  why it cannot be opened; what is asked of a tag that may be lost fails with it
 */
export async function recoverPart(
  { files, folder, cache }: PartPlace,
  info: PartInfo,
  damage: Damage,
  signal: AbortSignal,
): Promise<Part | null> {
  let file: ReadHandle | null = null
  try {
    file = readingAgain(readAgain(() => files.open(`${folder}/${info.name}`)))
    return await recoverFrom(file, cache, info, damage, signal)
  } catch (error) {
    file?.close()
    return asLost(error)
  }
}

/** The same from its file; rejects with Damage where nothing can be trusted. */
async function recoverFrom(
  file: ReadHandle,
  cache: BlockCache,
  info: PartInfo,
  damage: Damage,
  signal: AbortSignal,
): Promise<Part> {
  const size = file.size()
  const reader = new PageReader(file, info.name, size, cache)
  const sections = sectionsOf(() => readFooter(file), info)
  const tombstones = readTombstones(reader, info, sections)
  const sets = sections === null ? null : await readSets(reader, info, sections)
  const hasTable = sections !== null && (await readTable(reader, sections.table).catch(asLost)) !== null
  if (hasTable && sets !== null) {
    return new FilePart(info, reader, { ...sets, tombstones, table: sections.table })
  }
  const pagesEnd = sections?.table.at ?? Number.POSITIVE_INFINITY
  const found = await findPages(reader, Math.min(size, pagesEnd), { info, sets }, signal)
  const { tags, table } = found
  if (sets !== null) return new FilePart(info, reader, { ...sets, tombstones, table }, damage)
  const areAll = tags === info.tags
  const mayMiss = !found.isWhole || size < pagesEnd
  if (!areAll && (tags > info.tags || !mayMiss)) reader.damaged('its pages contradict the manifest')
  const knownUntil = areAll ? Number.POSITIVE_INFINITY : found.knownUntil
  return new RecoveredPart(info, reader, { ...found, tombstones }, knownUntil, damage)
}

/** Throws Damage for the footer of another part. */
function sectionsOf(read: () => ReturnType<typeof readFooter>, info: PartInfo): Sections | null {
  const footer = attempt(read)
  if (footer === null) return info.sections ?? null
  checkIsSame(footer.info, info)
  return footer.sections
}

const NO_TOMBSTONES = TombstoneList.of([])

/** None where not all can be read. */
function readTombstones(reader: PageReader, info: PartInfo, sections: Sections | null): TombstoneList {
  if (sections === null || info.tombstones === 0) return NO_TOMBSTONES
  const { at, bytes } = sections.tombstones
  const list = attempt(() => decodeTombstones(reader.readNow(at, bytes)))
  return list?.length === info.tombstones ? list : NO_TOMBSTONES
}

/** The sets of tags; `null` where one of them cannot be read. */
async function readSets(
  reader: PageReader,
  info: PartInfo,
  { smallTags, largeTags }: Sections,
): Promise<TagSets | null> {
  const read = async ({ at, bytes }: Section) => new TagSet(await reader.read(at, bytes))
  const small = await read(smallTags).catch(asLost)
  const large = small === null ? null : await read(largeTags).catch(asLost)
  return small !== null && large !== null && small.size + large.size === info.tags ? { small, large } : null
}

async function readTable(reader: PageReader, { at, bytes }: Section): Promise<PageTable> {
  return TABLE.parse(await reader.read(at, bytes))
}

/** What `read` gives; `null` for what cannot be read. */
function attempt<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    return asLost(error)
  }
}

/** Throws what does not say that something cannot be read. */
function asLost(error: unknown): null {
  damageOf(error)
  return null
}

/** A part without its sets of tags, of which only the pages are known that were found. */
class RecoveredPart extends FilePart {
  readonly #knownUntil: number

  /** @param knownUntil  of tags up to it everything was found */
  constructor(info: PartInfo, reader: PageReader, content: PartContent, knownUntil: number, damage: Damage) {
    super(info, reader, content, damage)
    this.#knownUntil = knownUntil
  }

  override has(tag: number): boolean {
    return tag > this.#knownUntil || super.has(tag)
  }

  override run(tag: number): SmallRun | LargeRun | null {
    const run = super.run(tag)
    if (run === null && tag > this.#knownUntil) throw this.damage
    return run
  }
}

/** The sets of tags of a part. */
type TagSets = Pick<PartContent, 'small' | 'large'>

/** The part whose pages are searched for. */
interface Sought {
  readonly info: PartInfo
  /** `null` where they are lost. */
  readonly sets: TagSets | null
}

/** What a search for the pages of a part gives. */
interface FoundPages extends Omit<PartContent, 'tombstones'> {
  readonly table: PageTable
  /** Number of tags. */
  readonly tags: number
  /** Whether nothing was passed over. */
  readonly isWhole: boolean
  /** Of tags up to it nothing was passed over. */
  readonly knownUntil: number
}

/**
 * Finds the pages of a part without its table, and passes over those that a disk has put there of another file, as far
 * as that is seen. Rejects with Damage where pages contradict each other, and with the signal's reason.
 * @param end  of the pages, or of the file
 */
export async function findPages(
  reader: PageReader,
  end: number,
  sought: Sought,
  signal: AbortSignal,
): Promise<FoundPages> {
  const pages = new PageCollector(sought)
  for await (const found of scanPages(reader, end, signal)) pages.take(found)
  return pages.finish()
}

/** A page of runs or of the index. */
type FoundPage = Extract<Found, { readonly at: number }>

const tagsOf = (found: FoundPage) => (found.kind === 'small' ? found.page.tags : found.page.columns.tags)

/** Whether a page may be one of the part: its tags are, its times, and the places of blocks, which stand before it. */
function isOfPart(found: FoundPage, { info, sets }: Sought): boolean {
  const set = found.kind === 'small' ? sets?.small : sets?.large
  if (set !== undefined && !tagsOf(found).every((tag) => set.has(tag))) return false
  const isWithin = (first: number, last: number) => first >= info.firstTime && last <= info.lastTime
  if (found.kind === 'small') {
    const { page } = found
    return page.tags.every((_tag, run) => {
      const times = attempt(() => page.points(run))?.times
      return times === undefined || isWithin(times[0]!, times[times.length - 1]!)
    })
  }
  const { page, at } = found
  const { firstTimes, lastTimes, sizes, ends } = page.columns
  return ends.every((end, run) => {
    for (let block = page.start(run); block < end; block++) {
      const place = page.blockAt(run, block)
      if (!(place > 0 && place + sizes[block]! <= at)) return false
      if (!isWithin(firstTimes[block]!, lastTimes[block]!)) return false
    }
    return true
  })
}

class PageCollector {
  readonly #sought: Sought
  readonly #table = new PageTableBuilder()
  readonly #small = new KindOfTags()
  readonly #large = new KindOfTags()
  #isWhole = true
  #knownUntil = -1
  /** Whether there are blocks whose page of the index has not come yet. */
  #hasBlocks = false

  constructor(sought: Sought) {
    this.#sought = sought
  }

  take(found: Found): void {
    if (found.kind === 'other') this.#hasBlocks = true
    else if (found.kind !== 'nothing' && isOfPart(found, this.#sought)) this.#takePage(found)
    else this.#isWhole = false
  }

  #takePage(found: FoundPage): void {
    const { kind, at, bytes } = found
    const tags = tagsOf(found)
    const place = { firstTag: tags[0]!, at, bytes }
    if (kind === 'small') {
      this.#table.addSmall(place)
      this.#small.add(tags)
      // Blocks of lower tags stand before the page, and their page of the index, too, unless it is to come.
      if (this.#isWhole && !this.#hasBlocks) this.#knownUntil = this.#small.last
    } else {
      this.#table.addIndex(place)
      this.#large.add(tags)
      this.#hasBlocks = false
      if (this.#isWhole) {
        this.#knownUntil = Math.max(this.#knownUntil, Math.min(this.#small.last, this.#large.last))
      }
    }
  }

  finish(): FoundPages {
    const small = this.#small.finish()
    const large = this.#large.finish()
    return {
      table: new PageTable(this.#table.finish()),
      small,
      large,
      tags: small.size + large.size,
      isWhole: this.#isWhole,
      knownUntil: this.#knownUntil,
    }
  }
}

/** Tags of the pages of one kind, which follow each other in the file. */
class KindOfTags {
  readonly #set = new TagSetBuilder()
  last = -1

  add(tags: Uint32Array): void {
    if (tags[0]! <= this.last) throw new Damage('the pages of a part are not in the order of their tags')
    for (const tag of tags) this.#set.add(tag)
    this.last = tags[tags.length - 1]!
  }

  finish(): TagSet {
    return new TagSet(this.#set.finish())
  }
}
