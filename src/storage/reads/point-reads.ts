import { NO_POINTS, type PointColumns } from '../../series/columns.ts'
import type { BoundingValues, FindPoint, RangeResult, SignalShape } from '../../series/reads.ts'
import type { BlockView } from '../blocks/block.ts'
import { ColumnsBuilder } from '../blocks/columns-builder.ts'
import { SignalFill } from '../blocks/signal-fill.ts'
import { atPace, type ReadPace } from '../pause.ts'
import { GoodPoints } from './good-points.ts'
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
    if (!walk.moveTo(at)) await atPace(walk.search(at), snapshot)
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
        if (!walk.moveTo(fill.at)) await atPace(walk.search(fill.at), snapshot)
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
