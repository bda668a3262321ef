import type { FindPoint } from '../../../series/reads.ts'
import { clampInstant, instantFromUs } from '../../../time/instant.ts'
import { goesBack } from '../../consumers/find-point.ts'
import type { InputNeed } from '../../graph/base.ts'
import { inWindow, type Near, nearTo, timesOf } from '../../graph/near.ts'
import { keyOf, type NeedSink, nearSink, type PointNeed, type RawNeed } from '../../graph/need.ts'
import { AROUND, MAX_BATCH, type Windowing, type WindowRange } from './windowing.ts'

/** What a need of windows takes of their input. */
export function windowNeeds(windowing: Windowing, need: InputNeed, found: NeedSink): void {
  const sink = need.near === undefined ? found : otherWindows(windowing, need.near, found)
  const around = (from: number, to: number) => windowing.around(from, to)
  switch (need.kind) {
    case 'values': {
      const reads = need.from === need.to ? need.count : 1
      partNeeds(windowing, around(need.from, need.to), reads, sink)
      break
    }
    case 'point':
      pointNeeds(windowing, need, sink)
      break
    case 'raw':
      pageNeeds(windowing, need, sink)
      break
    case 'chunks': {
      const { from, to, beyond, ranges: reads = 1, near } = need
      // Windows cost the same whether they have points or not.
      const ahead = { withNext: beyond > 0, aheadUs: near?.ahead?.mostUs ?? 0 }
      const part = beyond > 0 ? windowing.aroundPoints(from, to, beyond) : around(from, to)
      partNeeds(windowing, part, reads, sink, ahead)
      if (beyond === 0) return
      // The raw times next to both ends.
      rangeNeeds(windowing, around(from, from), reads, sink)
      rangeNeeds(windowing, around(to, to), reads, sink)
    }
  }
}

/** A place that is known only when it was found may lie in another window. */
function otherWindows({ windows, lengthUs }: Windowing, near: Near, sink: NeedSink): NeedSink {
  const { start } = windows(clampInstant(near.from))
  const { end } = windows(clampInstant(near.to))
  return nearSink(sink, inWindow(near, start, end - 1, lengthUs))
}

/** Windows of a page of raw points. */
function pageNeeds(windowing: Windowing, { from, to, order, count }: RawNeed, sink: NeedSink): void {
  const { input, lengthUs, hasGaps, isOfSignal } = windowing
  const all = windowing.around(from, to)
  const sides = { back: windowing.looksBack(all.from), forward: windowing.looksForward(all.to) }
  searchNeeds(windowing, all, 1, sink, sides)
  const reach = (count + AROUND) * lengthUs
  const isBack = order === 'desc'
  const first = isBack
    ? { ...all, from: Math.max(all.from, all.to - reach) }
    : { ...all, to: Math.min(all.to, all.from + reach) }
  if (!hasGaps) {
    // Back from `now` each window has a value, down to the first point, where the search ends.
    const isWithoutGap = isBack && to <= windowing.now && input.isGapless === true
    // Where the signal has no value, windows are gone through one by one.
    rangeNeeds(windowing, isOfSignal && !isWithoutGap ? all : first, 1, sink)
    if (isOfSignal && isWithoutGap)
      sink.need(input, { kind: 'point', find: 'before', at: clampInstant(first.from) })
    return
  }
  // Where windows are empty, those after the next raw points.
  const steps = nearTo(isBack ? to : from, isBack, count + AROUND, {
    ...input.reach(isBack ? 'before' : 'after', null),
    mostUs: all.to - all.from,
  })
  const place = { ...steps, floor: clampInstant(all.from) }
  sink.need(input, { kind: 'raw', from, to, order, count })
  rangeNeeds(windowing, first, 1, otherWindows(windowing, place, nearSink(sink, place)))
}

/** The windows around each instant. */
function pointNeeds(windowing: Windowing, need: PointNeed, sink: NeedSink): void {
  const { find, at, count = 1, from = at } = need
  const { lengthUs } = windowing
  const all = windowing.around(from, at)
  const isBack = goesBack(find)
  const sides = {
    back: isBack && windowing.looksBack(all.from),
    forward: !isBack && windowing.goesOn(all.to),
  }
  searchNeeds(windowing, all, count, sink, sides)
  // Further points lie in further windows.
  const reach = timesOf({ mostUs: AROUND * lengthUs, slackUs: lengthUs, isSure: false }, count - 1)
  const found = count > 1 ? nearSink(sink, nearTo(at, isBack, count - 1, reach)) : sink
  rangeNeeds(windowing, windowing.around(at, at), count, found)
}

