import { Damage, damageOf } from '../damage.ts'
import type { Files } from '../files/files.ts'
import { type BlockCache, PageReader } from './block-cache.ts'
import { checkIsSame, FilePart, type PartContent } from './file-part.ts'
import { readFooter } from './footer.ts'
import { TABLE } from './page-kinds.ts'
import { PageTable, PageTableBuilder } from './page-table.ts'
import type { Part, PartInfo, Section, Sections } from './part.ts'
import { readingAgain } from './read-again.ts'
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
 * where nothing of it can be trusted: its footer is that of another part, or its pages contradict each other.
 * Rejects with the system's errors but EIO, and with the signal's reason.
 * @param damage  why it cannot be opened; what is asked of a tag that may be lost fails with it
 */
export async function recoverPart(
  { files, folder, cache }: PartPlace,
  info: PartInfo,
  damage: Damage,
  signal: AbortSignal,
): Promise<Part | null> {
  const file = readingAgain(files.open(`${folder}/${info.name}`))
  const size = file.size()
  const reader = new PageReader(file, info.name, size, cache)
  try {
    const sections = sectionsOf(() => readFooter(file), info)
    const tombstones = readTombstones(reader, info, sections)
    const sets = sections === null ? null : await readSets(reader, info, sections)
    const hasTable = sections !== null && (await isTable(reader, sections.table))
    if (hasTable && sets !== null) {
      return new FilePart(info, reader, { ...sets, tombstones, table: sections.table })
    }
    const pagesEnd = sections?.table.at ?? Number.POSITIVE_INFINITY
    const found = await findPages(reader, Math.min(size, pagesEnd), signal)
    const { tags, table } = found
    if (sets !== null) return new FilePart(info, reader, { ...sets, tombstones, table }, damage)
    if (tags > info.tags) reader.damaged('its pages contradict the manifest')
    const areAll = tags === info.tags || (found.isWhole && size >= pagesEnd)
    const knownUntil = areAll ? Number.POSITIVE_INFINITY : found.knownUntil
    return new RecoveredPart(info, reader, { ...found, tombstones }, knownUntil, damage)
  } catch (error) {
    reader.close()
    damageOf(error)
    return null
  }
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

async function isTable(reader: PageReader, { at, bytes }: Section): Promise<boolean> {
  try {
    TABLE.parse(await reader.read(at, bytes))
    return true
  } catch (error) {
    damageOf(error)
    return false
  }
}

/** The sets of tags; `null` where one of them cannot be read. */
async function readSets(
  reader: PageReader,
  info: PartInfo,
  { smallTags, largeTags }: Sections,
): Promise<Pick<PartContent, 'small' | 'large'> | null> {
  try {
    const set = async ({ at, bytes }: Section) => new TagSet(await reader.read(at, bytes))
    const small = await set(smallTags)
    const large = await set(largeTags)
    return small.size + large.size === info.tags ? { small, large } : null
  } catch (error) {
    damageOf(error)
    return null
  }
}

/** What `read` gives; `null` for what cannot be read. */
function attempt<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    damageOf(error)
    return null
  }
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
 * Finds the pages of a part without its table. Rejects with Damage where they contradict each other, and with the
 * signal's reason.
 * @param end  of the pages, or of the file
 */
export async function findPages(reader: PageReader, end: number, signal: AbortSignal): Promise<FoundPages> {
  const pages = new PageCollector()
  for await (const found of scanPages(reader, end, signal)) pages.take(found)
  return pages.finish()
}

class PageCollector {
  readonly #table = new PageTableBuilder()
  readonly #small = new KindOfTags()
  readonly #large = new KindOfTags()
  #isWhole = true
  #knownUntil = -1
  /** Whether there are blocks whose page of the index has not come yet. */
  #hasBlocks = false

  take(found: Found): void {
    if (found.kind === 'nothing') this.#isWhole = false
    else if (found.kind === 'other') this.#hasBlocks = true
    else this.#takePage(found)
  }

  #takePage({ kind, at, bytes, tags }: Extract<Found, { readonly tags: Uint32Array }>): void {
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
