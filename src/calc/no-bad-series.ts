import { never } from '../errors/tidemark-error.ts'
import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import { goodPoints } from '../series/interpolate.ts'
import type { FindPoint, Integrals, RangeResult } from '../series/reads.ts'
import type { Instant } from '../time/instant.ts'
import {
  aggregatesByPieces,
  integralsByPieces,
  planByPieces,
  planRawByPieces,
  rawPointsByPieces,
} from './by-pieces.ts'
import { holdEndsOf } from './chords.ts'
import { findRawPoint, planFindRawPoint, whereaboutsOf } from './good-points.ts'
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

/** BAD points that a page of good ones may hold without another page being read. */
const BAD_ALLOWANCE = 64

/** A series without its BAD raw points; its signal, which passes them by, stays what it is. */
export class NoBadSeries implements Series {
  readonly stepped: boolean
  readonly varies: 'nothing' | 'time' | 'data'
  readonly straight: boolean
  readonly holdEnds: readonly Instant[]
  readonly held?: (pushDowns: boolean) => Series
  readonly goodPoint?: (find: FindPoint, at: Instant) => Promise<SinglePoint | null>
  readonly #input: Series
  readonly #name: string
  readonly #context: SeriesContext

  /** @param name the same only for equal series in equal contexts */
  constructor(input: Series, name: string, context: SeriesContext) {
    this.stepped = input.stepped
    this.varies = input.varies
    this.holdEnds = holdEndsOf(input, context)
    // Where a calculation has a BAD raw point one of its inputs may bend, and that bend then has no raw point any more.
    this.straight = input.straight && input.held !== undefined
    if (input.held !== undefined) {
      this.held = (pushDowns) => new NoBadSeries(input.held!(pushDowns), `${name} held ${pushDowns}`, context)
    }
    if (input.goodPoint !== undefined) this.goodPoint = (find, at) => input.goodPoint!(find, at)
    this.#input = input
    this.#name = name
    this.#context = context
  }

  plan(ask: Ask, ledger: Ledger): void {
    switch (ask.kind) {
      case 'values':
        this.#input.plan(ask, ledger)
        break
      case 'current':
        this.#input.plan(ask, ledger)
        this.#planFind(ask.find, ask.at, ledger)
        break
      case 'point':
        this.#planFind(ask.find, ask.at, ledger)
        break
      case 'raw-time':
        planFindRawPoint(this.#input, ask.find, whereaboutsOf(ask), this.#name, ledger)
        break
      case 'raw':
        planRawByPieces(this, ask, ledger)
        break
      case 'pieces':
        this.#input.plan({ ...ask, page: this.#pageOf(ask) }, ledger)
        break
      case 'integrals':
        if (this.straight) this.#input.plan(ask, ledger)
        else planByPieces(this, ask, this.#name, this.#context, ledger)
        break
      case 'aggregates':
        if (this.straight) this.#input.plan({ ...ask, names: namesOfAll(ask.names) }, ledger)
        else planByPieces(this, ask, this.#name, this.#context, ledger)
        break
      default:
        never(ask)
    }
  }

  valuesAt(times: Float64Array): Promise<Float64Array> {
    return this.#input.valuesAt(times)
  }

  async currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null> {
    const current = await this.#input.currentPoint(find, at)
    return current?.bad === true ? this.rawPoint(find, at) : current
  }

  rawPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    return findRawPoint(this.#input, find, at)
  }

  async rawTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    return (await this.rawPoint(find, at))?.time ?? null
  }

  rawPoints(range: RawRange): Promise<RangeResult> {
    return rawPointsByPieces(this, range, this.#context)
  }

  pieces(range: PieceRange): PieceStream {
    const stream = this.#input.pieces({ ...range, page: this.#pageOf(range) })
    return {
      next: async () => {
        const piece = await stream.next()
        return piece === null ? null : { ...piece, raw: goodPoints(piece.raw) }
      },
    }
  }

  integrals(starts: Float64Array, ends: Float64Array): Promise<Integrals> {
    return this.straight
      ? this.#input.integrals(starts, ends)
      : integralsByPieces(this, starts, ends, this.#context)
  }

  async aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    if (!this.straight) return aggregatesByPieces(this, edges, names, this.#context)
    const all = await this.#input.aggregates(edges, namesOfAll(names))
    const columns: { [name in AggregateName]?: Float64Array } = {}
    for (const name of names) {
      columns[name] =
        name === 'numBad' ? new Float64Array(edges.length - 1) : all[name === 'count' ? 'numGood' : name]!
    }
    return columns
  }

  #pageOf({ page, extent }: PieceRange): number {
    return extent === 'first' ? page + BAD_ALLOWANCE : page
  }

  #planFind(find: FindPoint, at: Instant, ledger: Ledger): void {
    planFindRawPoint(this.#input, find, { kind: 'at', at }, this.#name, ledger)
  }
}

/** The aggregates over all points that give those over the good ones; all but the counts leave BAD ones out anyway. */
function namesOfAll(names: readonly AggregateName[]): readonly AggregateName[] {
  const needed = names.map((name) => (name === 'count' || name === 'numBad' ? 'numGood' : name))
  return [...new Set(needed)]
}
