import { lowerBound, type PointColumns, sliceColumns, upperBound } from '../series/columns.ts'
import { TAIL } from './block-key.ts'
import type { Changes } from './changes.ts'
import { CHUNK_POINTS } from './chunk.ts'
import { ChunkList } from './chunk-list.ts'
import { planPages } from './plan-pages.ts'
import { mergePoints } from './sort-points.ts'
import type { StoredBlocks } from './tag-blocks.ts'

/**
 * A tag's newest points are kept in a small block of their own, its tail, so that adding a point rewrites little: several tails
 * share an lmdb page. A full tail, or more points than a tail takes, go to a step: a compressed block of up to STEP_BYTES, several
 * of which share a page, too. When a step outgrows that, its full chunks move on to the end of the block before it. So a slow tag
 * that gets a hundred points at a time has some 1 kB rewritten with them, and a large block once in a thousand points.
 */
const TAIL_POINTS = 32
/** Tails of different tags fill up at different sizes: tags that are always written together then do not all move at once. */
const TAIL_SPREAD = 32
/** lmdb keeps values up to 2,018 bytes beside others in a page; longer ones take whole pages. */
const STEP_BYTES = 2_000

function tailLimit(tag: number): number {
  return TAIL_POINTS + ((Math.imul(tag, 0x9e3779b1) >>> 16) % TAIL_SPREAD)
}

/**
 * Works out what storing points changes in the blocks of a tag.
 * @param points  ascending, distinct, at least one; they replace stored ones with the same timestamp
 */
export function planPoints(changes: Changes, blocks: StoredBlocks, tag: number, points: PointColumns): void {
  const mark = changes.mark()
  planBlocks(changes, blocks, tag, points)
  planPages(changes, blocks.pages!, tag, changes.summariesSince(mark, tag))
}

function planBlocks(changes: Changes, blocks: StoredBlocks, tag: number, points: PointColumns): void {
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
  if (!blocks.seekNewestBlock()) {
    if (points.times.length <= tailLimit(tag)) changes.putTail(tag, points)
    else planNewer(changes, blocks, tag, points)
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

/** Adds points that are newer than all in the blocks of a tag without a tail. */
function planNewer(changes: Changes, blocks: StoredBlocks, tag: number, points: PointColumns): void {
  const { view } = blocks
  if (!blocks.seekNewestBlock()) changes.putNewest(tag, points)
  else if (view.chunkCount > 0 && view.bytes <= STEP_BYTES) growStep(changes, blocks, tag, points)
  else if (view.chunkCount === 0 || points.times.length >= CHUNK_POINTS) {
    planIntoBlocks(changes, blocks, tag, points)
  } else changes.putNewest(tag, points)
}

/** Adds newer points to the step in view. */
function growStep(changes: Changes, blocks: StoredBlocks, tag: number, points: PointColumns): void {
  const { view } = blocks
  const time = view.firstTime
  const step = new ChunkList(changes.arena)
  step.addMerged(view, points, false)
  const full = step.bytes <= STEP_BYTES ? null : step.takeFull()
  if (full !== null && full.bytes > 0) {
    changes.removeBlock(tag, time)
    const whole = new ChunkList(changes.arena)
    if (blocks.seekBlockBefore(time - 1) && view.chunkCount > 0 && full.fitsBehind(view)) whole.addBlock(view)
    whole.addAll(full)
    changes.putChunks(tag, whole, false)
  }
  if (step.bytes > 0) changes.putChunks(tag, step, false)
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
    const chunks = new ChunkList(changes.arena)
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
  if (earlier > CHUNK_POINTS) return null
  changes.removeBlock(tag, view.firstTime)
  return view.firstTime
}
