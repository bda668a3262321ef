import { SpanIntegrator } from './integrate.ts'
import type { Integrals } from './reads.ts'
import type { SignalTarget } from './signal-feeder.ts'

/** What is known of the signal in one window. */
export interface SignalWindow {
  /** In the signal's unit times microseconds; parts without a value add nothing. */
  readonly integral: number
  /** Microseconds in which the signal has a value. */
  readonly coveredUs: number
  /** The same up to `now`. */
  readonly coveredToNowUs: number
  /** Length of the window up to `now`; not above 0 where it begins at `now` or later. */
  readonly lengthToNowUs: number
  /** Microseconds in which the signal is 0. */
  readonly zeroUs: number
  /** Limit from the left at the window's start; NaN as that at its end. */
  readonly beforeStart: number
  /** Value at the window's start; NaN for none, and where no values at the edges were given. */
  readonly start: number
  /** Limit from the left at the window's end; NaN in the same way. */
  readonly end: number
}

/**
 * The signal over windows that join, fed with its linear segments in their order and, where they are needed, with its
 * values at the edges; memory is that of the windows.
 */
export class SignalWindows implements SignalTarget {
  readonly takesZero: boolean
  readonly #edges: Float64Array
  readonly #now: number
  readonly #spans: SpanIntegrator
  readonly #starts: Float64Array
  /** Limits from the left at the edges. */
  readonly #before: Float64Array
  readonly #zeroUs: Float64Array
  /** Of the window that holds `now`. */
  #coveredAfterNowUs = 0
  /** Windows before this one have ended. */
  #window = 0
  /** Edges before this one have their values. */
  #bounded = 0

  /**
   * @param edges      n + 1 ascending instants for n windows [edge, next edge)
   * @param takesZero  whether runs of segments must come with the time in which the signal is zero
   */
  constructor(edges: Float64Array, now: number, takesZero = true) {
    const windows = edges.length - 1
    this.#edges = edges
    this.#now = now
    this.takesZero = takesZero
    this.#spans = new SpanIntegrator(edges.subarray(0, -1), edges.subarray(1))
    this.#starts = new Float64Array(windows).fill(Number.NaN)
    this.#before = new Float64Array(edges.length).fill(Number.NaN)
    this.#zeroUs = new Float64Array(windows)
  }

  segment(time1: number, value1: number, time2: number, value2: number): void {
    this.#spans.segment(time1, value1, time2, value2)
    const edges = this.#edges
    const windows = edges.length - 1
    while (this.#window < windows && edges[this.#window + 1]! <= time1) this.#window++
    const isZero = value1 === 0 && value2 === 0
    const isWhole = this.#now >= time2 || this.#now <= edges[this.#window]!
    // Most segments lie inside a window.
    if (!isZero && isWhole && edges[this.#window]! < time1 && time2 < edges[this.#window + 1]!) return
    for (let i = this.#window; i < windows && edges[i]! < time2; i++) {
      const start = edges[i]!
      const end = edges[i + 1]!
      const from = Math.max(start, time1)
      const to = Math.min(end, time2)
      if (isZero) this.#zeroUs[i]! += to - from
      if (start < this.#now && to > this.#now) this.#coveredAfterNowUs += to - Math.max(from, this.#now)
    }
  }

  takes(time1: number, time2: number): boolean {
    return time2 <= this.reachFrom(time1)
  }

  /** Before the next edge, where the signal's values may be wanted, and up to `now`. */
  reachFrom(time1: number): number {
    const reach = this.#spans.reachFrom(time1) - 1
    return time1 < this.#now ? Math.min(reach, this.#now) : reach
  }

  segmentSum(time1: number, time2: number, integral: number, zeroUs: number, coveredUs: number): void {
    this.#spans.segmentSum(time1, time2, integral, zeroUs, coveredUs)
    const edges = this.#edges
    const windows = edges.length - 1
    while (this.#window < windows && edges[this.#window + 1]! <= time1) this.#window++
    const window = this.#window
    if (window === windows || edges[window]! > time1) return
    this.#zeroUs[window]! += zeroUs
    if (edges[window]! < this.#now && time2 > this.#now) this.#coveredAfterNowUs += coveredUs
  }

  /**
   * Values at the edges from an index on, and their limits from the left; edges that were given before keep theirs.
   * Segments do not say them: a signal need not be linear between its points, and has a value where a hold ends.
   */
  bounds(first: number, at: Float64Array, before: Float64Array): void {
    for (let i = 0; i < at.length; i++) {
      const edge = first + i
      if (edge < this.#bounded) continue
      if (edge < this.#starts.length) this.#starts[edge] = at[i]!
      this.#before[edge] = before[i]!
      this.#bounded = edge + 1
    }
  }

  get length(): number {
    return this.#starts.length
  }

  /** The windows, once all segments were fed: one object that stands for each in turn, as there can be very many. */
  *windows(): Generator<SignalWindow> {
    const window = new WindowCursor({
      ...this.#spans.result(),
      edges: this.#edges,
      now: this.#now,
      starts: this.#starts,
      before: this.#before,
      zeroUs: this.#zeroUs,
      coveredAfterNowUs: this.#coveredAfterNowUs,
    })
    for (; window.index < this.#starts.length; window.index++) yield window
  }
}

/** What was found out about all windows. */
interface Found extends Integrals {
  /** One more than there are windows, as `before`. */
  readonly edges: Float64Array
  readonly now: number
  readonly starts: Float64Array
  readonly before: Float64Array
  readonly zeroUs: Float64Array
  /** Of the window that holds `now`. */
  readonly coveredAfterNowUs: number
}

class WindowCursor implements SignalWindow {
  index = 0
  readonly #found: Found

  constructor(found: Found) {
    this.#found = found
  }

  get integral(): number {
    return this.#found.integrals[this.index]!
  }

  get coveredUs(): number {
    return this.#found.coveredUs[this.index]!
  }

  get coveredToNowUs(): number {
    const { edges, now, coveredAfterNowUs } = this.#found
    const holdsNow = edges[this.index]! < now && now < edges[this.index + 1]!
    return holdsNow ? this.coveredUs - coveredAfterNowUs : this.coveredUs
  }

  get lengthToNowUs(): number {
    const { edges, now } = this.#found
    return Math.min(edges[this.index + 1]!, now) - edges[this.index]!
  }

  get zeroUs(): number {
    return this.#found.zeroUs[this.index]!
  }

  get beforeStart(): number {
    return this.#found.before[this.index]!
  }

  get start(): number {
    return this.#found.starts[this.index]!
  }

  get end(): number {
    return this.#found.before[this.index + 1]!
  }
}
