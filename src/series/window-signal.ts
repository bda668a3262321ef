import { takesBounds } from './aggregate.ts'
import type { AggregateName } from './aggregate-names.ts'
import { lowerBound, NO_POINTS, upperBoundFrom } from './columns.ts'
import { type EdgePoint, valuesFromGoodPoints } from './interpolate.ts'
import type { SignalShape } from './reads.ts'
import { SignalFeeder } from './signal-feeder.ts'
import { SignalWindows } from './signal-windows.ts'

/**
 * The signal of a tag over windows that join, fed with its points and their summaries, with its values at the edges.
 */
export class WindowSignal extends SignalFeeder {
  readonly #edges: Float64Array
  readonly #windows: SignalWindows
  /** Index of the first edge whose values are not known; after the last where none are wanted. */
  #edge: number

  /**
   * @param edges  n + 1 ascending instants for n windows [edge, next edge)
   * @param names  the aggregates that are wanted
   */
  constructor(edges: Float64Array, names: readonly AggregateName[], shape: SignalShape) {
    const takesZero = names.includes('durationZero') || names.includes('durationNonZero')
    const windows = new SignalWindows(edges, shape.holdUntil, takesZero)
    super(windows, shape)
    this.#edges = edges
    this.#windows = windows
    this.#edge = takesBounds(names) ? 0 : edges.length
  }

  override addPoint(time: number, value: number): void {
    if (this.#edge < this.#edges.length && time >= this.#edges[this.#edge]!) this.#bound({ time, value })
    super.addPoint(time, value)
  }

  /** The windows, once all points were fed. */
  finish(): SignalWindows {
    this.#bound(null)
    this.end()
    return this.#windows
  }

  /** Gives the values at the edges between the last good point and the next one; `null` where there is none. */
  #bound(next: EdgePoint | null): void {
    const edges = this.#edges
    const prev = Number.isNaN(this.time) ? null : { time: this.time, value: this.value }
    // Before the first point there is no value.
    const first = prev === null ? lowerBound(edges, next?.time ?? Number.POSITIVE_INFINITY) : this.#edge
    const end = next === null ? edges.length : upperBoundFrom(edges, next.time, Math.max(first, this.#edge))
    if (end <= first) return
    this.#edge = end
    const times = edges.subarray(first, end)
    const at = valuesFromGoodPoints(NO_POINTS, prev, next, times, this.shape, 'at')
    const before = valuesFromGoodPoints(NO_POINTS, prev, next, times, this.shape, 'before')
    this.#windows.bounds(first, at, before)
  }
}
