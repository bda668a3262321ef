import { NO_POINTS, type PointColumns, sliceColumns } from '../../series/columns.ts'
import type { PointBatch } from '../blocks/point-batch.ts'
import { ColumnsMemory, SortMemory } from '../blocks/sort-memory.ts'
import { sortAll, sortPoints } from '../blocks/sort-points.ts'
import type { FilePartWriter } from './part-writer.ts'

/** Brings the points of batches in order of time, and adds them to a part. */
export class BatchPacker {
  readonly #writer: FilePartWriter
  readonly #memory: SortMemory
  readonly #restMemory = new ColumnsMemory()
  /** Of a tag that goes on in the next batch: what did not fill a block; `null` when none does. */
  #rest: PointColumns | null = null

  /** @param memory  for sorting, that the next packer can use again */
  constructor(writer: FilePartWriter, memory = new SortMemory()) {
    this.#writer = writer
    this.#memory = memory
  }

  /** @param isOpen  whether the next batch goes on with the tag of the last entry, with later times */
  add(batch: PointBatch, isOpen: boolean): void {
    const { entries } = batch
    for (let entry = 0; entry < entries; entry++) {
      const tag = batch.tagOf(entry)
      const points = batch.pointsOf(entry)
      const goesOn = isOpen && entry === entries - 1
      if (goesOn || this.#rest !== null) this.#addPiece(tag, points, !goesOn)
      else this.#writer.add(tag, sortPoints(points, this.#memory))
    }
  }

  #addPiece(tag: number, points: PointColumns, isLast: boolean): void {
    if (this.#rest === null) this.#writer.beginRun(tag)
    const sorted = sortAll([this.#rest ?? NO_POINTS, points], this.#memory)
    const taken = this.#writer.addPoints(sorted, isLast)
    if (isLast) this.#writer.endRun()
    this.#rest = isLast ? null : this.#kept(sliceColumns(sorted, taken, sorted.times.length))
  }

  /** A copy of points whose memory the next ones take. */
  #kept(points: PointColumns): PointColumns {
    const count = points.times.length
    const kept = sliceColumns(this.#restMemory.columns(count), 0, count)
    kept.times.set(points.times)
    kept.values.set(points.values)
    kept.statuses.set(points.statuses)
    return kept
  }
}
