/** Times of the first and the last of points; Infinity and -Infinity without any. */
export class TimeRange {
  first = Number.POSITIVE_INFINITY
  last = Number.NEGATIVE_INFINITY

  /** Takes times with index from start to end in. */
  widen(times: Float64Array, start: number, end: number): void {
    // In variables: a double that is put into a field is an object of its own, here one for each point.
    let { first, last } = this
    for (let i = start; i < end; i++) {
      const time = times[i]!
      if (time < first) first = time
      if (time > last) last = time
    }
    this.first = first
    this.last = last
  }

  /** Takes another range in. */
  join({ first, last }: { readonly first: number; readonly last: number }): void {
    this.first = Math.min(this.first, first)
    this.last = Math.max(this.last, last)
  }
}
