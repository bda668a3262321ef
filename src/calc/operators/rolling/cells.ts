import { clampInstant } from '../../../time/instant.ts'
import type { Windows } from './folds.ts'
import { distinctTimes, indexesOf } from './indexes.ts'
import type { WindowBounds } from './window.ts'

/**
 * Cells between edges that no window cuts, and which of them make up each window: each is read once, however many hold
 * it.
 */
export interface Cells {
  /** Ascending; one more than cells. */
  readonly edges: Float64Array
  readonly windows: Windows
}

type SignalBounds = Omit<WindowBounds, 'pointStarts'>

/** Cells of the signal, which has no gaps between instants. */
export function signalCells(bounds: SignalBounds): Cells {
  const edges = distinctTimes(bounds.starts, bounds.ends)
  return { edges, windows: windowsOf(edges, bounds, 'at-or-after') }
}

/** Cells of raw points: (start, end] is [start + 1, end + 1) in whole microseconds. */
export function pointCells({ pointStarts, ends, pivots }: WindowBounds): Cells {
  const later = (time: number): number => clampInstant(time + 1)
  return signalCells({ starts: pointStarts.map(later), ends: ends.map(later), pivots: pivots.map(later) })
}

/** The raw points of each window. @param times of all, ascending */
export function pointsOf(times: Float64Array, { pointStarts, ends, pivots }: WindowBounds): Windows {
  return windowsOf(times, { starts: pointStarts, ends, pivots }, 'after')
}

/** The items of each window, from the first one after its start, or at or after it, to the first one so far its end. */
function windowsOf(
  items: Float64Array,
  { starts, ends, pivots }: SignalBounds,
  which: 'after' | 'at-or-after',
): Windows {
  return {
    first: indexesOf(items, starts, which),
    end: indexesOf(items, ends, which),
    pivots: indexesOf(items, pivots, which),
  }
}
