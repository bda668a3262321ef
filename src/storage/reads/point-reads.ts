import { NO_POINTS, type PointColumns } from '../../series/columns.ts'
import type { BoundingValues, FindPoint, RangeResult, SignalShape } from '../../series/reads.ts'
import type { BlockView } from '../blocks/block.ts'
import { ColumnsBuilder } from '../blocks/columns-builder.ts'
import { SignalFill } from '../blocks/signal-fill.ts'
import type { ReadPace } from '../pause.ts'
import type { PointBlocks } from './point-blocks.ts'

// Instants are whole: "before at" is "at or before at - 1", and "after at" is "at or after at + 1".

/** Writes the raw point that `find` asks for into columns at `index`; false when there is none. */
export function readPoint(
  blocks: PointBlocks,
  find: FindPoint,
  at: number,
  target: PointColumns,
  index: number,
): boolean {
  const { view } = blocks
  if (find === 'before' || find === 'before-or-at') {
    const last = find === 'before' ? at - 1 : at
    if (!blocks.seekBefore(last)) return false
    const place = view.lowerBound(last + 1) - 1
    view.copyTo(target, index, place, place + 1)
    return true
  }
  const first = find === 'after' ? at + 1 : at
  if (!blocks.seekCovering(first)) return false
  const place = view.lowerBound(first)
  view.copyTo(target, index, place, place + 1)
  return true
}

/** Points of [from, to), the first `limit` of them in an order. */
interface ReadPage {
  readonly from: number
  readonly to: number
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

/** The first `limit` points of [from, to) in the order asked. */
export async function readRange(
  blocks: PointBlocks,
  range: ReadPage,
  snapshot: ReadPace,
): Promise<RangeResult> {
  const { from, to, limit } = range
  const { view } = blocks
  const backwards = range.order === 'desc'
  let builder: ColumnsBuilder | null = null
  let found = backwards ? blocks.seekBefore(to - 1, from) : blocks.seekCovering(from, to)
  while (found) {
    const start = view.lowerBound(from)
    const end = view.lowerBound(to)
    if (start >= end) break
    const room = limit - (builder?.length ?? 0)
    if (room === 0) return { points: builder!.finish(), more: true }
    const taken = Math.min(end - start, room)
    if (builder === null) builder = new ColumnsBuilder(taken, limit)
    else builder.expect(expectedPoints(builder.length, range, view))
    if (backwards) builder.add(view, end - taken, end, true)
    else builder.add(view, start, start + taken, false)
    if (taken < end - start) return { points: builder.finish(), more: true }
    const { firstTime, lastTime } = view
    if (snapshot.isDue()) await snapshot.pause()
    found = backwards ? blocks.seekBefore(firstTime - 1, from) : blocks.seekAfter(lastTime + 1, to)
  }
  return { points: builder?.finish() ?? NO_POINTS, more: false }
}

/**
 * How many points a range may have in all, if they are as dense everywhere as the `length` that were read up to the
 * block in view.
 */
function expectedPoints(length: number, { from, to, order }: ReadPage, view: BlockView): number {
  const passed = order === 'asc' ? view.firstTime - from : to - view.lastTime
  return Math.ceil((1.05 * length * (to - from)) / passed)
}

/** Number of points in [from, to), most of them by the counts that blocks state; counting stops at `cap` or above. */
export async function countPoints(
  blocks: PointBlocks,
  from: number,
  to: number,
  cap: number,
  snapshot: ReadPace,
): Promise<number> {
  let count = 0
  await blocks.eachZoneMap(from, to, snapshot, {
    takeZoneMap(zoneMap) {
      count += zoneMap.count
      return true
    },
    takePoints(points) {
      count += points.times.length
    },
    isDone: () => count >= cap,
  })
  return count
}

/** The last good point at or before and the first good one at or after each time; times ascending. */
export async function readBoundingValues(
  blocks: PointBlocks,
  times: Float64Array,
  snapshot: ReadPace,
): Promise<BoundingValues> {
  const found: BoundingValues = {
    beforeTimes: new Float64Array(times.length),
    beforeValues: new Float64Array(times.length),
    afterTimes: new Float64Array(times.length),
    afterValues: new Float64Array(times.length),
  }
  const walk = new GoodPoints(blocks)
  for (let i = 0; i < times.length; i++) {
    const at = times[i]!
    walk.moveTo(at)
    if (walk.nextTime === at) {
      found.beforeTimes[i] = walk.nextTime
      found.beforeValues[i] = walk.nextValue
    } else {
      found.beforeTimes[i] = walk.lastTime
      found.beforeValues[i] = walk.lastValue
    }
    found.afterTimes[i] = walk.nextTime
    found.afterValues[i] = walk.nextValue
    if (snapshot.isDue()) {
      await snapshot.pause()
      walk.forgetView()
    }
  }
  return found
}

/**
 * Values of the signal at ascending times: those of `interpolate` between bounding values, worked out where the points
 * lie. NaN where it has none.
 */
export async function readInterpolated(
  blocks: PointBlocks,
  times: Float64Array,
  shape: SignalShape,
  snapshot: ReadPace,
): Promise<Float64Array> {
  const { view } = blocks
  const fill = new SignalFill(times, shape)
  const walk = new GoodPoints(blocks)
  while (!fill.isDone) {
    const hasMoved = walk.findBlock(fill.at) && fill.takeBlock(view)
    if (fill.isDone) break
    let isDue = snapshot.isDue()
    // What a block leaves lies before its first good point or behind its last one, where other blocks have a say.
    if (!hasMoved || fill.at <= view.lastTime) {
      do {
        walk.moveTo(fill.at)
        fill.takeBoundingValues(walk)
        isDue = snapshot.isDue()
      } while (!isDue && !fill.isDone && walk.knows(fill.at))
    }
    if (isDue) {
      await snapshot.pause()
      walk.forgetView()
    }
  }
  return fill.values
}

/**
 * Walks forward over the good points of a tag. `next` is the first one at or after the instant that was moved to,
 * `last` the last one before `next` and so before the instant; NaN where there is none. Whatever lies between two asked
 * instants is looked at once, however often runs of BAD points are asked about.
 */
class GoodPoints {
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

