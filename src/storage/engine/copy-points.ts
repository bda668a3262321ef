import type { PointBatch } from '../blocks/point-batch.ts'
import { RunStretches } from '../blocks/run-stretches.ts'
import type { Memtable } from '../memtable/memtable.ts'
import type { PartPacking } from '../parts/packer.ts'
import { Pacer } from '../pause.ts'

/** Points that are copied in about the time of one step of the pacer. */
const COPIED_POINTS = 512

/**
 * Copies the points of the generation that is being flushed into the batches of a part, a fraction of the work of
 * packing them. Gives how many there are. Points that are taken away meanwhile are covered by tombstones of the next
 * generation.
 * @param sliceMs  how long it holds others up at a time
 */
export async function copyPoints(memtable: Memtable, packing: PartPacking, sliceMs: number): Promise<number> {
  const copier = new Copier(packing, await packing.batch(), sliceMs)
  for (const tag of memtable.immutableTags()) {
    let isCopied = memtable.copyImmutable(tag, copier.batch)
    if (!isCopied && copier.batch.entries > 0) {
      await copier.send(false)
      isCopied = memtable.copyImmutable(tag, copier.batch)
    }
    if (!isCopied) await copyMany(memtable, tag, copier)
    await copier.pauseIfDue()
  }
  if (copier.batch.entries > 0) await copier.send(false)
  return copier.points
}

/**
 * Copies the points of a tag that has too many for a batch, stretch by stretch of time: the thread that packs them
 * never has more than one to sort, and never all of them in its memory.
 */
async function copyMany(memtable: Memtable, tag: number, copier: Copier): Promise<void> {
  const { runs, unpin } = memtable.pinImmutable(tag)
  try {
    const stretches = new RunStretches(runs)
    while (!stretches.isOver) {
      for (const points of stretches.next(copier.batch.room)) {
        copier.batch.add(points, 0, points.times.length)
      }
      copier.batch.endEntry(tag)
      if (!stretches.isOver) await copier.send(true)
      await copier.pauseIfDue()
    }
  } finally {
    unpin()
  }
}

class Copier {
  readonly #packing: PartPacking
  readonly #sliceMs: number
  readonly #pacer = new Pacer()
  /** The one that is filled. */
  batch: PointBatch
  #sent = 0
  /** Points that were copied when it was last asked whether a pause is due. */
  #paced = 0

  constructor(packing: PartPacking, batch: PointBatch, sliceMs: number) {
    this.#packing = packing
    this.batch = batch
    this.#sliceMs = sliceMs
  }

  /** Points that were copied so far. */
  get points(): number {
    return this.#sent + this.batch.points
  }

  /** Gives the batch to the part, and takes an empty one. @param isOpen  as of PartPacking.add */
  async send(isOpen: boolean): Promise<void> {
    this.#sent += this.batch.points
    this.#packing.add(this.batch, isOpen)
    this.batch = await this.#packing.batch()
  }

  /** Lets others in where it is time; to be called after each tag or stretch. */
  async pauseIfDue(): Promise<void> {
    const copied = this.points - this.#paced
    this.#paced = this.points
    if (this.#pacer.isDue(1 + Math.floor(copied / COPIED_POINTS), this.#sliceMs)) await this.#pacer.pause()
  }
}
