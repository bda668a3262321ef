import { never } from '../errors/tidemark-error.ts'
import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import { lowerBound, reverseColumns, STATUS_BAD, upperBound } from '../series/columns.ts'
import type { FindPoint, Integrals, RangeResult } from '../series/reads.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../time/instant.ts'
import { readsNoRange } from './bounded-reads.ts'
import {
  aggregatesByPieces,
  integralsByPieces,
  planByPieces,
  planRawByPieces,
  rawPointsByPieces,
  streamOf,
} from './by-pieces.ts'
import type { MovingWindow } from './moving-window.ts'
import { breathe, pagePoints } from './page.ts'
import { namedTimes, TimesMemo, timesFor, windowSpans } from './read-memo.ts'
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
import { slidingExtremes, slidingSums, slidingVariances } from './sliding-folds.ts'
import { SlidingGrid } from './sliding-grid.ts'
import { planSliding, type SlidingSource, SlidingStream } from './sliding-stream.ts'
import { knotsOf, larger, type SlidingOp, smaller } from './sliding-stretch.ts'

/** More raw points than this come cheaper from a stream, even where the historians could work out each window. */
const MAX_RAW_BY_VALUES = 10_000

/**
 * An aggregate over the window (t - length, t] at every t. Raw points stand at those of the input.
 * @source CALCULATIONS.md, section 8
 */
export class SlidingSeries implements Series, SlidingSource {
  readonly stepped: boolean
  readonly varies: 'nothing' | 'time' | 'data'
  readonly straight: boolean
  readonly input: Series
  readonly op: SlidingOp
  readonly window: MovingWindow
  readonly context: SeriesContext
  readonly name: string
  readonly #values = new TimesMemo<Promise<Float64Array>>()
  #isBounded: boolean | null = null

  /** @param name the same only for equal series in equal contexts */
  constructor(input: Series, op: SlidingOp, window: MovingWindow, name: string, context: SeriesContext) {
    this.varies = input.varies
    this.stepped = input.varies === 'nothing'
    this.straight = input.varies === 'nothing'
    this.input = input
    this.op = op
    this.window = window
    this.context = context
    this.name = name
  }

