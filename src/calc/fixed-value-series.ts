import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import { NO_POINTS } from '../series/columns.ts'
import type { Integrals, RangeResult } from '../series/reads.ts'
import type { Instant } from '../time/instant.ts'
import { ConstantSeries } from './constant-series.ts'
import { timesFor } from './read-memo.ts'
import type {
  Ask,
  CurrentPoint,
  Ledger,
  PieceRange,
  PieceStream,
  Series,
  SeriesSource,
  SinglePoint,
} from './series.ts'

/** The value that a series has at one instant, the same at every time. Has no raw points. */
export class FixedValueSeries implements Series {
  readonly stepped = true
  readonly varies = 'nothing'
  readonly straight = true
  readonly holdEnds = []
  readonly #input: Series
  readonly #at: Instant
  readonly #source: SeriesSource
  #constant: Promise<ConstantSeries> | null = null

  constructor(input: Series, at: Instant, source: SeriesSource) {
    this.#input = input
    this.#at = at
    this.#source = source
  }

  plan(ask: Ask, ledger: Ledger): void {
    if (ask.kind === 'raw' || ask.kind === 'raw-time' || ask.kind === 'point') return
    const at = this.#at
    this.#input.plan({ kind: 'values', grid: String(at), count: 1, from: at, to: at }, ledger)
  }

  async valuesAt(times: Float64Array): Promise<Float64Array> {
    return (await this.#read()).valuesAt(times)
  }

  async currentPoint(): Promise<CurrentPoint> {
    return (await this.#read()).currentPoint()
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

  pieces(range: PieceRange): PieceStream {
    let stream: PieceStream | null = null
    return {
      next: async () => {
        stream ??= (await this.#read()).pieces(range)
        return stream.next()
      },
    }
  }

  async integrals(starts: Float64Array, ends: Float64Array): Promise<Integrals> {
    return (await this.#read()).integrals(starts, ends)
  }

  async aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    return (await this.#read()).aggregates(edges, names)
  }

  #read(): Promise<ConstantSeries> {
    this.#constant ??= this.#input
      .valuesAt(timesFor(this.#source, this.#at))
      .then((values) => new ConstantSeries(values[0]!))
    return this.#constant
  }
}
