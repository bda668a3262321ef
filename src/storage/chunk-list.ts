import { lowerBound, makeColumns, type PointColumns, sliceColumns } from '../series/columns.ts'
import type { Arena } from './arena.ts'
import { type BlockView, CHUNKS_BYTES, COMPRESSED_BYTES, MAX_CHUNKS } from './block.ts'
import { CHUNK_POINTS, encodeChunk, pointsIn } from './chunk.ts'
import { mergePoints } from './sort-points.ts'

/** Scratch for a chunk that is filled up. */
const filled = makeColumns(CHUNK_POINTS)

/** A block whose chunks hold fewer points than this on average is unpacked and packed anew when it changes. */
const SPARSE_POINTS = 96

/**
 * Chunks for new blocks, in time order: some taken over as they are from the block that is rewritten, others made of points.
 * So a point that comes late costs the packing of one chunk and not that of a block.
 */
export class ChunkList {
  readonly #arena: Arena
  #chunks: Uint8Array[] = []

  /** @param arena  takes the chunks, which stay as long as its memory does */
  constructor(arena: Arena) {
    this.#arena = arena
  }

  /** Of all chunks together. */
  get bytes(): number {
    return this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  }

  /** Adds all chunks of a compressed block as they are. */
  addBlock(block: BlockView): void {
    for (let chunk = 0; chunk < block.chunkCount; chunk++)
      this.#chunks.push(this.#arena.copy(block.chunkView(chunk)))
  }

  /** Adds those of another list, which are newer. */
  addAll(chunks: ChunkList): void {
    this.#chunks.push(...chunks.#chunks)
  }

  /** Takes the chunks at the front that hold as many points as a chunk may away, into a list of their own. */
  takeFull(): ChunkList {
    let count = 0
    while (count < this.#chunks.length && pointsIn(this.#chunks[count]!) === CHUNK_POINTS) count++
    const full = new ChunkList(this.#arena)
    full.#chunks = this.#chunks.slice(0, count)
    this.#chunks = this.#chunks.slice(count)
    return full
  }

  /** Whether the first chunk has room in a block. */
  fitsBehind(block: BlockView): boolean {
    return block.chunkCount < MAX_CHUNKS && block.bytes + this.#chunks[0]!.length <= COMPRESSED_BYTES
  }

  /** Adds points that are newer than all before; `spread` leaves room in chunks for more in between. */
  addPoints(points: PointColumns, spread: boolean): void {
    const count = points.times.length
    const isFew = spread && count > CHUNK_POINTS && count <= 2 * CHUNK_POINTS
    this.#pack(points, 0, count, isFew ? Math.ceil(count / 2) : CHUNK_POINTS)
  }

  #pack(points: PointColumns, from: number, to: number, each: number): void {
    for (let start = from; start < to; start += each) {
      this.#chunks.push(this.#arena.copy(encodeChunk(points, start, Math.min(to, start + each))))
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
      if (start === end) this.#chunks.push(this.#arena.copy(block.chunkView(chunk)))
      else {
        const part = sliceColumns(points, start, end)
        if (isLast && !spread && part.times[0]! > block.lastTime) this.#addBehind(block, chunk, part)
        else if (isLast && to - from === CHUNK_POINTS && part.times[0]! > block.lastTime) {
          this.#chunks.push(this.#arena.copy(block.chunkView(chunk)))
          this.addPoints(part, spread)
        } else this.addPoints(mergePoints(block.columns(from, to), part), spread || !isLast)
      }
      start = end
    }
  }

  /** Adds the last chunk of a block and later points, which fill it up first. */
  #addBehind(block: BlockView, chunk: number, points: PointColumns): void {
    const from = block.chunkStart(chunk)
    const stored = block.chunkStart(chunk + 1) - from
    const added = Math.min(CHUNK_POINTS - stored, points.times.length)
    if (added === 0) this.#chunks.push(this.#arena.copy(block.chunkView(chunk)))
    else {
      block.copyTo(filled, 0, from, from + stored)
      for (let i = 0; i < added; i++) {
        filled.times[stored + i] = points.times[i]!
        filled.values[stored + i] = points.values[i]!
        filled.statuses[stored + i] = points.statuses[i]!
      }
      this.#pack(filled, 0, stored + added, CHUNK_POINTS)
    }
    this.#pack(points, added, points.times.length, CHUNK_POINTS)
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
      if (own.length === 0) this.#chunks.push(this.#arena.copy(block.chunkView(chunk)))
      else this.addPoints(without(block, from, to, own), true)
    }
  }

  /**
   * The chunks of each block to be made.
   * @param spread  blocks of about the same size instead of full ones and a rest
   */
  blocks(spread: boolean): readonly (readonly Uint8Array[])[] {
    const total = this.bytes
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
