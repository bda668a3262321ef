import {
  concatColumns,
  lowerBound,
  NO_POINTS,
  type PointColumns,
  sliceColumns,
} from '../../../series/columns.ts'
import { type EdgePoint, valuesFromPoints } from '../../../series/interpolate.ts'
import type { SignalShape } from '../../../series/reads.ts'
import { type Instant, instantFromUs } from '../../../time/instant.ts'
import type { Chunk, ChunkRange } from '../../graph/chunk.ts'
import { edgeAt } from '../../graph/point-source.ts'

/**
 * Streams the points of windows. The batches hold the bounding points of the range too, so that nothing has to be
 * looked up; the point at a cut is held back and begins, or ends, the next chunk.
 * @param batches good points of the range and beside it, in its order; each batch ascends
 */
export async function* windowChunks(
  batches: AsyncGenerator<PointColumns>,
  { from, to, order }: ChunkRange,
  shape: SignalShape,
): AsyncGenerator<Chunk, void> {
  const isAscending = order === 'asc'
  /** Read and not given yet, ascending; inside the range. */
  let waiting = NO_POINTS
  /** Bounding points of what was not given yet. */
  let prev: EdgePoint | null = null
  let next: EdgePoint | null = null
  /** The end of what was given. */
  let position = isAscending ? from : to
  for await (const batch of batches) {
    const [first, end] = [lowerBound(batch.times, from), lowerBound(batch.times, to)]
    const inside = sliceColumns(batch, first, end)
    // Of the points beside the range the nearest are the bounding points.
    const [before, after] = [edgeAt(batch, first - 1), edgeAt(batch, end)]
    prev = isAscending ? (before ?? prev) : (prev ?? before)
    next = isAscending ? (next ?? after) : (after ?? next)
    waiting = concatColumns(isAscending ? [waiting, inside] : [inside, waiting])
    const { length } = waiting.times
    if (length < 2) continue
    if (isAscending) {
      const cut = instantFromUs(waiting.times.at(-1)!)
      const beside = edgeAt(waiting, length - 1)
      yield windowChunk(position, cut, sliceColumns(waiting, 0, length - 1), prev, beside, shape)
      prev = edgeAt(waiting, length - 2)
      waiting = sliceColumns(waiting, length - 1, length)
      position = cut
    } else {
      // The point that is held back is excluded: whole microseconds make that one later.
      const cut = instantFromUs(waiting.times[0]! + 1)
      const beside = edgeAt(waiting, 0)
      yield windowChunk(cut, position, sliceColumns(waiting, 1, length), beside, next, shape)
      next = edgeAt(waiting, 1)
      waiting = sliceColumns(waiting, 0, 1)
      position = cut
    }
  }
  yield isAscending
    ? windowChunk(position, to, waiting, prev, next, shape)
    : windowChunk(from, position, waiting, prev, next, shape)
}

function windowChunk(
  from: Instant,
  to: Instant,
  raw: PointColumns,
  prev: EdgePoint | null,
  next: EdgePoint | null,
  shape: SignalShape,
): Chunk {
  const valuesAt: Chunk['valuesAt'] = (times, limit) =>
    valuesFromPoints(raw, prev, next, times, shape, limit === 'before' ? 'before' : 'at')
  return { from, to, raw, valuesAt }
}
