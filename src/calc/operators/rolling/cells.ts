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

/** Cells of the signal, which has no gaps between instants. */
export function signalCells({ starts, ends }: WindowBounds): Cells {
  const edges = distinctTimes(starts, ends)
  const windows = {
    first: indexesOf(edges, starts, 'at-or-after'),
    end: indexesOf(edges, ends, 'at-or-after'),
  }
  return { edges, windows }
}

/** Cells of raw points: (start, end] is [start + 1, end + 1) in whole microseconds. */
export function pointCells({ starts, ends }: WindowBounds): Cells {
  const later = (time: number): number => clampInstant(time + 1)
  return signalCells({ starts: starts.map(later), ends: ends.map(later) })
}
