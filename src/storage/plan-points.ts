import { concatColumns, lowerBound, type PointColumns, sliceColumns, upperBound } from '../series/columns.ts'
import { COMPRESSED_BYTES, STEP_POINTS } from './block.ts'
import { TAIL } from './block-key.ts'
import type { Changes } from './changes.ts'
import { ChunkList } from './chunk-list.ts'
import { mergePoints } from './sort-points.ts'
import type { StoredBlocks } from './tag-blocks.ts'

/**
 * A tag's newest points are kept in a small block of their own, its tail, so that adding a point rewrites little: several tails
 * share an lmdb page. A full tail moves to a step, a plain block that grows to STEP_POINTS, and a full step becomes a chunk at the
 * end of the compressed block before it. So a point that comes alone is rewritten with half a tail, a few times with half a step
 * and once with half a compressed block, some 400 bytes in all, and it is packed once.
 */
const TAIL_POINTS = 32
/** Tails of different tags fill up at different sizes: tags that are always written together then do not all move at once. */
const TAIL_SPREAD = 32

function tailLimit(tag: number): number {
  return TAIL_POINTS + ((Math.imul(tag, 0x9e3779b1) >>> 16) % TAIL_SPREAD)
}

/**
 * Works out what storing points changes in the blocks of a tag.
 * @param points  ascending, distinct, at least one; they replace stored ones with the same timestamp
 */
export function planPoints(changes: Changes, blocks: StoredBlocks, tag: number, points: PointColumns): void {
  const first = points.times[0]!
  const { view } = blocks
  if (blocks.seekTail()) {
    const tailFirst = view.firstTime
    if (first > view.lastTime && view.count + points.times.length <= tailLimit(tag)) {
      changes.putAppended(tag, TAIL, view, points)
      return
    }
    const split = lowerBound(points.times, tailFirst)
    if (split < points.times.length) {
      const newer = mergePoints(view.columns(), sliceColumns(points, split, points.times.length))
      if (newer.times.length <= tailLimit(tag)) changes.putTail(tag, newer)
      else {
        changes.removeBlock(tag, TAIL)
        if (split === 0) planNewer(changes, blocks, tag, newer)
        else planIntoBlocks(changes, blocks, tag, mergePoints(sliceColumns(points, 0, split), newer))
        return
      }
    }
    if (split > 0) planIntoBlocks(changes, blocks, tag, sliceColumns(points, 0, split))
    return
  }
  if (!blocks.seekBlockBefore(Number.MAX_SAFE_INTEGER, 'header')) {
    planNewest(changes, tag, points)
    return
  }
  const split = upperBound(points.times, view.lastTime)
  const newer = points.times.length - split
  if (split === 0 && newer > tailLimit(tag)) planNewer(changes, blocks, tag, points)
  else if (newer > 0 && newer <= tailLimit(tag)) {
    changes.putTail(tag, sliceColumns(points, split, points.times.length))
    if (split > 0) planIntoBlocks(changes, blocks, tag, sliceColumns(points, 0, split))
  } else planIntoBlocks(changes, blocks, tag, points)
}

/** The first points of a tag. */
function planNewest(changes: Changes, tag: number, points: PointColumns): void {
  if (points.times.length <= tailLimit(tag)) changes.putTail(tag, points)
  else changes.putNewest(tag, points)
}

/** Adds points that are newer than all in the blocks of a tag without a tail. */
function planNewer(changes: Changes, blocks: StoredBlocks, tag: number, points: PointColumns): void {
  const { view } = blocks
  const added = points.times.length
  if (added >= STEP_POINTS || !blocks.seekBlockBefore(Number.MAX_SAFE_INTEGER)) {
    planIntoBlocks(changes, blocks, tag, points)
  } else if (view.chunkCount > 0 || view.count > STEP_POINTS) {
    changes.putPlain(tag, points)
  } else if (view.count + added <= STEP_POINTS) {
    changes.putAppended(tag, view.firstTime, view, points)
  } else {
    const newest = concatColumns([view.columns(), points])
    const full = sliceColumns(newest, 0, STEP_POINTS)
    changes.removeBlock(tag, full.times[0]!)
    const chunks = new ChunkList()
    if (blocks.seekBlockBefore(full.times[0]! - 1) && view.chunkCount > 0 && hasRoom(view.bytes)) {
      chunks.addMerged(view, full, false)
    } else chunks.addPoints(full, false)
    changes.putChunks(tag, chunks, false)
    changes.putPlain(tag, sliceColumns(newest, STEP_POINTS, newest.times.length))
  }
}

/** Whether a chunk of common size fits into a block of so many bytes; if it turns out not to, it becomes a block of its own. */
function hasRoom(bytes: number): boolean {
  return bytes < COMPRESSED_BYTES - 128
}

/** Merges points into the blocks that they fall into; the tail is none of them. */
function planIntoBlocks(changes: Changes, blocks: StoredBlocks, tag: number, points: PointColumns): void {
  const { view } = blocks
  const { times } = points
  for (let start = 0; start < times.length; ) {
    const at = times[start]!
    const baseTime = baseOf(changes, blocks, tag, times, start)
    // The run ends where the block after the base begins, and there another round begins.
    const after = baseTime === null ? at : Math.max(at, baseTime)
    const hasNext = blocks.seekBlockAfter(after + 1, 'header')
    const end = hasNext ? lowerBound(times, view.firstTime) : times.length
    const run = sliceColumns(points, start, end)
    const chunks = new ChunkList()
    if (baseTime === null) chunks.addPoints(run, hasNext)
    else {
      blocks.seekBlockBefore(baseTime)
      chunks.addMerged(view, run, hasNext)
    }
    changes.putChunks(tag, chunks, hasNext)
    start = end
  }
}

/** First time of the block that points from index `start` on are merged into; `null` when they make blocks of their own. */
function baseOf(
  changes: Changes,
  blocks: StoredBlocks,
  tag: number,
  times: Float64Array,
  start: number,
): number | null {
  const { view } = blocks
  const at = times[start]!
  if (blocks.seekBlockBefore(at, 'header')) return view.firstTime
  // Before the first block: it takes in a few, and so begins earlier.
  if (!blocks.seekBlockAfter(at, 'header')) return null
  const earlier = lowerBound(times, view.firstTime) - start
  if (earlier > STEP_POINTS) return null
  changes.removeBlock(tag, view.firstTime)
  return view.firstTime
}
