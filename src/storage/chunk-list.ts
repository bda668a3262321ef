import { lowerBound, type PointColumns, sliceColumns } from '../series/columns.ts'
import { type BlockView, CHUNKS_BYTES, MAX_CHUNKS } from './block.ts'
import { CHUNK_POINTS, encodeChunk } from './chunk.ts'
import { mergePoints } from './sort-points.ts'

/** A block whose chunks hold fewer points than this on average is unpacked and packed anew when it changes. */
const SPARSE_POINTS = 96

/**
 * Chunks for new blocks, in time order: some taken over as they are from the block that is rewritten, others made of points.
 * So a point that comes late costs the packing of one chunk and not that of a block.
 */
export class ChunkList {
  readonly #chunks: Uint8Array[] = []

  /** Adds points that are newer than all before; `spread` leaves room in chunks for more in between. */
  addPoints(points: PointColumns, spread: boolean): void {
    const count = points.times.length
    const isFew = spread && count > CHUNK_POINTS && count <= 2 * CHUNK_POINTS
    const each = isFew ? Math.ceil(count / 2) : CHUNK_POINTS
    for (let start = 0; start < count; start += each) {
      this.#chunks.push(encodeChunk(points, start, Math.min(count, start + each)).slice())
    }
  }

  /** Adds the points of a block with others merged in, which replace stored ones of the same timestamp. */
  addMerged(block: BlockView, points: PointColumns, spread: boolean): void {
    const { chunkCount } = block
    if (chunkCount === 0 || (chunkCount > 2 && block.count / chunkCount < SPARSE_POINTS)) {
      this.addPoints(mergePoints(block.columns(), points), spread)
      return
    }
    const { times } = points
    for (let chunk = 0, start = 0; chunk < chunkCount; chunk++) {
      const isLast = chunk === chunkCount - 1
      const end = isLast ? times.length : lowerBound(times, block.chunkFirstTime(chunk + 1))
      const from = block.chunkStart(chunk)
      const to = block.chunkStart(chunk + 1)
      if (start === end) this.#chunks.push(block.chunkView(chunk).slice())
      else {
        const part = sliceColumns(points, start, end)
        if (isLast && to - from === CHUNK_POINTS && part.times[0]! > block.lastTime) {
          this.#chunks.push(block.chunkView(chunk).slice())
          this.addPoints(part, spread)
        } else this.addPoints(mergePoints(block.columns(from, to), part), spread || !isLast)
      }
      start = end
    }
  }

  /** Adds the chunks of a compressed block without some points: ascending stretches of indexes that do not overlap. */
  addWithout(block: BlockView, cuts: readonly { readonly start: number; readonly end: number }[]): void {
    if (block.count / block.chunkCount < SPARSE_POINTS) {
      this.addPoints(without(block, 0, block.count, cuts), true)
      return
    }
    for (let chunk = 0; chunk < block.chunkCount; chunk++) {
      const from = block.chunkStart(chunk)
      const to = block.chunkStart(chunk + 1)
      const own = cuts.filter(({ start, end }) => start < to && end > from)
      if (own.length === 0) this.#chunks.push(block.chunkView(chunk).slice())
      else this.addPoints(without(block, from, to, own), true)
    }
  }

  /**
   * The chunks of each block to be made.
   * @param spread  blocks of about the same size instead of full ones and a rest
   */
  blocks(spread: boolean): readonly (readonly Uint8Array[])[] {
    const total = this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0)
    const enough = spread ? total / Math.ceil(total / CHUNKS_BYTES) : CHUNKS_BYTES
    const blocks: Uint8Array[][] = []
    let block: Uint8Array[] = []
    let bytes = 0
    for (const chunk of this.#chunks) {
      const isFull = bytes + chunk.length > CHUNKS_BYTES || block.length === MAX_CHUNKS || bytes >= enough
      if (block.length > 0 && isFull) {
        blocks.push(block)
        block = []
        bytes = 0
      }
      block.push(chunk)
      bytes += chunk.length
    }
    if (block.length > 0) blocks.push(block)
    return blocks
  }
}

/** The points of a block with index from `from` to `to` that no cut takes away. */
export function without(
  block: BlockView,
  from: number,
  to: number,
  cuts: readonly { readonly start: number; readonly end: number }[],
): PointColumns {
  const all = block.columns(from, to)
  let length = 0
  let index = 0
  for (const { start, end } of [...cuts, { start: to, end: to }]) {
    const stop = Math.max(0, start - from)
    if (stop > index) {
      all.times.copyWithin(length, index, stop)
      all.values.copyWithin(length, index, stop)
      all.statuses.copyWithin(length, index, stop)
      length += stop - index
    }
    index = Math.max(index, end - from)
  }
  return sliceColumns(all, 0, length)
}
