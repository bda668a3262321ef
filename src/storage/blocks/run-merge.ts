import {
  copyColumns,
  lowerBoundFrom,
  makeColumns,
  type PointColumns,
  sliceColumns,
} from '../../series/columns.ts'

/** After so many points in a row of one run its next ones are looked for and copied as a whole. */
const LONG_STRETCH = 16

/**
 * Merge of some columns in time order, in steps: all at once, a million points hold up everybody else for most of a
 * tenth of a second. Of several points with the same timestamp that of the last columns counts. For a handful of
 * columns: each point is compared with the next of each.
 */
export class RunMerge {
  readonly #runs: readonly PointColumns[]
  readonly #merged: PointColumns
  readonly #places: Uint32Array
  /** Time of the next point of each; Infinity behind the last. */
  readonly #heads: Float64Array
  #length = 0

  /**
   * @param runs     all ascending and distinct, none empty; to stay as they are until the merge has ended
   * @param columns  gives memory with room for so many points at least, none of it theirs, that the result lies in
   */
  constructor(runs: readonly PointColumns[], columns: (count: number) => PointColumns = makeColumns) {
    this.#runs = runs
    this.#merged = columns(runs.reduce((sum, { times }) => sum + times.length, 0))
    this.#places = new Uint32Array(runs.length)
    this.#heads = Float64Array.from(runs, ({ times }) => times[0]!)
  }

  /** Merges so many points at most; true when all are merged. */
  step(most: number): boolean {
    const runs = this.#runs
    const { times, values, statuses } = this.#merged
    const places = this.#places
    const heads = this.#heads
    const advance = (run: number) => {
      heads[run] = runs[run]!.times[++places[run]!] ?? Number.POSITIVE_INFINITY
    }
    let length = this.#length
    /** Points in a row that came from one run. */
    let stretch = 0
    let before = -1
    const end = length + most
    for (; length < end; length++) {
      let time = Number.POSITIVE_INFINITY
      let newest = -1
      let isShared = false
      for (let run = 0; run < heads.length; run++) {
        const head = heads[run]!
        if (head > time) continue
        isShared = head === time
        time = head
        newest = run
      }
      if (time === Number.POSITIVE_INFINITY) break
      const place = places[newest]!
      times[length] = time
      values[length] = runs[newest]!.values[place]!
      statuses[length] = runs[newest]!.statuses[place]!
      if (isShared) for (let run = 0; run < newest; run++) if (heads[run] === time) advance(run)
      advance(newest)
      stretch = newest === before ? stretch + 1 : 1
      before = newest
      if (stretch < LONG_STRETCH) continue
      length += this.#copyStretch(newest, length + 1, end)
      stretch = 0
    }
    const isDone = length - this.#length < most
    this.#length = length
    return isDone
  }

  /** Copies the points of a run before the next one of any other, to places from `at` until `end`; gives how many. */
  #copyStretch(run: number, at: number, end: number): number {
    const heads = this.#heads
    let until = Number.POSITIVE_INFINITY
    for (let other = 0; other < heads.length; other++) {
      if (other !== run && heads[other]! < until) until = heads[other]!
    }
    const { times } = this.#runs[run]!
    const start = this.#places[run]!
    const stop = Math.min(lowerBoundFrom(times, until, start), start + Math.max(0, end - at))
    if (stop <= start) return 0
    copyColumns(this.#merged, at, this.#runs[run]!, start, stop)
    this.#places[run] = stop
    heads[run] = times[stop] ?? Number.POSITIVE_INFINITY
    return stop - start
  }

  /** What was merged so far. */
  get points(): PointColumns {
    return sliceColumns(this.#merged, 0, this.#length)
  }
}
