import type { PointColumns } from '../../series/columns.ts'
import type { JournalPoints, JournalRecord } from '../journal/record.ts'
import { HeadMemory } from './long-memory.ts'
import { TagHead } from './tag-head.ts'

/** Tags whose newest point is remembered although nothing else of them is in memory: some 20 MB at the most. */
const REMEMBERED_TAGS = 100_000

/**
 * The points of the journal by tag, in memory: what reads add to what stands in blocks. A cache of the journal: whoever reads
 * its records in order has the same.
 *
 * At most two epochs are here: one that is being folded, whose points go tag by tag, and one that takes what arrives.
 */
export class Heads {
  readonly #tags = new Map<number, TagHead>()
  #memory = new HeadMemory()
  #activeTags = new Set<number>()
  #foldingTags = new Set<number>()
  /** Points that arrived in the active epoch, those replaced since among them. */
  activePoints = 0
  foldingPoints = 0
  /** So many tags are looked through for those that can be forgotten. */
  #forgetAbove = 2 * REMEMBERED_TAGS

  /** Memory that tags with few points share, used or not. */
  get bytes(): number {
    return this.#memory.cells.bytes
  }

  /** Tags with points in the epoch that takes points. */
  get activeTags(): ReadonlySet<number> {
    return this.#activeTags
  }

  /** Tags with points that wait to be folded. */
  get foldingTags(): ReadonlySet<number> {
    return this.#foldingTags
  }

  get(tag: number): TagHead | undefined {
    return this.#tags.get(tag)
  }

  /** The points of a tag in memory, in time order; `null` without any. Stays as it is when more arrive. */
  columns(tag: number): PointColumns | null {
    return this.#tags.get(tag)?.columns() ?? null
  }

  /** Remembers the newest point of a tag, in blocks and here; time -Infinity for a tag without points. */
  rememberNewest(tag: number, time: number, value: number, status: number): void {
    if (this.#tags.size > this.#forgetAbove) this.#forget()
    this.#tagHead(tag).setNewest(time, value, status)
  }

  /** Applies the next record of the active epoch. */
  apply(record: JournalRecord): void {
    if (record.kind === 'points') this.addPoints(record)
    else for (const { tag, from, to } of record.spans) this.#tags.get(tag)?.remove(from, to)
  }

  addPoints({ tags, offsets, points }: JournalPoints): void {
    for (let i = 0; i < tags.length; i++) {
      const start = offsets[i]!
      const end = offsets[i + 1]!
      if (start === end) continue
      const tag = tags[i]!
      const head = this.#tagHead(tag)
      if (head.active === null) this.#activeTags.add(tag)
      head.add(points, start, end, this.#memory)
    }
    this.activePoints += points.times.length
  }

  /** Begins a new epoch; the points of the one before wait to be folded. Only when none are waiting. */
  seal(): void {
    for (const tag of this.#activeTags) this.#tags.get(tag)!.seal()
    this.#foldingTags = this.#activeTags
    this.#activeTags = new Set()
    this.#memory.cells.trim()
    this.#memory.long.trim()
    this.foldingPoints = this.activePoints
    this.activePoints = 0
    if (this.#tags.size > REMEMBERED_TAGS) this.#forget()
  }

  /** The points of the folding epoch of a tag stand in blocks. */
  dropFolding(tag: number): void {
    const head = this.#tags.get(tag)
    if (head?.folding == null) return
    this.foldingPoints -= head.folding.arrived
    head.dropFolding()
    this.#foldingTags.delete(tag)
  }

  /** All that is in memory of a tag stands in blocks. */
  dropAll(tag: number): void {
    this.dropFolding(tag)
    const head = this.#tags.get(tag)
    if (head?.active == null) return
    this.activePoints -= head.active.arrived
    head.seal()
    head.dropFolding()
    this.#activeTags.delete(tag)
  }

  /** The points up to a time of the folding epoch of a tag stand in blocks. */
  dropFoldingUntil(tag: number, time: number): void {
    this.#tags.get(tag)?.dropFoldingUntil(time)
  }

  /** What could not be folded of a tag belongs to the active epoch again. */
  takeBack(tag: number): void {
    const head = this.#tags.get(tag)
    if (head?.folding == null) return
    if (head.active !== null) this.activePoints -= head.active.arrived
    head.takeBack(this.#memory)
    this.activePoints += head.active!.arrived
    this.#foldingTags.delete(tag)
    this.#activeTags.add(tag)
  }

  /** Everything of the folding epoch stands in blocks. */
  endFolding(): void {
    for (const tag of [...this.#foldingTags]) this.dropFolding(tag)
    this.foldingPoints = 0
    if (this.#memory.cells.used === 0) this.#memory.cells.trim()
    if (this.#activeTags.size === 0) this.#memory.long.clear()
  }

  /** Forgets everything. */
  clear(): void {
    this.#tags.clear()
    this.#memory = new HeadMemory()
    this.#activeTags = new Set()
    this.#foldingTags = new Set()
    this.activePoints = 0
    this.foldingPoints = 0
  }

  #tagHead(tag: number): TagHead {
    let head = this.#tags.get(tag)
    if (head === undefined) {
      head = new TagHead()
      this.#tags.set(tag, head)
    }
    return head
  }

  #forget(): void {
    for (const [tag, head] of this.#tags) {
      if (head.folding === null && head.active === null) this.#tags.delete(tag)
    }
    // Those that have points stay: looking through them again for each tag that is remembered would take long.
    this.#forgetAbove = 2 * Math.max(REMEMBERED_TAGS, this.#tags.size)
  }
}
