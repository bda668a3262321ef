import type { PointColumns } from '../series/columns.ts'
import { forEachPage } from './point-reads.ts'
import type { Snapshot } from './snapshot.ts'
import { isUsable, type Stretch } from './stretch.ts'
import type { TagBlocks } from './tag-blocks.ts'

/** Takes all points of a range, in time order. */
export interface StretchSink {
  /** A stretch of points by its summary; false when its points are needed, which then come. */
  takeStretch(stretch: Stretch): boolean
  takePoints(points: PointColumns): void
}

/** Summaries read in one go: below a megabyte. */
const SUMMARIES = 4_096

/**
 * Gives the points of [from, to) to a sink: whole blocks and chunks by their summaries where the sink takes those, and the rest as
 * points. So a read over a year touches the blocks at the edges of its windows only.
 */
export async function forEachStretch(
  blocks: TagBlocks,
  from: number,
  to: number,
  snapshot: Snapshot,
  sink: StretchSink,
): Promise<void> {
  if (!blocks.hasSummaries) {
    await forEachPage(blocks, from, to, snapshot, (points) => sink.takePoints(points))
    return
  }
  const { view } = blocks
  if (from >= to || !blocks.seekCovering(from) || view.firstTime >= to) return
  takeBlock(blocks, from, to, sink)
  if (blocks.isTail) return
  let next = view.lastTime + 1
  while (next < to) {
    const found: { readonly time: number; readonly stretch: Stretch | null }[] = []
    blocks.eachSummary(next, to, (time, stretch) => {
      found.push({ time, stretch })
      return found.length < SUMMARIES
    })
    for (const { time, stretch } of found) {
      const isWhole = stretch !== null && stretch.lastTime < to && isUsable(stretch)
      if (!isWhole || !sink.takeStretch(stretch)) {
        blocks.seekBlockBefore(time)
        takeBlock(blocks, from, to, sink)
      }
      next = time + 1
      if (snapshot.isDue()) await snapshot.rest()
    }
    if (found.length < SUMMARIES) break
  }
  if (blocks.seekTail() && view.firstTime < to) takeBlock(blocks, from, to, sink)
}

/** Gives those points of the block in view that fall into [from, to). */
function takeBlock({ view }: TagBlocks, from: number, to: number, sink: StretchSink): void {
  for (let chunk = 0; chunk < view.chunkCount; chunk++) {
    const stretch = view.chunkStretch(chunk)
    if (stretch.lastTime < from) continue
    if (stretch.firstTime >= to) return
    const isWhole = stretch.firstTime >= from && stretch.lastTime < to && isUsable(stretch)
    if (isWhole && sink.takeStretch(stretch)) continue
    const start = Math.max(view.chunkStart(chunk), view.lowerBound(from))
    const end = Math.min(view.chunkStart(chunk + 1), view.lowerBound(to))
    sink.takePoints(view.columns(start, end))
  }
  if (view.chunkCount > 0) return
  const start = view.lowerBound(from)
  const end = view.lowerBound(to)
  if (start < end) sink.takePoints(view.columns(start, end))
}
