import { lowerBound, type PointColumns, sliceColumns, upperBound } from '../series/columns.ts'
import type { BlockView } from './block.ts'
import { forEachPage } from './point-reads.ts'
import type { Snapshot } from './snapshot.ts'
import { mergePoints } from './sort-points.ts'
import { isUsable, type Stretch } from './stretch.ts'
import type { TagBlocks } from './tag-blocks.ts'

/** Takes all points of a range, in time order. */
export interface StretchSink {
  /** A stretch of points by its summary; false when its points are needed, which then come. */
  takeStretch(stretch: Stretch): boolean
  /** The points are not to be kept: they lie in memory that is used again. */
  takePoints(points: PointColumns): void
  /** Whether nothing more is wanted; asked now and then. */
  isDone?(): boolean
}

/**
 * Gives the points of [from, to) to a sink: whole pages of summaries, blocks and chunks by their summaries where the sink takes those,
 * and the rest as points. So a read over a year touches some 80 entries, and the blocks at the edges of its windows only.
 */
export async function forEachStretch(
  blocks: TagBlocks,
  from: number,
  to: number,
  snapshot: Snapshot,
  sink: StretchSink,
): Promise<void> {
  const { stored, view } = blocks
  if (stored.pages === null) {
    await forEachPage(blocks, from, to, snapshot, (points) => sink.takePoints(points))
    return
  }
  if (!(from < to)) return
  const memory = new MemoryWalk(blocks, from, to, sink)
  const take = (stretch: Stretch) =>
    stretch.firstTime >= from &&
    stretch.lastTime < to &&
    isUsable(stretch) &&
    !memory.isWithin(stretch) &&
    sink.takeStretch(stretch)
  for (const page of stored.pages.walk(from, to)) {
    if (sink.isDone?.()) return
    const { whole } = page
    if (whole !== null) {
      memory.takeUntil(whole.firstTime)
      if (take(whole)) continue
    }
    for (let block = Math.max(0, page.blockBefore(from)); block < page.count; block++) {
      const time = page.time(block)
      if (time >= to) break
      if (page.lastTime(block) < from) continue
      memory.takeUntil(time)
      const stretch = page.stretch(block)
      if (stretch !== null && take(stretch)) continue
      stored.openBlock(time)
      memory.takeBlock()
      if (snapshot.isDue()) await snapshot.rest()
      if (sink.isDone?.()) return
    }
    if (snapshot.isDue()) await snapshot.rest()
  }
  if (stored.seekTail() && view.firstTime < to) {
    memory.takeUntil(view.firstTime)
    memory.takeBlock()
  }
  memory.takeUntil(to)
}

/** Walks over the points in memory beside the stored blocks, which come in time order. */
class MemoryWalk {
  readonly #blocks: TagBlocks
  readonly #from: number
  readonly #to: number
  readonly #sink: StretchSink
  /** Index of the next point in memory, and that of the last one in the range plus 1. */
  #next: number
  readonly #end: number

  constructor(blocks: TagBlocks, from: number, to: number, sink: StretchSink) {
    this.#blocks = blocks
    this.#from = from
    this.#to = to
    this.#sink = sink
    const { head } = blocks
    this.#next = head === null ? 0 : lowerBound(head.times, from)
    this.#end = head === null ? 0 : lowerBound(head.times, to)
  }

  /** Whether points in memory lie within a stretch, or replace some of it; the next one is not before it. */
  isWithin({ lastTime }: Stretch): boolean {
    return this.#next < this.#end && this.#blocks.head!.times[this.#next]! <= lastTime
  }

  /** Gives the points in memory before `until`. */
  takeUntil(until: number): void {
    const { head } = this.#blocks
    if (this.#next >= this.#end || !(head!.times[this.#next]! < until)) return
    const end = Math.min(this.#end, lowerBound(head!.times, until))
    this.#sink.takePoints(sliceColumns(head!, this.#next, end))
    this.#next = end
  }

  /** Gives those points of the stored block in view, and of memory within it, that fall into the range. */
  takeBlock(): void {
    const { head, view } = this.#blocks
    if (this.#next < this.#end && head!.times[this.#next]! <= view.lastTime) {
      const end = Math.min(this.#end, upperBound(head!.times, view.lastTime))
      const start = view.lowerBound(this.#from)
      const stored = view.columns(start, Math.max(start, view.lowerBound(this.#to)))
      this.#sink.takePoints(mergePoints(stored, sliceColumns(head!, this.#next, end)))
      this.#next = end
    } else takeBlock(view, this.#from, this.#to, this.#sink)
  }
}

/** Gives those points of a block that fall into [from, to). */
function takeBlock(view: BlockView, from: number, to: number, sink: StretchSink): void {
  const { chunkCount } = view
  if (chunkCount === 0) {
    const start = view.lowerBound(from)
    const end = view.lowerBound(to)
    if (start < end) sink.takePoints(view.columns(start, end))
    return
  }
  let chunk = 0
  while (chunk + 1 < chunkCount && view.chunkFirstTime(chunk + 1) <= from) chunk++
  for (; chunk < chunkCount; chunk++) {
    const stretch = view.chunkStretch(chunk)
    if (stretch.lastTime < from) continue
    if (stretch.firstTime >= to) return
    const isWhole = stretch.firstTime >= from && stretch.lastTime < to && isUsable(stretch)
    if (isWhole && sink.takeStretch(stretch)) continue
    const start = Math.max(view.chunkStart(chunk), view.lowerBound(from))
    const end = Math.min(view.chunkStart(chunk + 1), view.lowerBound(to))
    sink.takePoints(view.pointsView(start, end))
  }
}
