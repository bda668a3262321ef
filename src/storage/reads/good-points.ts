import { STATUS_OK } from '../../series/columns.ts'
import type { BlockView } from '../blocks/block.ts'
import type { PointBlocks } from './point-blocks.ts'

/**
 * Walks forward over the good points of a tag. `next` is the first one at or after the instant that was moved to,
 * `last` the last one before `next` and so before the instant; NaN where there is none. Whatever lies between two asked
 * instants is looked at once, however often runs of BAD points are asked about.
 */
export class GoodPoints {
  lastTime = Number.NaN
  lastValue = Number.NaN
  nextTime = Number.NEGATIVE_INFINITY
  nextValue = Number.NaN
  readonly #blocks: PointBlocks
  #inView = false

  constructor(blocks: PointBlocks) {
    this.#blocks = blocks
  }

  /** Whether `moveTo` would stay where it is. */
  knows(at: number): boolean {
    // NaN: there is no good point after the one that was asked about before.
    return Number.isNaN(this.nextTime) || this.nextTime >= at
  }

  /** Views the block around an instant, or the last one before it; false when there is none. */
  findBlock(at: number): boolean {
    const { view } = this.#blocks
    if (this.#inView && at >= view.firstTime && at <= view.lastTime) return true
    this.#inView = this.#blocks.seekBefore(at)
    return this.#inView
  }

  /** After a yield to the event loop, the view shows something else. */
  forgetView(): void {
    this.#inView = false
  }

  /**
   * Moves where one block has the good points on both sides; false where other blocks are to be looked at, by `search`.
   * @param at not before the instant of the call before
   */
  moveTo(at: number): boolean {
    if (this.knows(at)) return true
    if (!this.findBlock(at)) return false
    const { view } = this.#blocks
    const place = view.lowerBound(at)
    const last = lastGood(view, place)
    const next = last < 0 ? -1 : firstGood(view, place)
    if (next < 0) return false
    this.#takeLast(last)
    this.#takeNext(next)
    return true
  }

  /**
   * Moves wherever the good points are, block by block, right after `moveTo` gave false: between its steps the caller
   * may yield to the event loop. Blocks that have none by their summaries are passed over; others have none when good
   * points were deleted or replaced.
   */
  *search(at: number): Generator<void, void> {
    if (!this.#inView) {
      yield* this.#findNext(this.#blocks.seekAfter(at), 0)
      return
    }
    const place = this.#blocks.view.lowerBound(at)
    yield* this.#findLast(place)
    // Looking back may have gone to other blocks.
    yield* this.#findNext(this.#inView || this.#blocks.seekBefore(at), place)
  }

  /** The last good point before index `place` of the block in view, or in the blocks before. */
  *#findLast(place: number): Generator<void, void> {
    const { view } = this.#blocks
    for (let end = place; ; ) {
      const index = lastGood(view, end)
      if (index >= 0) {
        this.#takeLast(index)
        return
      }
      const { firstTime } = view
      // All from what was `next` until here is known to hold no good point but that one.
      if (firstTime <= this.nextTime) break
      this.#inView = false
      yield
      if (!this.#blocks.seekGoodBefore(firstTime - 1, this.nextTime)) break
      end = view.lowerBound(firstTime)
    }
    if (this.nextTime !== Number.NEGATIVE_INFINITY) {
      this.lastTime = this.nextTime
      this.lastValue = this.nextValue
    }
  }

  /** The first good point from index `place` of the block in view on, or in the blocks after. */
  *#findNext(found: boolean, place: number): Generator<void, void> {
    const { view } = this.#blocks
    let isThere = found
    for (let start = place; isThere; ) {
      const index = firstGood(view, start)
      if (index >= 0) {
        this.#inView = true
        this.#takeNext(index)
        return
      }
      const { lastTime } = view
      this.#inView = false
      yield
      isThere = this.#blocks.seekGoodAfter(lastTime + 1)
      start = isThere ? view.lowerBound(lastTime + 1) : 0
    }
    this.#inView = false
    this.nextTime = Number.NaN
    this.nextValue = Number.NaN
  }

  #takeLast(index: number): void {
    const { view } = this.#blocks
    this.lastTime = view.timeAt(index)
    this.lastValue = view.valueAt(index)
  }

  #takeNext(index: number): void {
    const { view } = this.#blocks
    this.nextTime = view.timeAt(index)
    this.nextValue = view.valueAt(index)
  }
}

/** Index of the last good point before `end`; -1 without one. */
export function lastGood(view: BlockView, end: number): number {
  if (end === 0 || view.isAllBad) return -1
  if (view.chunkCount === 0) return view.plainView().statuses.lastIndexOf(STATUS_OK, end - 1)
  let index = end - 1
  while (index >= 0 && !view.isGoodAt(index)) index--
  return index
}

/** Index of the first good point from `start` on; -1 without one. */
function firstGood(view: BlockView, start: number): number {
  if (view.isAllBad) return -1
  if (view.chunkCount === 0) return view.plainView().statuses.indexOf(STATUS_OK, start)
  for (let index = start; index < view.count; index++) if (view.isGoodAt(index)) return index
  return -1
}