/**
 * A part of what is read of the operator. Of the windows beside it, or of those behind empty ones, one is read on
 * either side where it looks further: the next one with a raw point.
 * @param ahead.withNext also where only the raw time behind the part is looked for
 * @param ahead.aheadUs  how much later the part may end
 */
function partNeeds(
  windowing: Windowing,
  around: WindowRange,
  reads: number,
  sink: NeedSink,
  { withNext, aheadUs } = { withNext: false, aheadUs: 0 },
): void {
  const { windows, hasGaps, beyond } = windowing
  const back = windowing.looksBack(around.from)
  const forward = withNext ? windowing.goesOn(around.to) : windowing.looksForward(around.to)
  const isSearched = hasGaps && windowing.searchesExactly
  const touched = {
    from: back && isSearched ? windows(clampInstant(around.from)).end : around.from,
    to: forward && isSearched ? windows(clampInstant(around.to - 1)).start : around.to,
  }
  rangeNeeds(windowing, touched, reads, sink, aheadUs)
  searchNeeds(windowing, touched, reads, sink, { back, forward })
  if (!hasGaps) return
  // Months and days with a change of clocks are not equally long, so that what functions around read may begin later
  // than it is known to, or end earlier: with a search for a window, which then is among those that are estimated, and
  // is read by itself.
  const first = { from: around.from, to: windows(clampInstant(around.from)).end }
  const last = { from: windows(clampInstant(around.to - 1)).start, to: around.to }
  if (!back && beyond.back) foundNeeds(windowing, 'before', first.to, first, reads, sink)
  if (!forward && beyond.forward) foundNeeds(windowing, 'after-or-at', last.from, last, reads, sink)
}

/** A window that is found beside an edge. */
function foundNeeds(
  windowing: Windowing,
  find: FindPoint,
  edge: number,
  window: WindowRange,
  reads: number,
  sink: NeedSink,
): void {
  sink.need(windowing.input, { kind: 'point', find, at: clampInstant(edge), count: reads, timeOnly: true })
  rangeNeeds(windowing, window, reads, sink)
}

/** @param reads how often windows at or near these are read @param aheadUs how much later they may end */
function rangeNeeds(
  { input, aggregate, lengthUs }: Windowing,
  { from: start, to: end }: WindowRange,
  reads: number,
  sink: NeedSink,
  aheadUs = 0,
): void {
  const [from, to] = [clampInstant(start), clampInstant(end)]
  if (from >= to) return
  const own = Math.max(1, Math.ceil((end - start) / lengthUs))
  const count = reads * (own + Math.min(own, Math.ceil(aheadUs / lengthUs)))
  const key = keyOf(start, end, lengthUs, reads)
  sink.need(input, { kind: 'aggregates', from, to, count, names: [aggregate], key, ranges: reads })
  // What stands beside each further batch.
  const batches = Math.floor(count / MAX_BATCH)
  const edge = { kind: 'chunks', from, to: instantFromUs(from + 1), beyond: 0, ranges: batches } as const
  if (batches > 0) sink.need(input, edge)
}

/** What is read to find the windows with values before and behind some windows, as often as there are such. */
function searchNeeds(
  windowing: Windowing,
  { from, to }: WindowRange,
  reads: number,
  sink: NeedSink,
  { back, forward }: { readonly back: boolean; readonly forward: boolean },
): void {
  const { input, lengthUs, isOfSignal, bounds } = windowing
  const need = (find: FindPoint, edge: number, all: WindowRange, nearest: WindowRange): void => {
    // The signal may have no value for long: windows of it are gone through one by one.
    if (isOfSignal) {
      rangeNeeds(windowing, all, reads, sink)
      return
    }
    if (!windowing.searchesExactly) return
    // One more, for a window whose points are all BAD.
    sink.need(input, { kind: 'point', find, at: clampInstant(edge), count: reads + 1, timeOnly: true })
    const mostUs = Math.max(0, all.to - all.from)
    const place = nearTo(clampInstant(edge), goesBack(find), 1, { ...input.reach(find, null), mostUs })
    rangeNeeds(windowing, nearest, reads, otherWindows(windowing, place, nearSink(sink, place)))
  }
  const { from: first, to: last } = bounds
  if (back)
    need('before', from, { from: first, to: from }, { from: Math.max(first, from - lengthUs), to: from })
  if (forward)
    need('after-or-at', to, { from: to, to: last }, { from: to, to: Math.min(last, to + lengthUs) })
}
