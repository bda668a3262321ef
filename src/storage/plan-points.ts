import { concatColumns, lowerBound, type PointColumns, sliceColumns, upperBound } from '../series/columns.ts'
import { MAX_BLOCK_POINTS } from './block.ts'
import { TAIL } from './block-key.ts'
import type { Changes } from './changes.ts'
import { mergePoints } from './sort-points.ts'
import type { TagBlocks } from './tag-blocks.ts'

/**
 * A tag's newest points are kept in a small block of their own, its tail, so that adding a point rewrites little: several tails
 * share an lmdb page. A full tail moves to a step, a block that grows to STEP_POINTS, and a full step to the block before it. So a
 * point that comes alone is rewritten with half a tail, a few times with half a step and a few times with half a block,
 * about 500 bytes in all, where adding it to a block at once would rewrite 35,000.
 */
const TAIL_POINTS = 32
const STEP_POINTS = 512
/** Tails of different tags fill up at different sizes: tags that are always written together then do not all move at once. */
const TAIL_SPREAD = 32

function tailLimit(tag: number): number {
  return TAIL_POINTS + ((Math.imul(tag, 0x9e3779b1) >>> 16) % TAIL_SPREAD)
}

/**
 * Works out what storing points changes in the blocks of a tag.
 * @param points  ascending, distinct, at least one; they replace stored ones with the same timestamp
 * @param isNew   whether the tag was made just now and so has no blocks
 */
export function planPoints(
  changes: Changes,
  blocks: TagBlocks,
  tag: number,
  isNew: boolean,
  points: PointColumns,
): void {
  if (isNew) {
    planNewest(changes, tag, points)
    return
  }
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
      if (newer.times.length <= tailLimit(tag)) changes.putBlockAt(tag, TAIL, newer)
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
    changes.putBlockAt(tag, TAIL, sliceColumns(points, split, points.times.length))
    if (split > 0) planIntoBlocks(changes, blocks, tag, sliceColumns(points, 0, split))
  } else planIntoBlocks(changes, blocks, tag, points)
}

/** The first points of a tag. */
function planNewest(changes: Changes, tag: number, points: PointColumns): void {
  if (points.times.length <= tailLimit(tag)) changes.putBlockAt(tag, TAIL, points)
  else putFull(changes, tag, points)
}

/** Adds points that are newer than all in the blocks of a tag without a tail. */
function planNewer(changes: Changes, blocks: TagBlocks, tag: number, points: PointColumns): void {
  const { view } = blocks
  const added = points.times.length
  if (added >= STEP_POINTS || !blocks.seekBlockBefore(Number.MAX_SAFE_INTEGER)) {
    planIntoBlocks(changes, blocks, tag, points)
  } else if (view.count + added <= STEP_POINTS) {
    changes.putAppended(tag, view.firstTime, view, points)
  } else if (view.count > STEP_POINTS) {
    changes.putBlock(tag, points)
  } else {
    const stepTime = view.firstTime
    const step = concatColumns([view.columns(), points])
    if (blocks.seekBlockBefore(stepTime - 1) && view.count + step.times.length <= MAX_BLOCK_POINTS) {
      changes.removeBlock(tag, stepTime)
      changes.putAppended(tag, view.firstTime, view, step)
    } else changes.putBlock(tag, points)
  }
}

/** Merges points into the blocks that they fall into; the tail is none of them. */
function planIntoBlocks(changes: Changes, blocks: TagBlocks, tag: number, points: PointColumns): void {
  const { view } = blocks
  const { times } = points
  for (let start = 0; start < times.length; ) {
    const at = times[start]!
    const base = baseOf(changes, blocks, tag, times, start)
    // The run ends where the block after the base begins, and there another round begins.
    const hasNext = blocks.seekBlockAfter(base === null ? at + 1 : Math.max(at, base.times[0]!) + 1, 'header')
    const end = hasNext ? lowerBound(times, view.firstTime) : times.length
    const run = sliceColumns(points, start, end)
    const merged = base === null ? run : mergePoints(base, run)
    if (hasNext) putEven(changes, tag, merged)
    else putFull(changes, tag, merged)
    start = end
  }
}

/** The points of the block that those from index `start` on are merged into; `null` when they make blocks of their own. */
function baseOf(
  changes: Changes,
  blocks: TagBlocks,
  tag: number,
  times: Float64Array,
  start: number,
): PointColumns | null {
  const { view } = blocks
  const at = times[start]!
  if (blocks.seekBlockBefore(at)) return view.columns()
  // Before the first block: it takes in a few, and so begins earlier.
  if (!blocks.seekBlockAfter(at)) return null
  const earlier = lowerBound(times, view.firstTime) - start
  if (view.count + earlier > MAX_BLOCK_POINTS) return null
  changes.removeBlock(tag, view.firstTime)
  return view.columns()
}

/** Blocks as full as can be, for points that more will follow. */
function putFull(changes: Changes, tag: number, points: PointColumns): void {
  for (let start = 0; start < points.times.length; start += MAX_BLOCK_POINTS) {
    changes.putBlock(tag, points, start, Math.min(points.times.length, start + MAX_BLOCK_POINTS))
  }
}

/** Blocks of the same size, which leaves room in each for more in between. */
function putEven(changes: Changes, tag: number, points: PointColumns): void {
  const length = points.times.length
  const count = Math.ceil(length / MAX_BLOCK_POINTS)
  for (let i = 0; i < count; i++) {
    changes.putBlock(tag, points, Math.floor((i * length) / count), Math.floor(((i + 1) * length) / count))
  }
}