  /** After others were let in, the view shows something else. */
  forgetView(): void {
    this.#inView = false
  }

  /** @param at not before the instant of the call before */
  moveTo(at: number): void {
    if (this.knows(at)) return
    if (!this.findBlock(at)) {
      this.#findNext(this.#blocks.seekAfter(at), 0)
      return
    }
    const place = this.#blocks.view.lowerBound(at)
    this.#findLast(place)
    // Looking back may have gone to other blocks.
    if (this.#inView) this.#findNext(true, place)
    else this.#findNext(this.#blocks.seekBefore(at), place)
  }

  /** The last good point before index `place` of the block in view, or in the blocks before. */
  #findLast(place: number): void {
    const { view } = this.#blocks
    this.#inView = true
    for (let end = place; ; ) {
      const index = lastGood(view, end)
      if (index >= 0) {
        this.lastTime = view.timeAt(index)
        this.lastValue = view.valueAt(index)
        return
      }
      // All from what was `next` until here is known to hold no good point but that one.
      if (view.firstTime <= this.nextTime || !this.#blocks.seekBefore(view.firstTime - 1)) break
      this.#inView = false
      end = view.count
    }
    if (this.nextTime !== Number.NEGATIVE_INFINITY) {
      this.lastTime = this.nextTime
      this.lastValue = this.nextValue
    }
  }

  /** The first good point from index `place` of the block in view on, or in the blocks after. */
  #findNext(found: boolean, place: number): void {
    const { view } = this.#blocks
    for (let start = place; found; start = 0) {
      const index = firstGood(view, start)
      if (index >= 0) {
        this.#inView = true
        this.nextTime = view.timeAt(index)
        this.nextValue = view.valueAt(index)
        return
      }
      found = this.#blocks.seekAfter(view.lastTime + 1)
    }
    this.#inView = false
    this.nextTime = Number.NaN
    this.nextValue = Number.NaN
  }
}

/** Index of the last good point before `end`; -1 without one. */
function lastGood(view: BlockView, end: number): number {
  if (view.isAllBad) return -1
  let index = end - 1
  while (index >= 0 && !view.isGoodAt(index)) index--
  return index
}

/** Index of the first good point from `start` on; -1 without one. */
function firstGood(view: BlockView, start: number): number {
  if (view.isAllBad) return -1
  for (let index = start; index < view.count; index++) if (view.isGoodAt(index)) return index
  return -1
}
