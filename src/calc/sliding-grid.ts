import { END_INSTANT } from '../time/instant.ts'
import type { MovingWindow } from './moving-window.ts'
import { TimesMemo } from './read-memo.ts'
import type { Windows } from './sliding-folds.ts'
import { distinctTimes, indexesOf } from './sliding-indexes.ts'

/** Stretches between edges, and which of them make up each window. */
export interface Cells {
  /** Ascending; one more than cells. */
  readonly edges: Float64Array
  readonly windows: Windows
}

/**
 * The windows at many times, taken apart into stretches that none of them cuts, so that each stretch is read once however
 * many windows hold it. The same object for the same times and equal windows, so that their reads are shared.
 */
export class SlidingGrid {
  /** The instants just outside the windows, for each time. */
  readonly starts: Float64Array
  /** The same, ascending and each once. */
  readonly distinctStarts: Float64Array
  /** For the signal, which has no gaps between instants. */
  readonly spans: Cells
  /** For raw points: (t - length, t] is [t - length + 1, t + 1) in whole microseconds. */
  readonly cells: Cells

  private constructor(window: MovingWindow, times: Float64Array) {
    this.starts = window.startsFor(times)
    this.distinctStarts = distinctTimes(this.starts)
    this.spans = cellsOf(this.starts, times)
    const later = (time: number): number => Math.min(time + 1, END_INSTANT)
    this.cells = cellsOf(this.starts.map(later), times.map(later))
  }

  /** @param times ascending, distinct */
  static of(window: MovingWindow, times: Float64Array): SlidingGrid {
    return grids
      .get(times, () => new Map())
      .getOrInsertComputed(window.name, () => new SlidingGrid(window, times))
  }
}

const grids = new TimesMemo<Map<string, SlidingGrid>>()

function cellsOf(starts: Float64Array, ends: Float64Array): Cells {
  const edges = distinctTimes(starts, ends)
  return {
    edges,
    windows: { first: indexesOf(edges, starts, 'at-or-after'), end: indexesOf(edges, ends, 'at-or-after') },
  }
}
