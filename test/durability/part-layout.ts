import { BlockCache, PageReader } from '../../src/storage/parts/block-cache.ts'
import { readFooter } from '../../src/storage/parts/footer.ts'
import { INDEX, SMALL, TABLE } from '../../src/storage/parts/page-kinds.ts'
import type { PartInfo, Section, Sections } from '../../src/storage/parts/part.ts'
import type { SimulatedDisk } from './simulated-disk.ts'

/** A page of small runs or of the index, and the tags that stand in it. */
interface PageLayout extends Section {
  readonly isSmall: boolean
  readonly tags: ReadonlySet<number>
}

/** What stands where in a part. */
export interface PartLayout {
  readonly info: PartInfo
  readonly sections: Sections
  readonly pages: readonly PageLayout[]
}

/** Reads it of a sound part. */
export function layoutOf(disk: SimulatedDisk, path: string): PartLayout {
  const file = disk.open(path)
  const { sections, info } = readFooter(file)
  const reader = new PageReader(file, info.name, file.size(), new BlockCache(0))
  const { small, index } = reader.page(sections.table.at, sections.table.bytes, TABLE)
  const pages: PageLayout[] = []
  for (let i = 0; i < small.count; i++) {
    const { tags } = reader.page(small.at(i), small.bytes(i), SMALL)
    pages.push({ isSmall: true, at: small.at(i), bytes: small.bytes(i), tags: new Set(tags) })
  }
  for (let i = 0; i < index.count; i++) {
    const { tags } = reader.page(index.at(i), index.bytes(i), INDEX).columns
    pages.push({ isSmall: false, at: index.at(i), bytes: index.bytes(i), tags: new Set(tags) })
  }
  reader.close()
  return { info, sections, pages }
}

export const tagsOf = ({ pages }: PartLayout): ReadonlySet<number> =>
  new Set(pages.flatMap(({ tags }) => [...tags]))

export const isWithin = ({ at, bytes }: Section, place: number): boolean => place >= at && place < at + bytes

/** Damage of a file at a place: a flipped bit, or its end from there on is missing. */
export interface DamagedPlace {
  readonly at: number
  readonly isCut: boolean
}

/**
 * Tags that may fail because of damage of a part; all others must answer.
 * @param all  ids of all tags
 */
export function mayFail(
  part: PartLayout,
  others: readonly PartLayout[],
  { at, isCut }: DamagedPlace,
  all: ReadonlySet<number>,
): ReadonlySet<number> {
  const { info, sections, pages } = part
  const isLost = (section: Section) => (isCut ? section.at + section.bytes > at : isWithin(section, at))
  const lost = pages.filter(isLost)
  const isInBlock = at >= 8 && at < sections.table.at && lost.length === 0
  const failing = new Set(lost.flatMap(({ tags }) => [...tags]))
  if (isCut && lost.length > 0) {
    // Nobody knows which they were.
    const kept = new Set(pages.filter((page) => !isLost(page)).flatMap(({ tags }) => [...tags]))
    for (const tag of all) if (!kept.has(tag)) failing.add(tag)
  }
  if (isInBlock) for (const { isSmall, tags } of pages) if (!isSmall) for (const tag of tags) failing.add(tag)
  if (info.tombstones === 0 || !isLost(sections.tombstones)) return failing
  for (const other of others) {
    if (other.info.lastSequence < info.lastSequence) for (const tag of tagsOf(other)) failing.add(tag)
  }
  return failing
}
