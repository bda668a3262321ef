import { type PointColumns, sliceColumns } from '../../series/columns.ts'
import type { Files } from '../files/files.ts'
import { encodeFooter, MAGIC } from './footer.ts'
import { packBlocks } from './pack-blocks.ts'
import { PageTableBuilder } from './page-table.ts'
import type { PartInfo, PartOrigin, PartWriter, Section, Tombstone } from './part.ts'
import { PartOutput } from './part-output.ts'
import type { PartSummary } from './part-summary.ts'
import { IndexPageBuilder } from './run-index.ts'
import { SmallPageBuilder } from './small-page.ts'
import { MOST_SMALL } from './small-run.ts'
import { encodeSummaryPage, SUMMED_BLOCKS } from './summary-page.ts'
import { TagSetBuilder } from './tag-set.ts'
import { TombstoneBuilder } from './tombstone-columns.ts'
import { encodeTombstones } from './tombstones.ts'

/** More than a block takes, packed in some milliseconds. */
const SLICE_POINTS = 32_768

/** Places in the table of pages are u32, in units of 8 bytes. */
const MOST_BYTES = 8 * 0xffff_ffff

const { NEGATIVE_INFINITY, POSITIVE_INFINITY } = Number

/** Writes a part file (docs/formats/part-v1.md). */
export class FilePartWriter implements PartWriter {
  readonly #name: string
  readonly #origin: PartOrigin
  readonly #out: PartOutput
  readonly #small = new SmallPageBuilder()
  readonly #index = new IndexPageBuilder()
  readonly #table = new PageTableBuilder()
  readonly #smallTags = new TagSetBuilder()
  readonly #largeTags = new TagSetBuilder()
  readonly #tombstones = new TombstoneBuilder()
  /** Of the blocks since the last page of summaries. */
  #summaries: PartSummary[] = []
  #points = 0
  #firstTime = POSITIVE_INFINITY
  #lastTime = NEGATIVE_INFINITY
  #lastTag = -1

  constructor(files: Files, folder: string, name: string, origin: PartOrigin) {
    this.#name = name
    this.#origin = origin
    this.#out = new PartOutput(files, folder, name)
    this.#out.append(MAGIC)
  }

  get bytes(): number {
    return this.#out.bytes
  }

  add(tag: number, points: PointColumns): void {
    const count = points.times.length
    if (count > MOST_SMALL) {
      this.beginRun(tag)
      this.addPoints(points)
      this.endRun()
      return
    }
    this.addSmall(tag, points, count)
  }

  async addInSlices(tag: number, points: PointColumns, pause: () => Promise<void>): Promise<void> {
    const count = points.times.length
    if (count <= SLICE_POINTS) {
      this.add(tag, points)
      return
    }
    this.beginRun(tag)
    for (let at = 0; at < count; ) {
      const end = Math.min(count, at + SLICE_POINTS)
      at += this.addPoints(sliceColumns(points, at, end), end === count)
      if (at < count) await pause()
    }
    this.endRun()
  }

  /** Takes the first points of columns, 1 to MOST_SMALL, as those of the next tag. */
  addSmall(tag: number, points: PointColumns, count: number): void {
    this.#next(tag)
    this.#count(count, points.times[0]!, points.times[count - 1]!)
    this.#small.add(tag, points, count)
    this.#smallTags.add(tag)
    if (this.#small.isFull) this.#endSmallPage()
  }

  addTombstone({ tag, from, to, sequence }: Tombstone): void {
    this.#tombstones.add(tag, from, to, sequence)
  }

  /** Begins a large run of the next tag, whose blocks then come in time order; it has at least one. */
  beginRun(tag: number): void {
    this.#next(tag)
    this.#index.beginRun(tag, this.bytes)
    this.#largeTags.add(tag)
  }

  /**
   * Packs points as the next blocks of the run.
   * @param isLast  false when more of them follow, so that what does not fill a block waits for them
   * @returns       how many of the points were taken
   */
  addPoints(points: PointColumns, isLast = true): number {
    return packBlocks(points, isLast, (block, summary) => this.addBlock(block, summary))
  }

  /** Takes over a compressed block as the next one of the run. */
  addBlock(block: Uint8Array, summary: PartSummary): void {
    const { count, firstTime, lastTime } = summary
    this.#count(count, firstTime, lastTime)
    this.#index.addBlock({ at: this.bytes, bytes: block.length, count, firstTime, lastTime })
    this.#out.append(block)
    this.#summaries.push(summary)
    if (this.#summaries.length === SUMMED_BLOCKS) this.#endSummaryPage()
  }

  endRun(): void {
    if (this.#summaries.length > 0) this.#endSummaryPage()
    this.#index.endRun()
    if (this.#index.isFull) this.#endIndexPage()
  }

  drain(): Promise<void> {
    return this.#out.drain()
  }

  async finish(): Promise<PartInfo> {
    if (this.#small.count > 0) this.#endSmallPage()
    if (this.#index.count > 0) this.#endIndexPage()
    const sections = {
      table: this.#addSection(this.#table.finish()),
      tombstones: this.#addSection(encodeTombstones(this.#tombstones.sorted())),
      smallTags: this.#addSection(this.#smallTags.finish()),
      largeTags: this.#addSection(this.#largeTags.finish()),
    }
    const info: Omit<PartInfo, 'bytes'> = {
      name: this.#name,
      firstSequence: this.#origin.firstSequence,
      lastSequence: this.#origin.lastSequence,
      firstTime: this.#firstTime,
      lastTime: this.#lastTime,
      points: this.#points,
      tags: this.#smallTags.size + this.#largeTags.size,
      tombstones: this.#tombstones.length,
    }
    this.#out.append(encodeFooter(info, this.#origin, sections, this.bytes))
    await this.#out.finish()
    return { ...info, bytes: this.bytes, sections }
  }

  abandon(): void {
    this.#out.abandon()
  }

  #next(tag: number): void {
    if (tag <= this.#lastTag) throw new Error('the tags of a part come in ascending order')
    this.#lastTag = tag
  }

  #count(count: number, firstTime: number, lastTime: number): void {
    this.#points += count
    if (firstTime < this.#firstTime) this.#firstTime = firstTime
    if (lastTime > this.#lastTime) this.#lastTime = lastTime
  }

  #endSmallPage(): void {
    const { firstTag } = this.#small
    this.#table.addSmall({ firstTag, ...this.#addSection(this.#small.finish()) })
  }

  #endSummaryPage(): void {
    this.#out.append(encodeSummaryPage(this.#summaries))
    this.#summaries = []
  }

  #endIndexPage(): void {
    const { firstTag } = this.#index
    this.#table.addIndex({ firstTag, ...this.#addSection(this.#index.finish()) })
  }

  #addSection(page: Uint8Array): Section {
    const at = this.bytes
    if (at > MOST_BYTES) throw new Error('a part is too large for its table of pages')
    this.#out.append(page)
    return { at, bytes: page.length }
  }
}
