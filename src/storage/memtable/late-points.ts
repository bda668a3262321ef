import { makeColumns, NO_POINTS, type PointColumns, sliceColumns } from '../../series/columns.ts'
import { mergeRuns, sortPoints } from '../blocks/sort-points.ts'

const LEAST_CAPACITY = 16
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
 * Points in the order in which they came, whatever their times. They grow in one piece: a request often brings a single
 * one, and arrays of its own would take ten times its bytes. Very many of one tag, as a backfill in random order brings
 * them, become sorted runs on the way, and few runs large ones (logarithmic method): sorting a million at once would
 * hold up all others for most of a second.
 */
export class LatePoints {
  /** From the oldest to the newest. */
  #runs: Run[] = []
  #columns: PointColumns = NO_POINTS
  #length = 0

  /** Adds points with index from start to end, copied. */
  add(points: PointColumns, start: number, end: number): void {
    for (let from = start; from < end; ) {
      const to = Math.min(end, from + RUN_POINTS - this.#length)
      this.#add(points, from, to)
      if (this.#length === RUN_POINTS) this.#endRun()
      from = to
    }
  }

  /** All of them in time order, one per time, the last that came. Valid until more are added. */
  sorted(): PointColumns {
    const runs = this.#runs.map(({ points }) => points)
    return mergeRuns(this.#length === 0 ? runs : [...runs, sortPoints(this.#unsorted())])
  }

  #add(points: PointColumns, start: number, end: number): void {
    const length = this.#length + end - start
    if (length > this.#columns.times.length) this.#reserve(length)
    const { times, values, statuses } = this.#columns
    for (let from = start, to = this.#length; from < end; from++, to++) {
      times[to] = points.times[from]!
      values[to] = points.values[from]!
      statuses[to] = points.statuses[from]!
    }
    this.#length = length
  }

  #unsorted(): PointColumns {
    return sliceColumns(this.#columns, 0, this.#length)
  }

  #endRun(): void {
    const points = sortPoints(this.#unsorted())
    // What was in order already is the memory that the next points take.
    if (points.times.buffer === this.#columns.times.buffer) this.#columns = NO_POINTS
    this.#length = 0
    let run: Run = { points, level: 0 }
    for (;;) {
      const { level } = run
      const same = this.#runs.slice(1 - FAN_IN)
      if (same.length < FAN_IN - 1 || same.some((other) => other.level !== level)) break
      this.#runs.length -= same.length
      run = { points: mergeRuns([...same.map((other) => other.points), run.points]), level: level + 1 }
    }
    this.#runs.push(run)
  }

  #reserve(needed: number): void {
    const grown = makeColumns(Math.max(LEAST_CAPACITY, needed, Math.ceil(this.#length * 1.5)))
    const { times, values, statuses } = this.#unsorted()
    grown.times.set(times)
    grown.values.set(values)
    grown.statuses.set(statuses)
    this.#columns = grown
  }
}
