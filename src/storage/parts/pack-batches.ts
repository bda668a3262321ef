import type { PointColumns } from '../../series/columns.ts'
import type { PointBatch } from '../blocks/point-batch.ts'
import { SortMemory } from '../blocks/sort-memory.ts'
import { sortAll, sortPoints } from '../blocks/sort-points.ts'
import type { PartWriter } from './part.ts'

/** Brings the points of batches in order of time, and adds them to a part. */
export class BatchPacker {
  readonly #writer: PartWriter
  readonly #memory: SortMemory
  /** Of a tag that goes on in the next batch. */
  #open: PointColumns[] = []

  /** @param memory  for sorting, that the next packer can use again */
  constructor(writer: PartWriter, memory = new SortMemory()) {
    this.#writer = writer
    this.#memory = memory
  }

  /** @param isOpen  whether the next batch goes on with the tag of the last entry */
  add(batch: PointBatch, isOpen: boolean): void {
    const { entries } = batch
    for (let entry = 0; entry < entries; entry++) {
      const tag = batch.tagOf(entry)
      const points = batch.pointsOf(entry)
      if (isOpen && entry === entries - 1) this.#open.push(copyOf(points))
      else if (this.#open.length === 0) this.#writer.add(tag, sortPoints(points, this.#memory))
      else {
        const all = [...this.#open, points]
        this.#open = []
        this.#writer.add(tag, sortAll(all, this.#memory))
      }
    }
  }
}

function copyOf({ times, values, statuses }: PointColumns): PointColumns {
  return { times: times.slice(), values: values.slice(), statuses: statuses.slice() }
}
