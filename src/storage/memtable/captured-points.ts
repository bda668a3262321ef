import { mergePoints } from '../blocks/merge-points.ts'
import { sortPoints } from '../blocks/sort-points.ts'
import type { Tombstone } from '../parts/part.ts'
import type { SummedColumns } from './block-summaries.ts'
import type { PointLog } from './point-log.ts'
import { MOST_IN_CELLS } from './tag-points.ts'

const NONE: readonly SummedColumns[] = []

/**
 * Points of a tag in the log of a generation as they were at a moment since which the log is pinned: they are copied
 * when somebody looks at them.
 */
export class LogPoints {
  readonly #log: PointLog
  readonly #last: number
  readonly #count: number

  constructor(log: PointLog, last: number, count: number) {
    this.#log = log
    this.#last = last
    this.#count = count
  }

  columns(): SummedColumns {
    return sortPoints(this.#log.collect(this.#last, this.#count))
  }
}

/** Points of a tag in a generation as they were at a moment; `null` for none. */
export type CapturedPoints = SummedColumns | LogPoints | null

/** What was in memory of a tag at a moment. */
export interface CapturedTag {
  readonly immutable: CapturedPoints
  readonly active: CapturedPoints
  readonly tombstones: readonly Tombstone[]
}

/** The points of a tag as layers: all, each columns in time order; of the same time those of the last columns count. */
export function layersOf(immutable: CapturedPoints, active: CapturedPoints): readonly SummedColumns[] {
  const base = columnsOf(immutable)
  const over = columnsOf(active)
  if (base === null) return over === null ? NONE : [over]
  if (over === null) return [base]
  // Points that come while very many are flushed: each read would copy all of them.
  return base.times.length > MOST_IN_CELLS ? [base, over] : [mergePoints(base, over)]
}

function columnsOf(points: CapturedPoints): SummedColumns | null {
  return points instanceof LogPoints ? points.columns() : points
}
