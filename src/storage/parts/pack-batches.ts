import type { PointColumns } from '../../series/columns.ts'
import { PendingPoints } from '../blocks/pending-points.ts'
import type { PointBatch } from '../blocks/point-batch.ts'
import { SortMemory } from '../blocks/sort-memory.ts'
import { sortPoints } from '../blocks/sort-points.ts'
import type { FilePartWriter } from './part-writer.ts'

/** Brings the points of batches in order of time, and adds them to a part. */
export class BatchPacker {
  readonly #writer: FilePartWriter
  readonly #memory: SortMemory
  /** Of a tag that goes on in the next batch: what did not fill a block. */
  readonly #pending = new PendingPoints()
  /** Whether the tag of the batch before goes on. */
  #isOpen = false

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
      if (goesOn || this.#isOpen) this.#addPiece(tag, points, !goesOn)
      else this.#writer.add(tag, sortPoints(points, this.#memory))
    }
  }

  #addPiece(tag: number, points: PointColumns, isLast: boolean): void {
    if (!this.#isOpen) this.#writer.beginRun(tag)
    this.#pending.add(sortPoints(points, this.#memory))
    this.#pending.drop(this.#writer.addPoints(this.#pending.points, isLast))
    if (isLast) this.#writer.endRun()
    this.#isOpen = !isLast
  }
}
