import type { PointBatch } from '../blocks/point-batch.ts'
import type { PartInfo, PartOrigin, Tombstone } from './part.ts'

/** Writes parts beside the thread that answers. One part at a time. */
export interface Packer {
  /** Begins a part. */
  begin(name: string, origin: PartOrigin): PartPacking
  /** Frees everything; nothing is under way. */
  close(): Promise<void>
}

/**
 * A new part file, of points of each batch and tag in any order. After an error (of the file layer, as it is) only
 * `abandon` may be called.
 */
export interface PartPacking {
  /** An empty batch to be filled, as soon as there is one. Rejects with what the part failed with. */
  batch(): Promise<PointBatch>
  /**
   * Takes a batch, whose tags follow those of the one before; nobody looks at it any more.
   * @param isOpen  whether the next one goes on with the tag of its last entry, with times that are all later
   */
  add(batch: PointBatch, isOpen: boolean): void
  /** Tombstones come after the points. */
  addTombstone(tombstone: Tombstone): void
  /** Writes the rest, and has the file and its entry in the folder on disk. */
  finish(): Promise<PartInfo>
  /** Removes the file, whatever state it is in. Never rejects. */
  abandon(): Promise<void>
}
