import type { PointColumns } from '../../series/columns.ts'
import { mergeRuns } from '../blocks/merge-points.ts'
import type { PointBatch } from '../blocks/point-batch.ts'
import { sortPoints } from '../blocks/sort-points.ts'
import { CellList } from './cell-list.ts'
import type { Cells } from './cells.ts'

/** So many are sorted at once, some milliseconds. */
const RUN_POINTS = 16_384
/** Runs of about the same size that are merged into one. */
const FAN_IN = 8

/** Sorted points. */
interface Run {
  readonly points: PointColumns
  /** How often they were merged. */
  readonly level: number
}

/**
 * Points in the order in which they came, whatever their times. They are in cells: a request often brings a single one,
 * arrays of its own would take ten times its bytes, and arrays that grow keep the garbage collector busy. Very many of
 * one tag, as a backfill in random order brings them, become sorted runs on the way, and few runs large ones
 * (logarithmic method): sorting a million at once would hold up all others for most of a second.
 */
export class LatePoints {
  /** From the oldest to the newest. */
  #runs: Run[] = []
  readonly #newest: CellList

  constructor(cells: Cells) {
    this.#newest = new CellList(cells)
  }

  /** Adds points with index from start to end, copied. */
  add(points: PointColumns, start: number, end: number): void {
    for (let from = start; from < end; ) {
      const to = Math.min(end, from + RUN_POINTS - this.#newest.length)
      this.#newest.add(points, from, to)
      if (this.#newest.length === RUN_POINTS) this.#endRun()
      from = to
    }
  }

  /** All of them in time order, one per time, the last that came. */
  sorted(): PointColumns {
    return mergeRuns(this.sortedRuns())
  }

  /**
   * The same as a handful of columns in time order, of which a later one counts before an earlier one. They stay as
   * they are for ever.
   */
  sortedRuns(): readonly PointColumns[] {
    const runs = this.#runs.map(({ points }) => points)
    return this.#newest.length === 0 ? runs : [...runs, sortPoints(this.#newest.columns())]
  }

  /** How many there are, those of the same time each. */
  get length(): number {
    return this.#runs.reduce((sum, { points }) => sum + points.times.length, this.#newest.length)
  }

  /** Adds all of them to a batch that has room, those that came later behind the others of their time. */
  copyTo(batch: PointBatch): void {
    for (const { points } of this.#runs) batch.add(points, 0, points.times.length)
    const { length } = this.#newest
    this.#newest.copy(batch.columns, batch.take(length))
  }

  /** Gives its memory back; nothing is asked of this any more. */
  release(): void {
    this.#newest.release()
    this.#runs = []
  }

  #endRun(): void {
    let run: Run = { points: sortPoints(this.#newest.columns()), level: 0 }
    this.#newest.release()
    for (;;) {
      const { level } = run
      const same = this.#runs.slice(1 - FAN_IN)
      if (same.length < FAN_IN - 1 || same.some((other) => other.level !== level)) break
      this.#runs.length -= same.length
      run = { points: mergeRuns([...same.map((other) => other.points), run.points]), level: level + 1 }
    }
    this.#runs.push(run)
  }
}
