import { makeColumns, type PointColumns, sliceColumns } from '../../series/columns.ts'

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

  /** @param runs  all ascending and distinct, none empty; to stay as they are until the merge has ended */
  constructor(runs: readonly PointColumns[]) {
    this.#runs = runs
    this.#merged = makeColumns(runs.reduce((sum, { times }) => sum + times.length, 0))
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
    for (const end = length + most; length < end; length++) {
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
    }
    const isDone = length - this.#length < most
    this.#length = length
    return isDone
  }

  /** What was merged so far. */
  get points(): PointColumns {
    return sliceColumns(this.#merged, 0, this.#length)
  }
}
