import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import { NO_POINTS } from '../series/columns.ts'
import type { Integrals, RangeResult } from '../series/reads.ts'
import type { Instant } from '../time/instant.ts'
import type { CurrentPoint, Piece, PieceRange, PieceStream, Series, SinglePoint } from './series.ts'

/**
 * The same value at every time, before the first point of any tag and beyond `now` too; without raw points.
 * `constants/empty` is the one whose value is NaN: it has no value anywhere.
 */
export class ConstantSeries implements Series {
  readonly stepped = true
  readonly varies = 'nothing'
  readonly straight = true
  readonly holdEnds = []
  readonly #value: number

  constructor(value: number) {
    this.#value = value
  }

  plan(): void {}

  async valuesAt(times: Float64Array): Promise<Float64Array> {
    return new Float64Array(times.length).fill(this.#value)
  }

  async currentPoint(): Promise<CurrentPoint> {
    return { time: null, value: this.#value, bad: Number.isNaN(this.#value) }
  }

  async rawPoint(): Promise<SinglePoint | null> {
    return null
  }

  async rawTime(): Promise<Instant | null> {
    return null
  }

  async rawPoints(): Promise<RangeResult> {
    return { points: NO_POINTS, more: false }
  }

  pieces({ from, to }: PieceRange): PieceStream {
    const value = this.#value
    const pieces: Piece[] = [
      { from, to, raw: NO_POINTS, valuesAt: (times) => new Float64Array(times.length).fill(value) },
    ]
    return { next: async () => pieces.pop() ?? null }
  }

  async integrals(starts: Float64Array, ends: Float64Array): Promise<Integrals> {
    if (Number.isNaN(this.#value)) {
      return { integrals: new Float64Array(starts.length), coveredUs: new Float64Array(starts.length) }
    }
    const coveredUs = starts.map((start, i) => ends[i]! - start)
    return { integrals: coveredUs.map((length) => length * this.#value), coveredUs }
  }

  async aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    const windows = edges.length - 1
    return Object.fromEntries(names.map((name) => [name, new Float64Array(windows).fill(this.#over(name))]))
  }

  /** One aggregate over any window: only timeAvg is of the signal, all others are over raw points. */
  #over(name: AggregateName): number {
    if (name === 'timeAvg') return this.#value
    return name === 'count' || name === 'numGood' || name === 'numBad' ? 0 : Number.NaN
  }
}
