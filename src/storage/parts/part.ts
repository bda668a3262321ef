import type { PointColumns } from '../../series/columns.ts'
import type { ZoneMap } from '../../series/zone-map.ts'
import type { BlockView } from '../blocks/block.ts'
import type { Damage } from '../damage.ts'
import type { Tombstone } from './tombstone-columns.ts'
import type { TombstoneList } from './tombstone-list.ts'

export type { Tombstone } from './tombstone-columns.ts'

/** Place in the file; 0 bytes for a section that there is not. */
export interface Section {
  readonly at: number
  readonly bytes: number
}

/** What of a file stands behind its pages. */
export interface Sections {
  readonly table: Section
  readonly tombstones: Section
  /** Sets of tags (tag-set.ts): those with small runs, and those with large ones. */
  readonly smallTags: Section
  readonly largeTags: Section
}

/** What the manifest says of a part: as the footer of the file does. */
export interface PartInfo {
  /** File name in `parts/`; carries the owner's token and is never used again. */
  readonly name: string
  readonly bytes: number
  /**
   * Numbers of the WAL records that its points come from, both included. Of two parts with points of the same time the
   * later range wins.
   */
  readonly firstSequence: number
  readonly lastSequence: number
  /** Of its first and last point; Infinity and -Infinity for a part that holds tombstones alone. */
  readonly firstTime: number
  readonly lastTime: number
  readonly points: number
  /** Tags with points. */
  readonly tags: number
  readonly tombstones: number
  /** As in the footer, which may be damaged; left out by manifests of before. */
  readonly sections?: Sections
}

/**
 * Writes a new part file. Tags come in ascending order, each once; what is written is immutable.
 * After an error (of the file layer, as it is) only `abandon` may be called.
 */
export interface PartWriter {
  /**
   * Packs and takes points of the next tag, ascending and distinct, at least one. Encodes at once; files are written by
   * `drain`.
   */
  add(tag: number, points: PointColumns): void
  /**
   * The same for a tag that may have very many points: packs some milliseconds' worth of them and awaits `pause`,
   * again and again. Nothing else may be added meanwhile.
   */
  addInSlices(tag: number, points: PointColumns, pause: () => Promise<void>): Promise<void>
  /** Tombstones may come at any time, in any order. */
  addTombstone(tombstone: Tombstone): void
  /** Bytes so far, those that wait to be written among them. */
  readonly bytes: number
  /** Writes what waits when it is worth a write; to be awaited now and then, so that memory stays bounded. */
  drain(): Promise<void>
  /** Writes the rest, the index and the footer, syncs the file and the folder's entry, and closes it. */
  finish(): Promise<PartInfo>
  /** Closes and removes the file, whatever state it is in. Never throws. */
  abandon(): void
}

/** What the points of a new part come from. */
export interface PartOrigin {
  readonly firstSequence: number
  readonly lastSequence: number
  /** Names of the parts that it replaces, for the footer; none for a flush. */
  readonly replaces: readonly string[]
}

/**
 * An open part file. Its methods are synchronous: what is not in the block cache is read from the file at once (`load`
 * fetches it before, without blocking). They throw Damage for what does not fit its checksum, which is verified when
 * something is read first, and the system's errors. Damage of one place does not keep others from being read.
 */
export interface Part {
  readonly info: PartInfo
  /** All of them, sorted by tag and then by sequence; none where they cannot be read. */
  readonly tombstones: TombstoneList
  /**
   * Whether the part has points of a tag: from a set in memory, without a read. Also true where it is not known because
   * of damage; then `run` throws it.
   */
  has(tag: number): boolean
  /** The points of a tag; `null` for a tag without. */
  run(tag: number): PartRun | null
  /** What the run of a tag that has one says of all of it. Of very many tags with few points it leaves no garbage. */
  measure(tag: number, extent: RunExtent): void
  /** What is damaged of its table of pages, as far as that was noticed: tags are not found without it. */
  readonly damage: Damage | null
  /** Ids of all tags with points, ascending. */
  tags(): Iterable<number>
  /**
   * Verifies everything in it, reading past the cache. Gives what is wrong, one sentence each; rejects only as `signal`
   * says.
   */
  check(signal: AbortSignal): Promise<PartCheck>
  /** Frees the descriptor and what the cache has of it. Views that were opened stay as they are. */
  close(): void
}

export interface PartCheck {
  readonly points: number
  readonly blocks: number
  readonly problems: readonly string[]
}

/** How many points a tag has in a part, and when; to be written over for the next one. */
export interface RunExtent {
  count: number
  firstTime: number
  lastTime: number
}

/**
 * The points of one tag in one part, as blocks in time order that do not overlap, numbered from 0. A tag with few
 * points has one block, which may share a page of the file with other tags.
 */
export interface PartRun {
  readonly tag: number
  readonly count: number
  readonly firstTime: number
  readonly lastTime: number
  readonly blocks: number
  /** The last block that begins at or before an instant; -1 when all begin after it. */
  blockBefore(at: number): number
  blockFirst(block: number): number
  blockLast(block: number): number
  blockCount(block: number): number
  /**
   * The summary of a block, of files a PartSummary; `null` where none is kept (runs below 256 points) or it is
   * damaged: then its points are read.
   */
  blockSummary(block: number): ZoneMap | null
  /** Opens a view on the points of a block; valid for as long as the view is not opened again, also after `close`. */
  open(block: number, view: BlockView): void
  /** Blocks are summed up in pages of some 30 that follow each other; 0 pages when no summaries are kept. */
  readonly pages: number
  pageOf(block: number): number
  /** First block of a page; of `pages` the number of blocks. */
  pageStart(page: number): number
  pageSummary(page: number): ZoneMap | null
  /**
   * Reads the blocks from `first` to `last` (included) ahead, for `openAhead`, and some of them into the cache; `null`
   * when the first is at hand, or they are too many for one read.
   */
  load(first: number, last: number): Promise<void> | null
  /** As `open`, but where the block was read ahead the view is valid only until the next `load`. */
  openAhead(block: number, view: BlockView): void
}
