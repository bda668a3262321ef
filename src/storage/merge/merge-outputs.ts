import { lowerBound, type PointColumns, sliceColumns } from '../../series/columns.ts'
import { COMPRESSED_BYTES } from '../blocks/block.ts'
import { PendingPoints } from '../blocks/pending-points.ts'
import type { Files } from '../files/files.ts'
import { tokenText } from '../ownership/ownership.ts'
import type { PartInfo, PartOrigin } from '../parts/part.ts'
import { FilePartWriter } from '../parts/part-writer.ts'
import { MOST_SMALL } from '../parts/small-run.ts'
import type { TombstoneList } from '../parts/tombstone-list.ts'
import type { MergeOrder } from './merge.ts'
import type { InputRun } from './merge-input.ts'
import type { MergeSink } from './tag-merge.ts'

/** Blocks below are packed anew with what is beside them. */
const SMALLEST_KEPT = COMPRESSED_BYTES / 2
/** Points that wait to be packed, at most some more: those of two blocks. */
const MOST_PENDING = 32_768

/** Writes what a merge makes, cut by time. */
export class MergeOutputs implements MergeSink {
  readonly #files: Files
  readonly #order: MergeOrder
  readonly #origin: PartOrigin
  /** Where outputs after the first begin. */
  readonly #cuts: Float64Array
  readonly #writers: (FilePartWriter | null)[]
  readonly #pending = new PendingPoints()
  #names = 0
  #tag = 0
  /** The output of the points that come. */
  #output = 0
  /** Whether blocks of the tag stand in it. */
  #hasRun = false

  constructor(files: Files, order: MergeOrder, origin: PartOrigin, cuts: readonly number[]) {
    this.#files = files
    this.#order = order
    this.#origin = origin
    this.#cuts = Float64Array.from(cuts)
    this.#writers = Array.from({ length: cuts.length + 1 }, () => null)
  }

  /** Begins the next tag. */
  beginTag(tag: number): void {
    this.#tag = tag
    this.#output = 0
  }

  takeBlock(run: InputRun, block: number, isOnly: boolean): boolean {
    const bytes = run.blockBytes(block)
    const output = this.#outputOf(run.blockFirst(block))
    if (bytes === 0 || output !== this.#outputOf(run.blockLast(block))) return false
    this.#moveTo(output)
    // A block alone in a run stays one only as long as it has as many points as a large run must have.
    const isLarge = run.blockCount(block) > MOST_SMALL
    const waiting = this.#pending.length
    if (!isLarge || (bytes < SMALLEST_KEPT && !isOnly) || (waiting > 0 && waiting <= MOST_SMALL)) return false
    const summary = run.summary(block)
    if (summary === null) return false
    if (waiting > 0) this.#pack(true)
    this.#beginRun().addBlock(run.block(block), summary)
    return true
  }

  /** Takes the first points of columns as all of the tag; false when they are not a small run of one output. */
  takeSmall(points: PointColumns, count: number): boolean {
    if (count > MOST_SMALL) return false
    const { times } = points
    const output = this.#cuts.length === 0 ? 0 : this.#outputOf(times[0]!)
    const isOne = this.#cuts.length === 0 || output === this.#outputOf(times[count - 1]!)
    if (isOne) this.#writerOf(output).addSmall(this.#tag, points, count)
    return isOne
  }

  takePoints(points: PointColumns): void {
    const { times } = points
    for (let start = 0; start < times.length; ) {
      const output = this.#outputOf(times[start]!)
      const cut = this.#cuts[output]
      const end = cut === undefined ? times.length : lowerBound(times, cut)
      this.#moveTo(output)
      this.#pending.add(sliceColumns(points, start, end))
      if (this.#pending.length >= MOST_PENDING) this.#pack(false)
      start = end
    }
  }

  endTag(): void {
    this.#endRun()
  }

  /** Writes what is complete, so that memory stays bounded. */
  async drain(): Promise<void> {
    for (const writer of this.#writers) await writer?.drain()
  }

  /** Puts tombstones into one of the outputs. */
  addTombstones(tombstones: TombstoneList): void {
    if (tombstones.length === 0) return
    const found = this.#writers.findIndex((writer) => writer !== null)
    const writer = this.#writerOf(Math.max(0, found))
    for (const tombstone of tombstones) writer.addTombstone(tombstone)
  }

  /** Makes the outputs durable. Nothing is left of them when that fails. */
  async finish(): Promise<readonly PartInfo[]> {
    const added: PartInfo[] = []
    for (const writer of this.#writers) if (writer !== null) added.push(await writer.finish())
    return added
  }

  /** Removes all outputs, whatever state they are in. Never throws. */
  abandon(): void {
    for (const writer of this.#writers) writer?.abandon()
  }

  #outputOf(time: number): number {
    const index = lowerBound(this.#cuts, time)
    return this.#cuts[index] === time ? index + 1 : index
  }

  #moveTo(output: number): void {
    if (output === this.#output) return
    this.#endRun()
    this.#output = output
  }

  #writerOf(output: number): FilePartWriter {
    let writer = this.#writers[output] ?? null
    if (writer === null) {
      const { folder, namePrefix, firstNumber } = this.#order
      const name = `${namePrefix}${tokenText(firstNumber + this.#names++)}.part`
      writer = new FilePartWriter(this.#files, folder, name, this.#origin)
      this.#writers[output] = writer
    }
    return writer
  }

  #beginRun(): FilePartWriter {
    const writer = this.#writerOf(this.#output)
    if (!this.#hasRun) writer.beginRun(this.#tag)
    this.#hasRun = true
    return writer
  }

  #pack(isLast: boolean): void {
    this.#pending.drop(this.#beginRun().addPoints(this.#pending.points, isLast))
  }

  #endRun(): void {
    const waiting = this.#pending.length
    if (this.#hasRun) {
      if (waiting > 0) this.#pack(true)
      this.#writerOf(this.#output).endRun()
      this.#hasRun = false
    } else if (waiting > 0) {
      this.#writerOf(this.#output).add(this.#tag, this.#pending.points)
      this.#pending.drop(waiting)
    }
  }
}