  plan(ask: Ask, ledger: Ledger): void {
    switch (ask.kind) {
      case 'values':
        this.#planValues(ask, ledger)
        break
      case 'current': {
        const { at } = ask
        this.#planValues({ kind: 'values', grid: `current ${at}`, count: 1, from: at, to: at }, ledger)
        break
      }
      case 'raw-time':
        this.input.plan(ask, ledger)
        break
      case 'point': {
        const { find, at } = ask
        this.input.plan({ kind: 'raw-time', find, at }, ledger)
        this.input.plan(ask, ledger)
        const near = `${this.name} ${find} ${at}`
        if (this.#bounded()) {
          const isBefore = find === 'before' || find === 'before-or-at'
          const [from, to] = isBefore ? [MIN_INSTANT, at] : [at, END_INSTANT]
          this.#planValues({ kind: 'values', grid: near, count: 1, from, to, near: { find, at } }, ledger)
        } else
          planSliding(
            this,
            { kind: 'pieces', ...pointRange(at, at), page: this.#page(), widened: near },
            ledger,
          )
        break
      }
      case 'raw':
        if (this.#isRawByValues(ask)) {
          const { from, to, limit } = ask
          this.input.plan(ask, ledger)
          this.#planValues({ kind: 'values', grid: this.#rawGrid(ask), count: limit, from, to }, ledger)
        } else planRawByPieces(this, ask, ledger)
        break
      case 'pieces':
        planSliding(this, ask, ledger)
        break
      case 'integrals':
      case 'aggregates':
        planByPieces(this, ask, this.name, this.context, ledger)
        break
      default:
        never(ask)
    }
  }

  valuesAt(times: Float64Array): Promise<Float64Array> {
    return this.#values.get(times, async () => {
      if (times.length === 0) return times
      const values = await this.#evaluate(times, SlidingGrid.of(this.window, times))
      return values.map((value) => (Number.isFinite(value) ? value : Number.NaN))
    })
  }

  async currentPoint(_find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint> {
    const value = (await this.valuesAt(timesFor(this.context.source, at)))[0]!
    return { time: at, value, bad: Number.isNaN(value) }
  }

  rawTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    return this.input.rawTime(find, at)
  }

  async rawPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const time = await this.input.rawTime(find, at)
    if (time === null) return null
    const [point, value] = await Promise.all([this.input.rawPoint(find, at), this.#valueNear(time, at)])
    return { time, value, bad: Number.isNaN(value) || (point?.bad ?? false) }
  }

  async rawPoints(range: RawRange): Promise<RangeResult> {
    if (!this.#isRawByValues(range)) return rawPointsByPieces(this, range, this.context)
    const { points, more } = await this.input.rawPoints(range)
    const ascending = range.order === 'asc' ? points : reverseColumns(points)
    const times = namedTimes(this.context.source, this.#rawGrid(range), () => ascending.times)
    const values = await this.valuesAt(times)
    const statuses = ascending.statuses.map((status, i) => (Number.isNaN(values[i]!) ? STATUS_BAD : status))
    const found = { times, values, statuses }
    return { points: range.order === 'asc' ? found : reverseColumns(found), more }
  }

  pieces(range: PieceRange): PieceStream {
    return new SlidingStream(this, range)
  }

  integrals(starts: Float64Array, ends: Float64Array): Promise<Integrals> {
    return integralsByPieces(this, starts, ends, this.context)
  }

  aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    return aggregatesByPieces(this, edges, names, this.context)
  }

  async #evaluate(times: Float64Array, grid: SlidingGrid): Promise<Float64Array> {
    const { op, input } = this
    const { edges, windows } = grid.cells
    switch (op) {
      case 'AVG': {
        const { spans } = grid
        const { integrals, coveredUs } = await input.integrals(...windowSpans(spans.edges))
        const covered = slidingSums(coveredUs, spans.windows)
        const means = slidingSums(integrals, spans.windows).map((integral, i) => integral / covered[i]!)
        if (covered.every((length) => length > 0)) return means
        // Where the signal has just begun, the part of the window that has some is that instant.
        const values = await input.valuesAt(times)
        return means.map((mean, i) => (covered[i]! > 0 ? mean : values[i]!))
      }
      case 'MIN':
      case 'MAX': {
        const which = op === 'MIN' ? 'min' : 'max'
        const [inside, last, first] = await Promise.all([
          this.#extremesOf(edges, which),
          input.valuesAt(times),
          input.valuesAt(grid.distinctStarts),
        ])
        const pick = which === 'min' ? smaller : larger
        return slidingExtremes(inside, windows, which).map((value, i) =>
          pick(value, pick(last[i]!, atTime(first, grid, i))),
        )
      }
      case 'COUNT':
      case 'NUMGOOD':
      case 'NUMBAD': {
        const name = COUNTS[op]
        return slidingSums((await input.aggregates(edges, [name]))[name]!, windows)
      }
      case 'SUM': {
        const sums = (await input.aggregates(edges, ['sum'])).sum!
        const filled = slidingSums(
          sums.map((sum) => Number(!Number.isNaN(sum))),
          windows,
        )
        return slidingSums(sums, windows).map((sum, i) => (filled[i]! > 0 ? sum : Number.NaN))
      }
      case 'STDDEV':
      case 'VAR': {
        const { numGood, avg, variance } = await input.aggregates(edges, MOMENTS)
        const squares = variance!.map((one, i) => (numGood![i]! > 1 ? one * (numGood![i]! - 1) : 0))
        const found = slidingVariances({ counts: numGood!, means: avg!, squares }, windows)
        return op === 'VAR' ? found : found.map(Math.sqrt)
      }
      case 'DIFF': {
        const [last, first] = await Promise.all([input.valuesAt(times), input.valuesAt(grid.distinctStarts)])
        return last.map((value, i) => value - atTime(first, grid, i))
      }
      default:
        return never(op)
    }
  }

  /** Least or greatest value of the signal inside each cell; its values at the edges count elsewhere. */
  async #extremesOf(edges: Float64Array, which: 'min' | 'max'): Promise<Float64Array> {
    const { input, context } = this
    if (this.#hasExtremesInPoints()) return (await input.aggregates(edges, [which]))[which]!
    const pick = which === 'min' ? smaller : larger
    const extremes = new Float64Array(Math.max(0, edges.length - 1)).fill(Number.NaN)
    if (extremes.length === 0) return extremes
    const stream = input.pieces(streamOf(edges[0]!, edges.at(-1)!, context))
    for (let piece = await stream.next(); piece !== null; piece = await stream.next()) {
      const times = knotsOf(piece, context.now)
      const at = piece.valuesAt(times, 'at')
      const before = piece.valuesAt(times, 'before')
      for (let i = 0, cell = 0; i < times.length; i++) {
        if (i === 0) cell = upperBound(edges, times[0]!) - 1
        while (edges[cell + 1]! <= times[i]!) cell++
        extremes[cell] = pick(extremes[cell]!, pick(at[i]!, before[i]!))
      }
      await breathe(context)
    }
    return extremes
  }

  /** Whether no value of the signal lies further out than those at raw points and at the ends of a window. */
  #hasExtremesInPoints(): boolean {
    return this.input.held !== undefined || this.input.varies === 'nothing'
  }

  /** The value at a raw time of the input next to an instant. */
  async #valueNear(time: Instant, at: Instant): Promise<number> {
    const times = timesFor(this.context.source, time)
    if (this.#bounded()) return (await this.valuesAt(times))[0]!
    const range = { ...pointRange(time, time), page: this.#page(), wantedFrom: at }
    const piece = await this.pieces(range).next()
    return piece === null ? Number.NaN : piece.valuesAt(times, 'at')[0]!
  }

  /** Whether the value at a time costs a number of points that is known without knowing the time. */
  #bounded(): boolean {
    if (this.#isBounded === null) {
      const from = this.context.now
      const probe = { grid: 'probe', from, to: instantFromUs(from + 1) }
      this.#isBounded = this.#asksFor(probe, 1).every((ask) => readsNoRange(this.input, ask))
    }
    return this.#isBounded
  }

  #isRawByValues({ limit }: RawRange): boolean {
    return limit <= MAX_RAW_BY_VALUES && this.#bounded()
  }

  #rawGrid({ from, to, order, limit }: RawRange): string {
    return `${this.name} raw ${from} ${to} ${order} ${limit}`
  }

  #page(): number {
    return pagePoints(this.context)
  }

  #planValues(ask: Ask & { readonly kind: 'values' }, ledger: Ledger): void {
    const { grid, count, near } = ask
    const { window } = this
    let { from, to } = ask
    if (near !== undefined && this.varies !== 'data') {
      // What follows from the time alone has raw points close to any instant, and costs nothing anyway.
      const isBefore = near.find === 'before' || near.find === 'before-or-at'
      from = isBefore ? window.earliestStart(near.at) : near.at
      to = near.at
    }
    const reach = { grid, from: window.earliestStart(from), to }
    for (const one of this.#asksFor(reach, count)) this.input.plan(one, ledger)
    if (this.op === 'COUNT' || this.op === 'NUMGOOD' || this.op === 'NUMBAD') return
    if (this.op === 'AVG' || this.op === 'DIFF' || this.op === 'MIN' || this.op === 'MAX') {
      this.input.plan(ask, ledger)
    }
  }

  /**
   * What the values at `count` times need of the input beside its values at those times.
   * @param reach from the start of the first window on
   */
  #asksFor(
    reach: { readonly grid: string; readonly from: Instant; readonly to: Instant },
    count: number,
  ): readonly Ask[] {
    const { op } = this
    const from = reach.from
    const to = instantFromUs(Math.min(reach.to + 1, END_INSTANT))
    const grid = `${reach.grid} sliding ${this.window.name}`
    // One end of a window can fall between those of another, which makes twice as many stretches as windows.
    const twice = 2 * count
    switch (op) {
      case 'AVG':
        return [{ kind: 'integrals', grid, spans: twice, from, to: reach.to }]
      case 'DIFF':
        return [{ kind: 'values', grid: `${grid} starts`, count, from, to: reach.to }]
      case 'MIN':
      case 'MAX': {
        const starts = { kind: 'values', grid: `${grid} starts`, count, from, to: reach.to } as const
        if (this.#hasExtremesInPoints())
          return [starts, this.#cells(grid, twice, from, to, [op === 'MIN' ? 'min' : 'max'])]
        const stream = streamOf(from, to, this.context)
        return [starts, { kind: 'pieces', ...stream, widened: `${this.name} cells ${grid}`, inside: true }]
      }
      case 'COUNT':
      case 'NUMGOOD':
      case 'NUMBAD':
        return [this.#cells(grid, twice, from, to, [COUNTS[op]])]
      case 'SUM':
        return [this.#cells(grid, twice, from, to, ['sum'])]
      case 'STDDEV':
      case 'VAR':
        return [this.#cells(grid, twice, from, to, MOMENTS)]
      default:
        return never(op)
    }
  }

  #cells(grid: string, windows: number, from: Instant, to: Instant, names: readonly AggregateName[]): Ask {
    return { kind: 'aggregates', grid: `${grid} cells`, windows, from, to, names, inside: true }
  }
}

const COUNTS = { COUNT: 'count', NUMGOOD: 'numGood', NUMBAD: 'numBad' } as const
const MOMENTS = ['numGood', 'avg', 'variance'] as const

/** The value at the start of the window with this index. */
function atTime(firstValues: Float64Array, grid: SlidingGrid, index: number): number {
  return firstValues[lowerBound(grid.distinctStarts, grid.starts[index]!)]!
}

/** A range that has one instant, and another after which nothing is asked. */
function pointRange(from: Instant, at: Instant): Pick<PieceRange, 'from' | 'to' | 'order' | 'extent'> {
  const to = instantFromUs(Math.max(Math.min(at + 1, END_INSTANT), MIN_INSTANT))
  return { from, to, order: 'asc', extent: 'all' }
}
