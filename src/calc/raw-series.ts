import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import type { FindPoint, Integrals, RangeResult } from '../series/reads.ts'
import type { Instant } from '../time/instant.ts'
import { integralsByPieces, planByPieces } from './by-pieces.ts'
import type {
  Ask,
  CurrentPoint,
  Ledger,
  PieceRange,
  PieceStream,
  RawRange,
  Series,
  SeriesContext,
  SinglePoint,
} from './series.ts'

/** A series whose integrals are worked out from its raw points, whatever the historians could integrate themselves. */
export class RawSeries implements Series {
  readonly stepped: boolean
  readonly varies: 'nothing' | 'time' | 'data'
  readonly straight: boolean
  readonly #input: Series
  readonly #name: string
  readonly #context: SeriesContext

  /** @param name the same only for equal series in equal contexts */
  constructor(input: Series, name: string, context: SeriesContext) {
    this.stepped = input.stepped
    this.varies = input.varies
    this.straight = input.straight
    this.#input = input
    this.#name = name
    this.#context = context
  }

  plan(ask: Ask, ledger: Ledger): void {
    if (ask.kind === 'integrals') planByPieces(this.#input, ask, `raw ${this.#name}`, this.#context, ledger)
    else this.#input.plan(ask, ledger)
  }

  valuesAt(times: Float64Array): Promise<Float64Array> {
    return this.#input.valuesAt(times)
  }

  currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null> {
    return this.#input.currentPoint(find, at)
  }

  rawPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    return this.#input.rawPoint(find, at)
  }

  rawPoints(range: RawRange): Promise<RangeResult> {
    return this.#input.rawPoints(range)
  }

  rawTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    return this.#input.rawTime(find, at)
  }

  pieces(range: PieceRange): PieceStream {
    return this.#input.pieces(range)
  }

  integrals(starts: Float64Array, ends: Float64Array): Promise<Integrals> {
    return integralsByPieces(this.#input, starts, ends, this.#context)
  }

  aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    return this.#input.aggregates(edges, names)
  }
}
