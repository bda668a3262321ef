import { CompensatedSum } from '../series/sum.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../time/instant.ts'
import type { DynamicWindow, LaidWindows, WindowLayout } from '../time/total-windows.ts'
import { sumsInAnyOrder } from './sliding-folds.ts'
import { distinctTimes, indexesOf } from './sliding-indexes.ts'

/**
 * The spans whose integrals give totals at many times. They join wherever they can, so that each stretch of the input is
 * integrated once, however many times fall into a window.
 */
export interface TotalSpans {
  readonly starts: Float64Array
  readonly ends: Float64Array
  /** Totals at the times, in the input's unit times microseconds, from the integrals of the spans. */
  totals(integrals: Float64Array): Float64Array
}

/** @param times ascending */
export function spansOf(layout: WindowLayout, times: Float64Array): TotalSpans {
  return layout.kind === 'laid' ? laidSpans(layout, times) : dynamicSpans(layout, times)
}

/** Start of the window that holds t, cut at the first accepted instant: no tag can have points before it. */
export function windowStart(layout: LaidWindows, at: Instant): Instant {
  return instantFromUs(Math.max(layout.startAt(at), MIN_INSTANT))
}

/** A span to each time, from the time before it or from the start of its window; a total adds up the spans of its window. */
function laidSpans(layout: LaidWindows, times: Float64Array): TotalSpans {
  const starts = new Float64Array(times.length)
  const ends = new Float64Array(times.length)
  /** For each time the number of spans up to it. */
  const reached = new Uint32Array(times.length)
  const opens = new Uint8Array(times.length)
  let count = 0
  let previous = Number.NEGATIVE_INFINITY
  for (let i = 0; i < times.length; i++) {
    const at = times[i]!
    const start = windowStart(layout, instantFromUs(at))
    opens[i] = Number(start > previous)
    const from = Math.max(start, previous)
    if (from < at) {
      starts[count] = from
      ends[count] = at
      count++
    }
    reached[i] = count
    previous = at
  }
  return {
    starts: starts.subarray(0, count),
    ends: ends.subarray(0, count),
    totals: (integrals) => {
      const totals = new Float64Array(times.length)
      const sum = new CompensatedSum()
      let span = 0
      for (let i = 0; i < times.length; i++) {
        if (opens[i] === 1) sum.reset()
        for (; span < reached[i]!; span++) sum.add(integrals[span]!)
        totals[i] = sum.value
      }
      return totals
    },
  }
}

/** Spans between all starts and ends of windows; a total adds up those of its window. */
function dynamicSpans(layout: DynamicWindow, times: Float64Array): TotalSpans {
  const from = times.map((at) => clamp(layout.startFor(instantFromUs(at))))
  const to = times.map((at, i) => Math.max(clamp(layout.endFor(instantFromUs(at))), from[i]!))
  const edges = distinctTimes(from, to)
  const first = indexesOf(edges, from, 'at-or-after')
  const end = indexesOf(edges, to, 'at-or-after')
  return {
    starts: edges.subarray(0, -1),
    ends: edges.subarray(1),
    totals: (integrals) => sumsInAnyOrder(integrals, { first, end }),
  }
}

function clamp(at: Instant): number {
  return Math.min(Math.max(at, MIN_INSTANT), END_INSTANT)
}
