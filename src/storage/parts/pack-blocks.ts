import type { PointColumns } from '../../series/columns.ts'
import { Arena } from '../blocks/arena.ts'
import { CHUNKS_BYTES, joinChunks, MAX_CHUNKS } from '../blocks/block.ts'
import { CHUNK_POINTS, encodeChunk } from '../blocks/chunk.ts'
import { extrasOf, type PartSummary } from './part-summary.ts'

/** Chunks and the block that is made of them; empty between calls. */
const arena = new Arena()

/**
 * Packs points into compressed blocks, as full as they get.
 * @param isLast  whether the last block is made although it is not full
 * @param take    takes each block, whose memory is used again afterwards, with its summary
 * @returns       the index of the first point that stands in no block
 */
export function packBlocks(
  points: PointColumns,
  isLast: boolean,
  take: (block: Uint8Array, summary: PartSummary) => void,
): number {
  const count = points.times.length
  let chunks: Uint8Array[] = []
  let bytes = 0
  let first = 0
  const close = (end: number) => {
    const { block, zoneMap } = joinChunks(arena, chunks)
    take(block, { ...zoneMap, ...extrasOf(points, first, end, zoneMap) })
    arena.reset()
    chunks = []
    bytes = 0
    first = end
  }
  try {
    for (let start = 0; start < count; start += CHUNK_POINTS) {
      const chunk = encodeChunk(points, start, Math.min(count, start + CHUNK_POINTS))
      if (chunks.length === MAX_CHUNKS || bytes + chunk.length > CHUNKS_BYTES) close(start)
      chunks.push(arena.copy(chunk))
      bytes += chunk.length
    }
    if (isLast && first < count) close(count)
  } finally {
    arena.reset()
  }
  return first
}
